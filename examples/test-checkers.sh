#!/bin/sh
# test-checkers.sh: plants damage that each checker must name, on an ordinary directory. A checker
# that has never failed proves nothing. Needs no faultline; run it after changing a check.sh.
set -u
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d) && chmod 711 "$scratch" || exit 1 # PostgreSQL does not run as root
trap 'cd / && rm -rf "$scratch"' EXIT
export FAULTLINE_DIR="$scratch/dir" FAULTLINE_OUTPUT="$scratch/output" failed=0

# plant EXAMPLE EXPECTED DAMAGE [SETUP [WORKLOAD [CHECK]]]: runs the example, damages what it left,
# and compares the checker's first line; "-" expects no finding.
plant() {
  cd / && rm -rf "$FAULTLINE_DIR" && mkdir "$FAULTLINE_DIR" && cd "$FAULTLINE_DIR" || exit 1
  sh "$here/$1/setup.sh" ${4:-} && sh "$here/$1/workload.sh" ${5:-} >"$FAULTLINE_OUTPUT" &&
    eval "$3" || { echo "FAILED to prepare: $1: $3" && failed=$((failed + 1)) && return; }
  line=$(sh "$here/$1/check.sh" ${6:-} | head -n 1)
  case ${line:--} in
  "$2"*) echo "ok      $1: ${line:-no finding}" ;;
  *) echo "FAILED  $1: $3: expected '$2', got '$line'" && failed=$((failed + 1)) ;;
  esac
}
acked() { head -n "$1" "$FAULTLINE_OUTPUT" >"$scratch/x" && mv "$scratch/x" "$FAULTLINE_OUTPUT"; }
sql() { sqlite3 -init /dev/null -batch test.db "$1"; }
git_dir="$FAULTLINE_DIR/.git"

plant sqlite - :
plant sqlite - : WAL 'WAL FULL'
plant sqlite - 'acked 19'
plant sqlite 'extra: a row exists' 'acked 18'
plant sqlite 'lost:' 'sql "DELETE FROM entries WHERE id = 20"'
plant sqlite 'lost:' 'sql "DELETE FROM entries WHERE id = 3"'
plant sqlite 'extra: the rows are not a prefix' 'acked 0; sql "DELETE FROM entries WHERE id = 1"'
plant sqlite 'corruption: a row' 'sql "UPDATE entries SET body = 1 WHERE id = 4"'
plant sqlite 'corruption: the database' 'sql "DROP TABLE entries"'
plant sqlite 'corruption: the database' 'rm test.db'
plant sqlite 'corruption: the database' ': >test.db'
plant sqlite 'corruption: integrity_check' 'sql "PRAGMA writable_schema = ON;
  DELETE FROM sqlite_schema WHERE type = '"'index'"'; UPDATE sqlite_schema SET rootpage = 2"'
plant git - :
plant git - : 'all batch'
plant git 'refs:' ': >"$git_dir/refs/heads/main"'
plant git 'index:' ': >"$git_dir/index"'
plant git 'index:' 'rm "$git_dir/index"'
plant git 'objects:' 'find "$git_dir/objects" -type f | head -n 1 | xargs truncate -s 0'
plant git 'lost:' 'git -C . update-ref refs/heads/main main~1 && git reset -q'
plant git - 'git update-ref refs/heads/main main~1 && git reset -q' '' '' sound
plant git 'history: a commit exists' 'acked 1'
plant safe-replace - :
plant safe-replace - : '' 'safe fresh' fresh
plant safe-replace 'lost: the document' 'sh "$here/safe-replace/setup.sh"'
plant safe-replace 'torn:' 'printf x | dd of=document bs=1 seek=5000 conv=notrunc status=none'
plant safe-replace 'torn:' 'truncate -s -1 document'
plant safe-replace 'torn: the document is empty' ': >document'
plant safe-replace 'lost: an acknowledged' 'rm document.4' '' 'safe fresh' fresh
plant append-log - :
plant append-log - 'acked 7; truncate -s -1 log'
plant append-log 'lost:' 'truncate -s -9 log'
plant append-log 'hole: a sound' 'acked 1; sed -i 3s/0/1/ log'
plant append-log 'extra:' 'acked 6'
for store in lmdb leveldb rocksdb tdb db gdbm tokyocabinet kyotocabinet; do
  files='data.mdb store/0*.log store.tdb store.db store.gdbm store.tch store.kch'
  plant $store - :
  plant $store - 'acked 11'
  plant $store 'extra:' 'acked 10'
  plant $store 'lost:' 'echo 13 >>"$FAULTLINE_OUTPUT"'
  plant $store 'lost:' 'rm -rf data.mdb store store.* log.*'
  # LevelDB and RocksDB take a damaged record of their log for one that was not written whole.
  damaged=corruption:
  case $store in leveldb | rocksdb) damaged=lost: ;; esac
  plant $store $damaged 'for f in $files; do [ ! -f $f ] || LC_ALL=C sed -i s/012:/012x/g $f; done'
done
aof() { set -- appendonlydir/*.incr.aof && echo "$1"; }
plant redis - :
plant redis - 'acked 11'
plant redis - 'truncate -s -3 "$(aof)"; acked 11'
plant redis 'extra:' 'acked 10'
plant redis 'lost: an acknowledged' 'echo 13 >>"$FAULTLINE_OUTPUT"; truncate -s -3 "$(aof)"'
plant redis 'lost: a key from before' 'rm -r appendonlydir'
plant redis 'corruption: the server' 'truncate -s -30 "$(aof)"; truncate -s +30 "$(aof)"'
plant redis 'lost: an acknowledged' 'truncate -s -30 "$(aof)"; truncate -s +30 "$(aof)"' '' '' repair
plant redis 'wrong:' 'LC_ALL=C sed -i "s/value 4/value 5/" "$(aof)"'
# The table's file is the first one of a user, its index the last; a page has 8,192 bytes.
relation() { find data/base -name '16[0-9]*' | sort | "$1" -n 1; }
change() { (. "$here/postgres/env.sh" && serve && sql "$1" && stop INT && leave 0); }
plant postgres - :
plant postgres - 'acked 5'
plant postgres 'extra:' 'acked 4'
plant postgres 'lost:' 'change "UPDATE entries SET version = 0 WHERE version = 6"'
plant postgres 'corruption: rows' 'change "UPDATE entries SET version = 0 WHERE id = 5"'
plant postgres 'corruption: the index lacks' 'change "DELETE FROM entries WHERE id = 7"'
plant postgres 'corruption: the server' 'rm data/global/pg_control'
plant postgres 'corruption: the table' 'printf xxx | dd of="$(relation head)" bs=1 seek=12 conv=notrunc status=none'
plant postgres 'corruption: the index' 'truncate -s 8K "$(relation tail)"; truncate -s 16K "$(relation tail)"'
change() { (. "$here/mariadb/env.sh" && serve && sql "$1" && stop TERM && leave 0); }
plant mariadb - :
plant mariadb - 'acked 5'
plant mariadb 'extra:' 'acked 4'
plant mariadb 'lost:' 'change "UPDATE entries SET version = 0 WHERE version = 6"'
plant mariadb 'corruption: rows' 'change "UPDATE entries SET version = 0 WHERE id = 5"'
plant mariadb 'corruption: the server' 'truncate -s 4096 data/ibdata1'
echo "$failed failed"
[ "$failed" -eq 0 ]
