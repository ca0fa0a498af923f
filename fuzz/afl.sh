#!/bin/bash
# AFL++ on one target; `make fuzz-afl TARGET=… FOR=…` has built the programs. It begins with the kept inputs and goes on in
# fuzz/work/afl/TARGET; findings are copied to fuzz/work/TARGET-crash-… (or -timeout-), which `faultline fuzz replay` takes.
# The planted targets begin with one byte each time, end with their first finding, and must have one.
# Usage: bash fuzz/afl.sh TARGET SECONDS
# Exit status: 0 nothing found, or what was planted; 1 otherwise; 2 wrong arguments, or programs that lack.
set -u
cd "$(dirname "$0")/.." || exit 2
case ${2:-} in '' | *[!0-9]*) sed -n 's/^# \(Usage.*\)/\1/p' "$0" >&2; exit 2 ;; esac
target=$1 seconds=$2
size=4096
case $target in file | trace) size=262144 ;; query-answers) size=512 ;; esac
tool=$(swift build --show-bin-path)/fuzz
mutators=.build-afl-mutators/release/libfuzz-mutators.so
for file in .build-afl/release/fuzz "$tool" "$mutators"; do
  [ -x "$file" ] || { echo "no $file: make fuzz-afl TARGET=$target builds it" >&2; exit 2; }
done
command -v afl-fuzz > /dev/null || { echo "no afl-fuzz: apt-get install afl++" >&2; exit 2; }
"$tool" --list | cut -f1 | grep -qxF -- "$target" || { echo "no target $target: fuzz --list names them" >&2; exit 2; }

out=fuzz/work/afl/$target seeds=fuzz/work/afl/$target-seeds
kept=Tests/FuzzTests/Corpora/$target planted=
case $target in
  canary-trap) echo "canary-trap: AFL++'s driver begins with an input of its own, which that trap takes" >&2; exit 2 ;;
  canary | magic)
    planted=1
    export AFL_BENCH_UNTIL_CRASH=1
    rm -rf "${out:?}"
    ;;
esac
rm -rf "${seeds:?}" && mkdir -p "$out" "$seeds"
if [ -z "$planted" ]; then
  [ ! -f "$kept.pack" ] || "$tool" unpack "$kept.pack" "$seeds" > /dev/null
  [ ! -d "$kept" ] || cp "$kept"/* "$seeds"
  find "$seeds" -type f \( -empty -o -size +"$size"c \) -delete
fi
[ -n "$(ls "$seeds")" ] || printf '\0' > "$seeds/zero"
set --
words=fuzz/work/afl/$target.dict
"$tool" dictionary "$target" > "$words" || exit 2
[ ! -s "$words" ] || set -- -x "$words"

export FUZZ_TARGET=$target SWIFT_BACKTRACE=enable=no
export ASAN_OPTIONS=abort_on_error=1:symbolize=0:detect_leaks=0:quarantine_size_mb=16:max_allocation_size_mb=512
export AFL_SKIP_CPUFREQ=1 AFL_NO_AFFINITY=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 AFL_AUTORESUME=1
export AFL_CUSTOM_MUTATOR_LIBRARY=$PWD/$mutators
# An input may take long on a busy machine: what is slow is said by processor time, in the program.
afl-fuzz -i "$seeds" -o "$out" -m none -c 0 -t 25000 -G "$size" -V "$seconds" "$@" \
  -- ".build-afl/release/fuzz" > "fuzz/work/afl/$target.log" 2>&1
status=$?
# A stopped child of its second server may be left.
for process in $(pgrep -x "fuzz"); do
  ! grep -zqxF "__AFL_OUT_DIR=$out/default" "/proc/$process/environ" 2> /dev/null || kill -9 "$process"
done
stats=$out/default/fuzzer_stats
if [ ! -f "$stats" ]; then
  echo "$target: afl-fuzz ended with $status; the last lines of fuzz/work/afl/$target.log:" >&2
  tail -n 12 "fuzz/work/afl/$target.log" >&2
  exit 2
fi
value() { sed -n "s/^$1 *: //p" "$stats"; }
echo "$target: $(value run_time) s, $(value execs_done) executions, $(value execs_per_sec)/s, $(value edges_found) edges," \
  "$(value corpus_count) inputs, $(value saved_crashes) crashes, $(value saved_hangs) hangs"

found=0
for file in "$out"/default/crashes/id:* "$out"/default/hangs/id:*; do
  [ -f "$file" ] || continue
  case $file in */hangs/*) kind=timeout ;; *) kind=crash ;; esac
  copy=fuzz/work/$target-$kind-$(sha1sum "$file" | cut -c1-40)
  [ -f "$copy" ] || cp "$file" "$copy"
  echo "$copy"
  found=$((found + 1))
done
if [ -n "$planted" ]; then
  [ "$found" != 0 ] || { echo "$target: its planted bug was not found" >&2; exit 1; }
  exit 0
fi
[ "$found" = 0 ]
