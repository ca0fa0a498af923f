#!/bin/sh
# Each patch in this folder plants one bug in the engine. For each: a clone of the repository with the bug in it is
# built, the scenario named in the patch is run, and it must find the bug by the oracle that the patch names.
# Usage: sh Tests/PlantedBugs/run.sh [NAME…]      (make planted-bugs; some minutes a bug)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
clone=$(mktemp -d)
trap 'rm -rf "$clone"' EXIT INT TERM
git clone -q "$root" "$clone/tree"
cd "$clone/tree"
[ $# -gt 0 ] || set -- $(ls "$here" | sed -n 's/\.patch$//p')
missed=0
for name; do
  patch="$here/$name.patch"
  scenario=$(sed -n 's/^scenario: //p' "$patch")
  oracle=$(sed -n 's/^expect: //p' "$patch")
  if ! { git apply "$patch" && swift build -q --product faultline && swift build -q --product faultline-fs; } > "$clone/output" 2>&1; then
    echo "BROKEN  $name: it does not apply, or does not build with the bug in it"
    tail -n 20 "$clone/output"
    git checkout -q .
    missed=$((missed + 1))
    continue
  fi
  status=0
  "$(swift build --show-bin-path)/faultline" run "$scenario" --budget 2000 > "$clone/output" 2>&1 || status=$?
  git checkout -q .
  if [ "$status" = 1 ] && grep -q "$oracle" "$clone/output"; then
    echo "found   $name ($oracle)"
  else
    echo "MISSED  $name: exit status $status, expected 1 and '$oracle'"
    tail -n 20 "$clone/output"
    missed=$((missed + 1))
  fi
done
echo "$missed of $# planted bugs missed"
[ "$missed" = 0 ]
