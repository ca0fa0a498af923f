#!/bin/bash -eu
# Fills $OUT as OSS-Fuzz and ClusterFuzzLite want it: for each target a program, a zip of seeds, a dictionary and options.
# One binary has all targets: each program is a copy of it, which finds its target by its own name, or by FUZZ_TARGET.
#   $SRC        the folder above the repository, unless the current folder is the repository
#   $OUT        where the results go
#   $SANITIZER  address, or none
#   FUZZ_BIN, FUZZ_TOOL   programs that are built already: one with libFuzzer, and the command `fuzz`; for tests
#   FUZZ_WITHOUT_LAB      set: the targets of engine, query language, Fleece and synchronization only (the default); empty: the lab's, too
root=$(cd "$(dirname "$0")" && pwd)
[ -f "$root/Package.swift" ] || root=${SRC:+$SRC/faultline}
[ -n "$root" ] && [ -f "$root/Package.swift" ] || root=$(pwd)
[ -f "$root/Package.swift" ] || { echo "no Package.swift in $root: run this in the repository" >&2; exit 2; }
: "${OUT:?set OUT to the folder for the results}"
export FUZZ_WITHOUT_LAB=${FUZZ_WITHOUT_LAB-1}
[ -n "$FUZZ_WITHOUT_LAB" ] || unset FUZZ_WITHOUT_LAB
sanitize=fuzzer
[ "${SANITIZER:-address}" = none ] || sanitize=fuzzer,${SANITIZER:-address}
cd "$root"
if [ -z "${FUZZ_BIN:-}" ]; then
  swift build -c release --scratch-path .build-fuzz --product fuzz --sanitize=fuzzer \
    --static-swift-stdlib -Xswiftc -sanitize="$sanitize" -Xswiftc -DFUZZING
  FUZZ_BIN=.build-fuzz/release/fuzz
fi
if [ -z "${FUZZ_TOOL:-}" ]; then
  swift build -c release --product fuzz
  FUZZ_TOOL=$(swift build -c release --show-bin-path)/fuzz
fi
mkdir -p "$OUT"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$FUZZ_TOOL" --list | cut -f1 > "$work/targets"
while read -r target; do
  case $target in canary | canary-trap | magic) continue ;; esac
  name=fuzz_$(printf %s "$target" | tr - _)
  # libFuzzer's program finds its target by FUZZ_TARGET, or else by its own name.
  cp "$FUZZ_BIN" "$OUT/$name"
  mkdir -p "$work/$target"
  for number in 0 1 2; do
    "$FUZZ_TOOL" "$target" --seed "$number" --keep "$work/$target/number-$number"
  done
  pack=Tests/FuzzTests/Corpora/$target.pack
  if [ -f "$pack" ]; then "$FUZZ_TOOL" unpack "$pack" "$work/$target" > "$work/unpacked"; fi
  if [ -d "Tests/FuzzTests/Corpora/$target" ]; then cp "Tests/FuzzTests/Corpora/$target"/* "$work/$target/"; fi
  (cd "$work/$target" && zip -q -r - .) > "$OUT/${name}_seed_corpus.zip"
  "$FUZZ_TOOL" dictionary "$target" > "$OUT/$name.dict"
  [ -s "$OUT/$name.dict" ] || rm "$OUT/$name.dict"
  size=4096
  case $target in
    data-file) size=524288 ;;
    file | trace) size=262144 ;;
    query-answers) size=512 ;;
    sync-merge | mixed-collections) size=256 ;;
    document-query-drawn) size=64 ;;
  esac
  {
    echo "[libfuzzer]"
    echo "max_len = $size"
    echo "rss_limit_mb = 1024"
    echo "malloc_limit_mb = 512"
    echo "timeout = 25"
    [ ! -f "$OUT/$name.dict" ] || echo "dict = $name.dict"
    echo "[env]"
    echo "FUZZ_TARGET = $target"
    echo "SWIFT_BACKTRACE = enable=no"
  } > "$OUT/$name.options"
done < "$work/targets"
echo "$(wc -l < "$work/targets") targets listed, $(ls "$OUT" | grep -c '\.options$') programs in $OUT"
