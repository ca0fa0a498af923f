#!/bin/sh
# check.sh [fresh]: the document is one whole version, and not older than the acknowledged one.
# With `fresh`: every acknowledged document.N is there, and each one that is there is whole.
# A document.tmp left behind is not a finding: the next writer replaces it.
cd "${FAULTLINE_DIR:-.}" || exit 3
acked=0
while read -r n; do acked=$n; done <"${FAULTLINE_OUTPUT:?}" || exit 3

broken() { # FIRST-LINE [DETAIL...]: the first line names the broken promise and groups the findings
  printf '%s\n' "$@"
  echo "acknowledged: version $acked"
  exit 1
}

# Sets `version` to the version that the file holds from its first to its last byte.
read_whole() {
  [ -s "$1" ] || broken "torn: the document is empty" "$1"
  read -r line <"$1"
  version=${line#version }
  case $version in
  [0-5]) yes "version $version" | head -n 600 | cmp - "$1" >/dev/null 2>&1 && return ;;
  esac
  broken 'torn: the document is not one whole version' \
    "$1: $(wc -c <"$1") bytes: $(tr '\0' 0 <"$1" | uniq -c | head -n 5)"
}

if [ "${1:-}" = fresh ]; then
  for n in 1 2 3 4 5; do
    if [ -e "document.$n" ]; then
      read_whole "document.$n"
      [ "$version" -eq "$n" ] || broken 'torn: a document holds another version' "document.$n"
      [ "$n" -le $((acked + 1)) ] || broken 'extra: a version exists that had not begun' "$n"
    elif [ "$n" -le "$acked" ]; then
      broken 'lost: an acknowledged document is missing' "document.$n"
    fi
  done
else
  [ -e document ] || broken 'lost: there is no document'
  read_whole document
  [ "$version" -ge "$acked" ] ||
    broken 'lost: the document is older than acknowledged' "version $version"
  [ "$version" -le $((acked + 1)) ] ||
    broken 'extra: a version exists that had not begun' "version $version"
fi
