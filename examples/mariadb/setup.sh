#!/bin/sh
# setup.sh: an InnoDB table of sixty rows.
. "$(dirname "$0")/env.sh"
mkdir -p data/lab || leave 3
serve || { cat "$run/log" >&2 && leave 3; }
sql "CREATE TABLE entries (id int PRIMARY KEY, version int, body varchar(300), KEY (version))
    ENGINE=InnoDB STATS_PERSISTENT=0;
  INSERT INTO entries WITH RECURSIVE s AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM s WHERE n < 60)
    SELECT n, 0, repeat('x', 200) FROM s" || leave 3
stop TERM
leave 0
