#!/bin/sh
# screenshots.sh FAULTLINE DIR: pictures of two reports in DIR, light, dark and 400 pixels wide, for
# people to look at after a change of the page. Needs /dev/fuse, sqlite3 and chromium.
set -eu
faultline=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

# The first has findings (exit code 1), the second none.
"$faultline" explore --setup "sh $root/examples/sqlite/setup.sh DELETE" \
  --workload "sh $root/examples/sqlite/workload.sh DELETE OFF 3" \
  --check "sh $root/examples/sqlite/check.sh" --budget 600 --html "$work/findings.html" >/dev/null || [ $? = 1 ]
(cd "$root" && "$faultline" run scenarios/negative scenarios/durability/commits.yaml --budget 200 \
  --html "$work/scenarios.html" >/dev/null)

# shot NAME URL SCHEME WIDTH,HEIGHT; the scheme is 0 for dark and 1 for light.
shot() {
  chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run --user-data-dir="$work/profile" \
    --blink-settings=preferredColorScheme="$3" --window-size="$4" --screenshot="$out/$1.png" "$2" 2>/dev/null
  [ -s "$out/$1.png" ] && echo "$out/$1.png"
}
for page in findings scenarios; do
  shot "$page-light" "file://$work/$page.html" 1 1280,1400
  shot "$page-dark" "file://$work/$page.html" 0 1280,1400
  # A window has a least width, a frame has none.
  printf '<!DOCTYPE html><body style="margin:0"><iframe src="%s.html" style="%s"></iframe>' \
    "$page" 'width:400px;height:2600px;border:0' >"$work/narrow.html"
  shot "$page-narrow" "file://$work/narrow.html" 1 500,2600
done
