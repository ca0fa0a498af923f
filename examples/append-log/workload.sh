#!/bin/sh
# workload.sh [sync|no-sync [RECORDS]]: appends records to a log and acknowledges each.
# A record is one line: number, text, and a checksum over both, so that a torn line shows itself.
# dd writes it with one write() to a descriptor opened O_APPEND; conv=fdatasync syncs data and size
# before dd exits.
set -eu
cd "${FAULTLINE_DIR:-.}"
case ${1:-sync} in
sync) conv=notrunc,fdatasync ;;
no-sync) conv=notrunc ;;
*) echo "workload.sh: sync or no-sync, not '$1'" >&2 && exit 2 ;;
esac

n=1
while [ "$n" -le "${2:-8}" ]; do
  # 300 characters of text: a record crosses a sector now and then.
  text=$(printf 'record-%03d-%0288d' "$n" "$n")
  sum=$(printf '%s %s' "$n" "$text" | cksum)
  printf '%s %s %s\n' "$n" "$text" "${sum%% *}" |
    dd of=log oflag=append conv="$conv" bs=4096 iflag=fullblock status=none
  echo "$n" # the acknowledgement: one write to standard output
  n=$((n + 1))
done
