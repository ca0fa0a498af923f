#!/bin/sh
# workload.sh [COMMITS]: changes one file, adds one, commits; acknowledges when git commit returned.
set -eu
. "$(dirname "$0")/env.sh"

n=1
while [ "$n" -le "${1:-3}" ]; do
  echo "line $n" >>notes.txt
  echo "file $n" >"file$n.txt"
  git add notes.txt "file$n.txt"
  git commit -q -m "change $n"
  echo "$n" # the acknowledgement: one write to standard output
  n=$((n + 1))
done
