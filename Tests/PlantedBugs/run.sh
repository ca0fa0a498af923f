#!/bin/sh
# Each patch in this folder plants one bug in the engine. For each: a clone of the repository with the bug in it is
# built, the scenario named in the patch is run, and it must find the bug by the oracle that the patch names. A patch
# with `stress:` in place of `scenario:` names arguments of `faultline stress`, for bugs that only show when processes
# and threads work at the same time; one with `options:` adds options to the run of its scenario. Each line says how many crash states were checked, and how long that took, in the
# debug build.
# One with `fuzz: TARGET` is to be found by that fuzz target, from numbers and without a corpus, in ten minutes.
# Usage: sh Tests/PlantedBugs/run.sh [--here] [NAME…]      (make planted-bugs; all of them: minutes)
# --here plants the bugs in this tree and takes them out again, and saves the build of a clone; for CI.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
tree=$root
trap 'git -C "$tree" checkout -q Sources/Engine Sources/Query; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
if [ "${1:-}" = --here ]; then
  shift
  [ -z "$(git -C "$root" status --porcelain -- Sources/Engine Sources/Query)" ] || {
    trap 'rm -rf "$work"' EXIT
    echo "Sources/Engine or Sources/Query has changes, which --here would lose: commit them, or leave --here out" >&2
    exit 2
  }
else
  tree=$work/tree
  git clone -q "$root" "$tree"
fi
cd "$tree"
[ $# -gt 0 ] || set -- $(ls "$here" | sed -n 's/\.patch$//p')
missed=0
for name; do
  patch="$here/$name.patch"
  scenario=$(sed -n 's/^scenario: //p' "$patch")
  stress=$(sed -n 's/^stress: //p' "$patch")
  options=$(sed -n 's/^options: //p' "$patch")
  oracle=$(sed -n 's/^expect: //p' "$patch")
  target=$(sed -n 's/^fuzz: //p' "$patch")
  products="faultline faultline-fs"
  [ -z "$target" ] || products=fuzz
  if ! (git apply "$patch" && for product in $products; do swift build -q --product $product || exit 1; done) \
    > "$work/output" 2>&1; then
    echo "BROKEN  $name: it does not apply, or does not build with the bug in it"
    tail -n 20 "$work/output"
    git checkout -q Sources/Engine Sources/Query
    missed=$((missed + 1))
    continue
  fi
  status=0
  if [ -n "$target" ]; then
    timeout 600 "$(swift build --show-bin-path)/fuzz" run "$target" --count 10000000 > "$work/output" 2>&1 || status=$?
    scenario="fuzz $target, $(sed -n 's/.*FINDING \(at seed [0-9]*\).*/\1/p; s/^trap at [a-z-]* \(seed [0-9]*\)$/at \1/p' "$work/output" | head -n 1)"
  elif [ -n "$stress" ]; then
    # Arguments are words without quotes.
    "$(swift build --show-bin-path)/faultline" stress $stress --fail-fast --no-thinning > "$work/output" 2>&1 || status=$?
  else
    "$(swift build --show-bin-path)/faultline" run "$scenario" --budget 2000 $options > "$work/output" 2>&1 || status=$?
  fi
  git checkout -q Sources/Engine Sources/Query
  if [ "$status" = 1 ] && grep -q "$oracle" "$work/output"; then
    cost=$(sed -n 's/^checked \(.*\) crash states of .* in \(.* s\) .*/\1 states in \2/p' "$work/output")
    schedules=$(sed -n 's/^ *schedule .*: \([0-9,]* schedules*\) of .*/, \1/p' "$work/output")
    echo "found   $name ($oracle, ${scenario:-stress $stress}, $cost$schedules)"
  else
    echo "MISSED  $name: exit status $status, expected 1 and '$oracle'"
    tail -n 20 "$work/output"
    missed=$((missed + 1))
  fi
done
echo "$missed of $# planted bugs missed"
[ "$missed" = 0 ]
