#!/bin/sh
# check.sh: does the server recover, are all sixty rows there, is every commit there whole, and every
# acknowledged one?
. "$(dirname "$0")/env.sh"
broken() { # FIRST-LINE: names the broken promise and groups the findings; the server's words follow
  echo "$1"
  tail -n 5 "$PGHOST/log"
  leave 1
}
serve || broken 'corruption: the server does not start'
rows=$(sql "SET enable_indexscan = off; SET enable_bitmapscan = off;
  SELECT id % 6 + 1, version, count(*) FROM entries WHERE length(body) = 200 GROUP BY 1, 2 ORDER BY 1, 2" 2>&1) ||
  broken 'corruption: the table cannot be read'
found=$(sql "SET enable_seqscan = off; SELECT count(*) FROM generate_series(1, 60) AS n
  JOIN entries ON id = n" 2>&1) || broken 'corruption: the index cannot be read'
[ "$found" = 60 ] || broken 'corruption: the index lacks rows'
acked=0
while read -r n; do acked=$n; done <"${FAULTLINE_OUTPUT:?}"
n=1
for row in $rows; do
  case $row in
  "$n|$n|10") [ "$n" -le $((acked + 1)) ] || broken 'extra: a commit that had not begun' ;;
  "$n|0|10") [ "$n" -gt "$acked" ] || broken 'lost: an acknowledged commit' ;;
  *) broken 'corruption: rows are missing, doubled, or of half a commit' ;;
  esac
  n=$((n + 1))
done
[ "$n" -eq 7 ] || broken 'corruption: rows are missing, doubled, or of half a commit'
leave 0
