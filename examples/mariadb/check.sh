#!/bin/sh
# check.sh: does the server recover, is the table sound, is every commit there whole, and every acknowledged
# one?
. "$(dirname "$0")/env.sh"
broken() { # FIRST-LINE: names the broken promise and groups the findings; the server's words follow
  echo "$1"
  grep -a 'ERROR' "$run/log" | head -n 5
  leave 1
}
serve || broken 'corruption: the server does not start'
case $(sql 'CHECK TABLE entries EXTENDED' 2>&1) in *OK) ;; *) broken 'corruption: CHECK TABLE found damage' ;; esac
rows=$(sql "SELECT concat(id % 6 + 1, '|', version, '|', count(*)) FROM entries FORCE INDEX (PRIMARY)
  WHERE length(body) = 200 GROUP BY id % 6, version ORDER BY 1" 2>&1) || broken 'corruption: the table cannot be read'
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
