#!/bin/sh
# Which lines of the lexer and parser, the evaluator, and the format the kept corpora reach: all inputs of
# Tests/FuzzTests/Corpora are replayed in a build of its own with counters.
# Usage: sh fuzz/coverage.sh [FOLDER]      (make fuzz-coverage; FOLDER, fuzz/work/coverage by default, gets the HTML)
set -eu
cd "$(dirname "$0")/.."
# The tools of the toolchain that compiles, and not others of another version.
PATH=$(dirname "$(readlink -f "$(command -v swift)")"):$PATH
out=${1:-fuzz/work/coverage}
mkdir -p "$out"
FUZZ_WITHOUT_LAB=1 swift build --scratch-path .build-fuzz-coverage --product fuzz \
  -Xswiftc -profile-coverage-mapping -Xswiftc -profile-generate
fuzz=$(swift build --scratch-path .build-fuzz-coverage --show-bin-path)/fuzz
rm -f "$out"/*.profraw
for target in $(LLVM_PROFILE_FILE=/dev/null "$fuzz" --list | cut -f1); do
  for path in Tests/FuzzTests/Corpora/$target Tests/FuzzTests/Corpora/$target.pack; do
    [ ! -e "$path" ] || LLVM_PROFILE_FILE="$out/$target-%p.profraw" "$fuzz" "$target" "$path" > "$out/replay.log" || true
  done
done
llvm-profdata merge -sparse "$out"/*.profraw -o "$out/all.profdata"
llvm-cov show "$fuzz" -instr-profile="$out/all.profdata" -format=html -output-dir="$out" Sources/Engine Sources/Query Sources/Fleece \
  Sources/SyncCore
share() {
  name=$1; shift
  llvm-cov export "$fuzz" -instr-profile="$out/all.profdata" -summary-only "$@" |
    sed 's/.*"totals"://; s/.*"lines":{"count":\([0-9]*\),"covered":\([0-9]*\).*/\1 \2/' |
    awk -v name="$name" '{ printf "%-34s %6d of %6d lines  %5.1f %%\n", name, $2, $1, 100 * $2 / $1 }'
}
share "lexer and parser" Sources/Query/Lexer Sources/Query/Parser
share "syntax (printer)" Sources/Query/Syntax
share "binder" Sources/Query/Binder
share "evaluator and planner" Sources/Query/Evaluator Sources/Query/Planner
share "Fleece" Sources/Fleece
share "synchronization" Sources/SyncCore
share "format" Sources/Engine/Bytes Sources/Engine/Format
share "verify and recovery" $(ls Sources/Engine/*/Verif*.swift Sources/Engine/*/Recovery*.swift)
share "tables and trees" Sources/Engine/Nodes Sources/Engine/Tree Sources/Engine/Tables Sources/Engine/Reading
