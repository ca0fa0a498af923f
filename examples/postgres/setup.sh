#!/bin/sh
# setup.sh: a cluster with one table of sixty rows on two pages. Small WAL segments keep it small.
. "$(dirname "$0")/env.sh"
mkdir data && chown postgres: data && chmod 700 data || leave 3
$unprivileged "$bin/initdb" -N -A trust -U postgres --wal-segsize=1 -D data >"$PGHOST/log" 2>&1 ||
  { cat "$PGHOST/log" >&2 && leave 3; }
serve || { cat "$PGHOST/log" >&2 && leave 3; }
sql "CREATE TABLE entries (id int PRIMARY KEY, version int, body text);
  INSERT INTO entries SELECT n, 0, repeat('x', 200) FROM generate_series(1, 60) AS n" || leave 3
stop INT
leave 0
