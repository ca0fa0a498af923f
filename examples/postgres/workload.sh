#!/bin/sh
# workload.sh [SETTING...]: six commits, each of which changes ten rows; acknowledges each when psql
# has returned. SETTINGs are as in postgresql.conf: fsync=off, full_page_writes=off.
. "$(dirname "$0")/env.sh"
options=
for setting; do options="$options -c $setting"; done
serve $options || { cat "$PGHOST/log" >&2 && leave 3; }
n=1
while [ "$n" -le 6 ]; do
  sql "UPDATE entries SET version = $n WHERE id % 6 = $n - 1" || leave 3
  echo "$n" # the acknowledgement: one write to standard output
  n=$((n + 1))
done
stop INT
leave 0
