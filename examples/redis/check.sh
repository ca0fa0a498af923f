#!/bin/sh
# check.sh [repair]: does a server start on what is left, and does it have every acknowledged key?
#
# With `repair`, `redis-check-aof --fix` cuts off first what it takes for damage, as Redis's manual
# says to do when the server refuses its file.
. "$(dirname "$0")/env.sh"
broken() { # FIRST-LINE FILE: the first line names the broken promise and groups the findings
  echo "$1"
  cat "$2"
  leave 1
}
if [ "${1:-}" = repair ]; then
  for manifest in appendonlydir/*.manifest; do
    echo y | redis-check-aof --fix "$manifest" >"$sockets/log" 2>&1 ||
      broken 'corruption: redis-check-aof cannot repair the file' "$sockets/log"
  done
fi
serve always || broken 'corruption: the server does not start' "$sockets/log"
[ "$(ask get seed)" = 0 ] || broken 'lost: a key from before the workload' /dev/null
acked=0
while read -r n; do acked=$n; done <"${FAULTLINE_OUTPUT:?}"
n=1
while [ "$n" -le 12 ]; do
  value=$(ask get "key$n")
  case $value in
  "value $n") [ "$n" -le $((acked + 1)) ] || broken 'extra: a key that nobody had set' /dev/null ;;
  '') [ "$n" -gt "$acked" ] || broken 'lost: an acknowledged key' /dev/null ;;
  *) broken 'wrong: a key has a value that nobody gave it' /dev/null ;;
  esac
  n=$((n + 1))
done
leave 0
