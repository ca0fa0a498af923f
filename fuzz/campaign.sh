#!/bin/bash
# Runs every target under libFuzzer, one after the other, and says what that was in a table; figures of all runs are kept in
# fuzz/work/campaign.tsv, and the table sums them up. Corpora go on in fuzz/work/TARGET, from the kept ones at first. The planted
# targets start from nothing, have a minute at least, and must fall; a finding of another one is kept, and the campaign goes on.
# Usage: bash fuzz/campaign.sh SECONDS [TARGET…]   each target for so many seconds (make fuzz-campaign FOR=60 builds first)
#        bash fuzz/campaign.sh --table             the table again
# Exit status: 0 the planted bugs were found and nothing else, 1 otherwise, 2 wrong arguments or programs that lack.
set -u
cd "$(dirname "$0")/.." || exit 2
work=fuzz/work
figures=$work/campaign.tsv

table() {
  echo "| target | processor s | executions | executions/s | edges | features | inputs | KiB | findings |"
  echo "|---|---|---|---|---|---|---|---|---|"
  awk -F '\t' '
    !($1 in cpu) { order[++count] = $1 }
    { cpu[$1] += $2; runs[$1] += $3; edges[$1] = $4; features[$1] = $5; inputs[$1] = $6; size[$1] = $7; found[$1] += $8 }
    function row(name, s, n, e, f, i, k, x) {
      printf "| %s | %.0f | %d | %d | %s | %s | %s | %s | %d |\n", name, s, n, (s > 0 ? n / s : 0), e, f, i, k, x
    }
    END {
      for (i = 1; i <= count; i++) {
        t = order[i]
        row("`" t "`", cpu[t], runs[t], edges[t], features[t], inputs[t], size[t], found[t])
        all += cpu[t]; allRuns += runs[t]; allFound += found[t]
      }
      row("all", all, allRuns, "", "", "", "", allFound)
    }' "$figures"
}

if [ "${1:-}" = --table ]; then
  [ -f "$figures" ] || { echo "no $figures: run a campaign first" >&2; exit 2; }
  table
  exit 0
fi
case ${1:-} in
  '' | *[!0-9]*) sed -n 's/^# \(Usage.*\)/\1/p; s/^#  *\(bash fuzz.*\)/       \1/p' "$0" >&2; exit 2 ;;
esac
seconds=$1
shift
tool=$(swift build --show-bin-path)/fuzz
for program in .build-fuzz/fuzz-small .build-fuzz/fuzz-whole "$tool"; do
  [ -x "$program" ] || { echo "no $program: make fuzz-campaign builds it" >&2; exit 2; }
done
[ $# -gt 0 ] || set -- $("$tool" --list | cut -f1 | tac)
status=0

# The kept inputs, when a corpus begins.
begin() {
  local kept=Tests/FuzzTests/Corpora/$1
  [ ! -d "$work/$1" ] || return 0
  mkdir -p "$work/$1"
  [ ! -f "$kept.pack" ] || "$tool" unpack "$kept.pack" "$work/$1" > /dev/null
  [ ! -d "$kept" ] || cp "$kept"/* "$work/$1"
}

artifacts() { find "$work" -maxdepth 1 -name "$1-crash-*" -o -maxdepth 1 -name "$1-oom-*" -o -maxdepth 1 -name "$1-timeout-*" | wc -l; }

for target; do
  planted= time=$seconds
  case $target in
    canary | canary-trap | magic)
      planted=1 time=$((seconds > 60 ? seconds : 60))
      rm -rf "${work:?}/$target" "$work/$target"-crash-*
      mkdir -p "$work/$target"
      ;;
  esac
  mkdir -p "$work"
  begin "$target"
  "$tool" dictionary "$target" > "$work/$target.dict" || exit 2
  before=$(artifacts "$target")
  log=$work/$target.log
  # A busy machine gives such a process little of a core: what hangs is said by processor time, in the program.
  TIMEFORMAT='%3U %3S'
  { time bash fuzz/libfuzzer.sh "$target" -timeout=300 -report_slow_units=300 -max_total_time="$time" -print_final_stats=1 \
    -artifact_prefix="$work/$target-" "$work/$target" > "$log" 2>&1; } 2> "$work/$target.time"
  found=$(($(artifacts "$target") - before))
  runs=$(sed -n 's/^stat::number_of_executed_units: //p' "$log" | tail -n 1)
  if [ -z "$runs" ]; then
    echo "$target: it did not run to its end; the last lines of $log:" >&2
    tail -n 3 "$log" >&2
    status=1
    continue
  fi
  awk -v target="$target" -v runs="$runs" -v inputs="$(find "$work/$target" -type f | wc -l)" \
    -v kib="$(du -k --apparent-size -s "$work/$target" | cut -f1)" -v found="$found" -v times="$(tail -n 1 "$work/$target.time")" '
    { for (i = 1; i < NF; i++) { if ($i == "cov:") cov = $(i + 1); if ($i == "ft:") features = $(i + 1) } }
    END {
      split(times, part, " ")
      printf "%s\t%.1f\t%d\t%d\t%d\t%d\t%d\t%d\n", target, part[1] + part[2], runs, cov, features, inputs, kib, found
    }' "$log" >> "$figures"
  tail -n 1 "$figures"
  if [ -n "$planted" ] && [ "$found" = 0 ]; then
    echo "$target: its planted bug was not found in $time s: this campaign finds nothing" >&2
    status=1
  elif [ -z "$planted" ] && [ "$found" != 0 ]; then
    echo "$target: $found new in $work/$target-*; faultline fuzz replay FILE shows one" >&2
    status=1
  fi
done
table
exit $status
