#!/bin/sh
# workload.sh [JOURNAL [SYNCHRONOUS [ROWS]]]: ROWS commits of one row each, in one connection.
#
# Every commit is acknowledged by a line on standard output, after sqlite3_step() has returned and
# before the next statement begins. `.shell` runs a process of its own that writes to the inherited
# standard output and has ended before sqlite3 goes on; it does not matter when sqlite3 flushes its
# own output. `.output /dev/null` keeps the answers of the pragmas out; it does not touch what
# `.shell` inherits.
set -eu
cd "${FAULTLINE_DIR:-.}"
rows=${3:-20}

{
  echo '.output /dev/null'
  echo "PRAGMA journal_mode=${1:-DELETE};"
  echo "PRAGMA synchronous=${2:-FULL};"
  n=1
  while [ "$n" -le "$rows" ]; do
    # About 600 bytes, so that the table and its index grow by a page every few commits.
    echo "INSERT INTO entries VALUES($n, printf('%03d:', $n) || hex(zeroblob(300)));"
    echo ".shell echo $n"
    n=$((n + 1))
  done
} | sqlite3 -init /dev/null -batch -bail test.db
