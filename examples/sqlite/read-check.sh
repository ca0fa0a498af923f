#!/bin/sh
# read-check.sh: for faults of the medium (explore --media): are all 20 rows read as they were
# written, or does SQLite say that it cannot? It asks as an application would, without
# integrity_check.
cd "${FAULTLINE_DIR:-.}" || exit 3
[ -s "${FAULTLINE_OUTPUT:?}" ] || exit 0

rows=$(sqlite3 -init /dev/null -batch -bail 'file:test.db?mode=rw' "
  SELECT count(*), sum(body = printf('%03d:', id) || hex(zeroblob(300)))
    FROM entries NOT INDEXED;" 2>&1) || exit "${FAULTLINE_DETECTED:-1}"
[ "$rows" = '20|20' ] || {
  printf '%s\n' 'wrong rows, and no error' "count and right ones: $rows"
  exit 1
}
