#!/bin/sh
# workload.sh [FSYNC]: sets twelve keys; acknowledges each when the server has answered OK. FSYNC is
# appendfsync: always (default), everysec or no.
. "$(dirname "$0")/env.sh"
serve "${1:-always}" || { cat "$sockets/log" >&2 && leave 3; }
n=1
while [ "$n" -le 12 ]; do
  [ "$(ask set "key$n" "value $n")" = OK ] || leave 3
  echo "$n" # the acknowledgement: one write to standard output
  n=$((n + 1))
done
ask shutdown nosave
wait "$server"
leave 0
