#!/bin/sh
# Each patch in this folder plants one bug. For each, a clone of the repository with the bug in it is built, and what the
# patch names in its first line must find the bug, with the words that it expects (`expect:`) in the output:
#   scenario: FILE    `faultline run` on it; `options:` adds to that
#   stress: ARGS      `faultline stress`, for bugs that only show when processes and threads work at the same time
#   test: FILTER      `swift test`, for bugs that no crash shows: a target, and maybe one of its suites (`EngineTests.LockFileTests`);
#                     `expect:` is the name of a test that fails
#   fuzz: TARGET      the fuzz target, from numbers and without a corpus, within ten minutes
# Each line says how many crash states were checked, and how long that took, in the debug build.
# Tests whose process dies with the bug in it have named no test that fails, so the bug is missed: a reader has to see whether that
# death is the bug. The line says how they died, and whether they come to their end without the bug.
# Usage: sh Tests/PlantedBugs/run.sh [--here] [NAME…]      (make planted-bugs; all of them: minutes)
# --here plants the bugs in this tree and takes them out again, and saves the build of a clone; for CI.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
tree=$root
trap 'git -C "$tree" checkout -q Sources; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
if [ "${1:-}" = --here ]; then
  shift
  [ -z "$(git -C "$root" status --porcelain -- Sources)" ] || {
    trap 'rm -rf "$work"' EXIT
    echo "Sources has changes, which --here would lose: commit them, or leave --here out" >&2
    exit 2
  }
else
  tree=$work/tree
  git clone -q "$root" "$tree"
fi
cd "$tree"

# How tests died whose output this is; nothing where they came to their end.
death() {
  ! grep -aqE 'Test run with .* (passed|failed) after' "$1" || return 0
  cause=$(grep -ao 'Fatal error: .*' "$1" | head -n 1)
  [ -n "$cause" ] || cause=$(grep -aoE 'exited with .*signal.*' "$1" | head -n 1)
  last=$(awk '
    / Test run started\.$/ { next }
    match($0, / Test .* started\.$/) { name = substr($0, RSTART + 6, RLENGTH - 15); begun[name] = NR; next }
    / (passed|failed) after / { for (name in begun) if (index($0, "Test " name " ")) delete begun[name] }
    END { for (name in begun) if (begun[name] > at) { at = begun[name]; last = name }; print last }' "$1")
  echo "the test process died: ${cause:-no cause is named}; the last test that had begun: ${last:-none}"
}

[ $# -gt 0 ] || set -- $(ls "$here" | sed -n 's/\.patch$//p')
missed=0
for name; do
  patch="$here/$name.patch"
  scenario=$(sed -n 's/^scenario: //p' "$patch")
  options=$(sed -n 's/^options: //p' "$patch")
  stress=$(sed -n 's/^stress: //p' "$patch")
  filter=$(sed -n 's/^test: //p' "$patch")
  target=$(sed -n 's/^fuzz: //p' "$patch")
  oracle=$(sed -n 's/^expect: //p' "$patch")
  products="--product=faultline --product=faultline-fs"
  [ -z "$target" ] || products=--product=fuzz
  [ -z "$filter" ] || products=--build-tests
  if ! (git apply "$patch" && for product in $products; do swift build -q $product || exit 1; done) \
    > "$work/output" 2>&1; then
    echo "BROKEN  $name: it does not apply, or does not build with the bug in it"
    tail -n 20 "$work/output"
    git checkout -q Sources
    missed=$((missed + 1))
    continue
  fi
  status=0
  why=
  built=$(swift build --show-bin-path)
  how=$scenario
  # Options and arguments are words without quotes.
  if [ -n "$filter" ]; then
    how="test $filter"
    swift test --skip-build --filter "$filter" > "$work/output" 2>&1 || status=$?
    # A test that fails is named on a line of its own; one that passes does not count.
    if ! grep -aq "Test \"$oracle\".* failed after" "$work/output"; then
      why="exit status $status, and no test '$oracle' that failed"
      died=$(death "$work/output")
      if [ -n "$died" ]; then
        git checkout -q Sources
        { swift build -q --build-tests && swift test --skip-build --filter "$filter"; } > "$work/without" 2>&1 || :
        without=$(death "$work/without")
        why="$died; without the bug ${without:-the tests come to their end}"
      fi
    fi
  elif [ -n "$target" ]; then
    timeout 600 "$built/fuzz" run "$target" --count 10000000 > "$work/output" 2>&1 || status=$?
    how="fuzz $target, $(sed -n 's/.*FINDING \(at seed [0-9]*\).*/\1/p; s/^trap at [a-z-]* \(seed [0-9]*\)$/at \1/p' "$work/output" | head -n 1)"
  elif [ -n "$stress" ]; then
    how="stress $stress"
    "$built/faultline" stress $stress --fail-fast --no-thinning > "$work/output" 2>&1 || status=$?
  else
    "$built/faultline" run "$scenario" --budget 2000 $options > "$work/output" 2>&1 || status=$?
  fi
  git checkout -q Sources
  if [ "$status" = 1 ] && [ -z "$why" ] && grep -q "$oracle" "$work/output"; then
    cost=$(sed -n 's/^checked \(.*\) crash states of .* in \(.* s\) .*/, \1 states in \2/p' "$work/output")
    schedules=$(sed -n 's/^ *schedule .*: \([0-9,]* schedules*\) of .*/, \1/p' "$work/output")
    echo "found   $name ($oracle, $how$cost$schedules)"
  else
    echo "MISSED  $name: ${why:-exit status $status, expected 1 and '$oracle'}"
    tail -n 20 "$work/output"
    missed=$((missed + 1))
  fi
done
echo "$missed of $# planted bugs missed"
[ "$missed" = 0 ]
