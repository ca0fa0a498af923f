#!/bin/bash
# libFuzzer on one target, with its limits; `make fuzz-build TARGET=…` has built the program.
# The dictionary is fuzz/work/TARGET.dict, if it is there.
# Usage: bash fuzz/libfuzzer.sh TARGET [ARGUMENT…]     arguments are libFuzzer's: options, and folders of inputs
set -eu
cd "$(dirname "$0")/.."
target=${1:?a target: fuzz --list names them}
shift
case $target in
  lab | scenario | fault-rules | model | trace | control | token | history | schedule) program=.build-fuzz/fuzz-whole ;;
  revisions | version-vectors | data-file | document-query-*) program=.build-fuzz/fuzz-whole ;;
  *) program=.build-fuzz/fuzz-small ;;
esac
size=4096
case $target in
  data-file) size=524288 ;;
  file | trace) size=262144 ;;
  query-answers) size=512 ;;
  sync-merge | mixed-collections) size=256 ;;
  document-query-drawn) size=64 ;;
esac
export FUZZ_TARGET=$target SWIFT_BACKTRACE=enable=no
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0:quarantine_size_mb=16}
[ -x $program ] || { echo "no $program: make fuzz-build TARGET=$target" >&2; exit 2; }
# libFuzzer refuses an empty dictionary.
[ ! -s "fuzz/work/$target.dict" ] || set -- "-dict=fuzz/work/$target.dict" "$@"
exec $program -max_len=$size -timeout=25 -rss_limit_mb=1024 -malloc_limit_mb=512 "$@"
