#!/bin/sh
# check.sh: is the database sound, and does it hold every acknowledged row and no invented one?
#
# Rows are numbered in the order of their commits, so what survives must be the rows 1..N without a
# hole, where N is the last acknowledged row or the one after it (its commit may have been complete
# when the power went). test.db is opened as any program would open it: a hot journal is rolled back
# and a WAL is replayed. One shell and one sqlite3 per state: this runs thousands of times.
cd "${FAULTLINE_DIR:-.}" || exit 3
acked=0
while read -r n; do acked=$n; done <"${FAULTLINE_OUTPUT:?}" || exit 3

broken() { # FIRST-LINE [DETAIL...]: the first line names the broken promise and groups the findings
  printf '%s\n' "$@"
  echo "acknowledged rows: 1..$acked"
  exit 1
}

# mode=rw: a missing database is an error here, and not the occasion to make an empty one.
answer=$(sqlite3 -init /dev/null -batch -bail 'file:test.db?mode=rw' "
  PRAGMA integrity_check;
  SELECT count(*), ifnull(min(id), 1), ifnull(max(id), 0),
    total(body IS NOT printf('%03d:', id) || hex(zeroblob(300))),
    count(CASE WHEN id BETWEEN 1 AND $acked THEN 1 END)
    FROM entries NOT INDEXED;" 2>&1)
code=$?
[ "$code" -eq 0 ] || broken 'corruption: the database cannot be read' "$answer" "sqlite3 exit $code"
case $answer in
'ok
'*) ;;
*) broken 'corruption: integrity_check found damage' "$answer" ;;
esac

# The last line: count|smallest id|largest id|rows with other contents|acknowledged rows present
IFS='|' read -r count smallest largest changed present <<LINE
${answer#ok?}
LINE
detail="rows in the database: $count, from $smallest to $largest"
[ "$changed" = 0.0 ] || broken 'corruption: a row has other contents than were written' "$detail"
[ "$present" -eq "$acked" ] || broken 'lost: an acknowledged row is missing' "$detail"
[ "$largest" -eq "$count" ] && [ "$smallest" -eq 1 ] ||
  broken 'extra: the rows are not a prefix of the commits' "$detail"
[ "$largest" -le $((acked + 1)) ] ||
  broken 'extra: a row exists whose insert had not begun' "$detail"
