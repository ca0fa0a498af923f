#!/bin/sh
# workload.sh [SETTING...]: six commits, each of which changes ten rows; acknowledges each when the client
# has returned. SETTINGs are options of the server without `--`: innodb-flush-log-at-trx-commit=2.
. "$(dirname "$0")/env.sh"
options=
for setting; do options="$options --$setting"; done
serve $options || { cat "$run/log" >&2 && leave 3; }
n=1
while [ "$n" -le 6 ]; do
  sql "UPDATE entries SET version = $n WHERE id % 6 = $n - 1" || leave 3
  echo "$n" # the acknowledgement: one write to standard output
  n=$((n + 1))
done
stop TERM
leave 0
