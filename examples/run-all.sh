#!/bin/sh
# run-all.sh FAULTLINE [NAME-PART]: explores every example and compares the verdict with the table.
# BUDGET (states per run, default 2000; of PostgreSQL and MariaDB a tenth, whose checks are slow) and SEED
# (default 1) may be set in the environment. Ends with the curve: how many of the broken configurations are found with how many states.
# Exit: 0 when every verdict is the expected one, 1 when any differs, 2 for wrong usage.
set -u
faultline=${1:?usage: run-all.sh FAULTLINE [NAME-PART]}
only=${2:-}
here=$(cd "$(dirname "$0")" && pwd)
reports=$(mktemp -d)
wrong=0

# Exit code 0: every promise held. 1: a promise is broken, as the first lines of the findings say.
# An argument list may be empty (-); `_` stands for a space, between arguments and in the first line.
# example       model         setup         workload         check   exit  first line
expected='
sqlite          ext4-ordered  DELETE        DELETE_OFF       -       1     corruption:
sqlite          ext4-ordered  DELETE        DELETE_FULL      -       1     lost:
sqlite          ext4-ordered  DELETE        DELETE_EXTRA     -       0     -
sqlite          ext4-ordered  WAL           WAL_NORMAL       -       1     lost:
sqlite          ext4-ordered  WAL           WAL_FULL         -       0     -
git             ext4-ordered  -             -                -       1     objects:
git             ext4-ordered  all           -                -       1     lost:
git             ext4-ordered  all           -                sound   0     -
git             posix         all           -                sound   1     objects:
safe-replace    ext4-ordered  -             safe             -       0     -
safe-replace    posix         -             safe             -       0     -
safe-replace    posix         -             no-fsync         -       1     torn:
safe-replace    ext4-ordered  -             no-dirsync       -       1     lost:
safe-replace    ext4-ordered  -             none             -       1     lost:
safe-replace    ext4-ordered  -             in-place         -       1     torn:
safe-replace    ext4-ordered  -             safe_fresh       fresh   0     -
safe-replace    ext4-ordered  -             no-fsync_fresh   fresh   1     torn:
append-log      ext4-ordered  -             sync             -       0     -
append-log      ext4-ordered  -             no-sync          -       1     lost:
lmdb            ext4-ordered  -             sync             -       0     -
lmdb            posix         -             sync             -       0     -
lmdb            posix-damage  -             sync             -       1     corruption:
lmdb            ext4-ordered  -             writemap         -       0     -
lmdb            ext4-ordered  -             nometasync       -       1     lost:
lmdb            ext4-ordered  -             nometasync       may-lose-last 0  -
lmdb            ext4-ordered  -             nosync           -       1     Bus_error
lmdb            ext4-ordered  -             mapasync         -       1     corruption:
lmdb            ext4-ordered  new           sync             -       1     corruption:
lmdb            posix         new           sync             -       1     lost:_the_store
leveldb         ext4-ordered  -             sync             -       0     -
leveldb         ext4-ordered  new           sync             -       0     -
leveldb         posix         -             sync             -       1     corruption:
leveldb         ext4-ordered  -             nosync           -       1     lost:
db              strict        -             sync             -       0     -
db              ext4-journal  -             sync             -       0     -
db              btrfs         -             sync             -       0     -
db              ext4-ordered  -             sync             -       1     corruption:
db              ext4-ordered  sector        sector           sector  0     -
db              ext4-journal  -             nosync           -       1     lost:
db              ext4-journal  -             wnosync          -       1     lost:
tdb             ext4-ordered  -             sync             -       0     -
tdb             posix         -             sync             -       0     -
tdb             ext4-ordered  small         sync             -       1     corruption:
tdb             ext4-ordered  -             nosync           -       1     lost:
tdb             ext4-ordered  -             plain            -       1     corruption:
rocksdb         ext4-ordered  -             sync             -       0     -
rocksdb         posix         -             sync             -       1     corruption:
rocksdb         ext4-ordered  -             nosync           -       1     lost:
redis           xfs           -             always           -       0     -
redis           ext4-ordered  -             always           -       1     corruption:_the_server
redis           ext4-ordered  -             always           repair  0     -
redis           xfs           -             everysec         -       1     lost:
postgres        ext4-ordered  -             fsync=on         -       0     -
postgres        posix         -             fsync=on         -       0     -
postgres        ext4-ordered  -             fsync=off        -       1     corruption:
gdbm            ext4-ordered  -             replace          -       0     -
gdbm            posix         -             replace          -       0     -
gdbm            strict        -             sync             -       1     corruption:
gdbm            ext4-ordered  -             sync             -       1     corruption:
gdbm            ext4-ordered  -             always           -       1     lost:
gdbm            ext4-ordered  -             nosync           -       1     lost:
gdbm            posix         new           replace          -       1     corruption:
tokyocabinet    xfs           -             sync             may-lose-last 0  -
tokyocabinet    strict        -             sync             -       1     lost:
tokyocabinet    ext4-ordered  -             sync             -       1     Bus_error
tokyocabinet    ext4-journal  -             tran             may-lose-last 1  corruption:
kyotocabinet    strict        -             sync             -       0     -
kyotocabinet    ext4-journal  -             sync             -       0     -
kyotocabinet    ext4-ordered  -             sync             -       1     torn:
kyotocabinet    ext4-journal  -             tran             -       1     lost:
kyotocabinet    ext4-journal  -             syncs            -       1     torn:
mariadb         ext4-ordered  -             innodb-flush-log-at-trx-commit=1 - 0 -
mariadb         strict        -             innodb-flush-log-at-trx-commit=0 - 1 lost:
mariadb         ext4-ordered  -             innodb-flush-log-at-trx-commit=2 - 1 lost:
mariadb         ext4-ordered  -             innodb-doublewrite=0 -       1     corruption:
'

arguments() { [ "$1" = - ] || printf ' %s' "$1" | tr _ ' '; }

format='%-6s %-13s %-13s %-7s %-15s %-13s %5s %5s  %s\n'
printf "$format" verdict example model setup workload check exit want 'first line'
while read -r example model setup workload check want line; do
  case $example in '') continue ;; *"$only"*) ;; *) continue ;; esac
  budget=${BUDGET:-2000}
  case $example in postgres | mariadb) budget=$((budget / 10)) ;; esac
  report=$reports/$example.$model.$setup.$workload.$check
  "$faultline" explore \
    --setup "sh '$here/$example/setup.sh'$(arguments "$setup")" \
    --workload "sh '$here/$example/workload.sh'$(arguments "$workload")" \
    --check "sh '$here/$example/check.sh'$(arguments "$check")" \
    --model "$model" --seed "${SEED:-1}" --budget "$budget" --json "$report.json" >"$report" 2>&1 </dev/null
  got=$? verdict=ok
  [ "$got" -eq "$want" ] || verdict=WRONG
  [ "$line" = - ] || grep -q "$(printf '%s' "$line" | tr _ ' ')" "$report" || verdict=WRONG
  [ "$verdict" = ok ] || wrong=$((wrong + 1))
  printf "$format" "$verdict" "$example" "$model" "$setup" "$workload" "$check" "$got" "$want" \
    "$line"
  [ "$verdict" = ok ] || tail -n 20 "$report" | sed 's/^/    | /'
done <<TABLE
$expected
TABLE
# A budget takes the first states of one order, so one run tells which smaller budgets find the same.
broken=0 budgets=''
for report in "$reports"/*.json; do
  grep -q '"outcome" : "broken"' "$report" || continue
  broken=$((broken + 1))
  budgets="$budgets $(sed -n 's/.*"findingBudget" : \([0-9]*\).*/\1/p' "$report")"
done
for states in 10 20 30 50 100 200 500; do
  found=0
  for budget in $budgets; do [ "$budget" -gt "$states" ] || found=$((found + 1)); done
  echo "found with $states states: $found of $broken"
done
echo "$wrong verdicts differ; reports: $reports"
[ "$wrong" -eq 0 ]
