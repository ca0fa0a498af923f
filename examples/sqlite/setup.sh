#!/bin/sh
# setup.sh [JOURNAL [SYNCHRONOUS]]: makes test.db with one empty table, in the given journal mode.
# The workload starts from here, and faultline takes all of this as durable. WAL mode is kept in the
# database file; the rollback modes (DELETE, TRUNCATE, PERSIST) belong to a connection, so the
# workload names the mode again.
set -eu
cd "${FAULTLINE_DIR:-.}"

sqlite3 -init /dev/null -batch -bail test.db >/dev/null <<SQL
PRAGMA journal_mode=${1:-DELETE};
PRAGMA synchronous=${2:-FULL};
CREATE TABLE entries(id INTEGER PRIMARY KEY, body TEXT NOT NULL);
-- An index, so that integrity_check can compare two places that hold the same fact.
CREATE INDEX entries_body ON entries(body);
SQL
