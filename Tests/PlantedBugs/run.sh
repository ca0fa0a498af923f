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
# --here plants each bug in an overlay over this tree and its build, which nothing else sees and which is thrown away: only what
# depends on the changed files is built again, and the tree, its build and its file times stay as they are. Needs root.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
mode=clone
case "${1:-}" in
--here)
  shift
  mode=here
  unshare -m true 2> /dev/null || {
    echo "--here needs the right to mount an overlay: run as root, or leave --here out" >&2
    exit 2
  }
  ;;
--overlaid) # One bug, in a mount namespace of its own: --overlaid FOLDER NAME
  mode=overlaid
  ;;
esac
if [ $mode = overlaid ]; then
  work=$2
  shift 2
  # An overlay cannot keep its changes on another overlay, as a container's root is one; memory takes them there.
  options() { echo "lowerdir=$root,upperdir=$work/upper,workdir=$work/overlay"; }
  mkdir -p "$work/upper" "$work/overlay"
  mount -t overlay -o "$(options)" overlay "$root" 2> /dev/null || {
    mount -t tmpfs tmpfs "$work"
    mkdir "$work/upper" "$work/overlay"
    mount -t overlay -o "$(options)" overlay "$root"
  }
  tree=$root
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT TERM
  tree=$work/tree
  [ $mode = here ] || git clone -q "$root" "$tree"
fi

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

# Plants one bug in the present folder, and says whether it was found.
plant() {
  name=$1
  patch="$here/$name.patch"
  scenario=$(sed -n 's/^scenario: //p' "$patch")
  options=$(sed -n 's/^options: //p' "$patch")
  stress=$(sed -n 's/^stress: //p' "$patch")
  filter=$(sed -n 's/^test: //p' "$patch")
  target=$(sed -n 's/^fuzz: //p' "$patch")
  oracle=$(sed -n 's/^expect: //p' "$patch")
  products="--product=faultline --product=faultline-fs"
  [ -z "$target" ] || products=--product=fuzz
  # Those targets are the engine's and the queries'.
  [ -z "$target" ] && unset FUZZ_WITHOUT_LAB || export FUZZ_WITHOUT_LAB=1
  [ -z "$filter" ] || products=--build-tests
  if ! (git apply "$patch" && for product in $products; do swift build -q $product || exit 1; done) \
    > "$work/output" 2>&1; then
    echo "BROKEN  $name: it does not apply, or does not build with the bug in it"
    tail -n 20 "$work/output"
    git checkout -q Sources
    return 1
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
    return 1
  fi
}

if [ $mode = overlaid ]; then
  cd "$tree"
  plant "$1"
  exit
fi
[ $# -gt 0 ] || set -- $(ls "$here" | sed -n 's/\.patch$//p')
missed=0
for name; do
  if [ $mode = here ]; then
    unshare -m sh "$here/run.sh" --overlaid "$work" "$name" || missed=$((missed + 1))
    rm -rf "$work/upper" "$work/overlay"
  else
    cd "$tree"
    plant "$name" || missed=$((missed + 1))
  fi
done
echo "$missed of $# planted bugs missed"
[ "$missed" = 0 ]
