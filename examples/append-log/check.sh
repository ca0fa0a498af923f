#!/bin/sh
# check.sh: the log's sound records are 1..N without a hole, N at least the acknowledged one.
# A torn tail is allowed, as in any log: the reader stops at the first line whose checksum is wrong.
# What follows it must not be a sound record, or a reader that resumes there would skip one.
cd "${FAULTLINE_DIR:-.}" || exit 3
acked=0
while read -r n; do acked=$n; done <"${FAULTLINE_OUTPUT:?}" || exit 3

broken() { # FIRST-LINE [DETAIL...]: the first line names the broken promise and groups the findings
  printf '%s\n' "$@"
  echo "acknowledged records: 1..$acked"
  exit 1
}

[ -f log ] || broken 'lost: there is no log'
sound=0 # the last record of the sound beginning
torn=   # the first line that is not sound
while read -r n text sum || [ -n "$n" ]; do
  expected=$(printf '%s %s' "$n" "$text" | cksum)
  if [ "${expected%% *}" != "$sum" ]; then
    torn=${torn:-$((sound + 1))}
  elif [ -n "$torn" ]; then
    broken 'hole: a sound record follows a damaged one' "record $n after line $torn"
  elif [ "$n" -ne $((sound + 1)) ]; then
    broken 'hole: the records are not numbered one by one' "record $n after $sound"
  else
    sound=$n
  fi
done <log

[ "$sound" -ge "$acked" ] || broken 'lost: an acknowledged record is missing or damaged' \
  "sound records: 1..$sound"
[ "$sound" -le $((acked + 1)) ] || broken 'extra: a record exists whose append had not begun' \
  "sound records: 1..$sound"
