#!/bin/sh
# Which lines of the engine the shipped scenarios execute, by llvm-cov: a table for each file, and
# one page with the counts of each line.
# Usage: coverage.sh OUT [ARGUMENTS OF faultline run]
# Workers are killed all the time, so the counters are in a file that all processes map (%c) and
# share (%m): a process that dies has counted until then.
set -eu
cd "$(dirname "$0")/../.."
out=$1
shift
[ $# -gt 0 ] || set -- scenarios --budget 400
build="swift build --scratch-path .build-coverage -Xswiftc -profile-generate \
  -Xswiftc -profile-coverage-mapping -Xswiftc -Xllvm -Xswiftc -runtime-counter-relocation"
for product in faultline faultline-fs faultline-stacks; do $build --product "$product"; done
bin=$($build --show-bin-path)
# The tools of the compiler, whose format others may not read.
tools=$(dirname "$(readlink -f "$(command -v swiftc)")")
mkdir -p "$out"
rm -f "$out"/*.profraw
status=0
LLVM_PROFILE_FILE="$(cd "$out" && pwd)/engine-%m%c.profraw" "$bin/faultline" run "$@" --coverage \
  > "$out/run.txt" || status=$?
"$tools/llvm-profdata" merge -o "$out/engine.profdata" "$out"/*.profraw
"$tools/llvm-cov" report "$bin/faultline" -instr-profile "$out/engine.profdata" Sources/Engine \
  > "$out/lines.txt"
"$tools/llvm-cov" show "$bin/faultline" -instr-profile "$out/engine.profdata" -format html \
  Sources/Engine > "$out/lines.html"
awk '$1 ~ /\.swift$/ || $1 == "TOTAL" {
  sub(".*/Engine/", "", $1); printf "%-50s %8s lines %8s missed %8s\n", $1, $8, $9, $10 }' "$out/lines.txt"
sed -n '/^steps of the engine/,/^met /p' "$out/run.txt"
echo "every line: $out/lines.html"
exit $status
