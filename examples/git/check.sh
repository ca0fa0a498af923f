#!/bin/sh
# check.sh [sound]: is the repository sound, and does HEAD still reach every acknowledged commit?
#
# With `sound`, only the repository must be whole; commits may be missing at the end of the history.
# What the work tree holds is not judged: git promises nothing for files that it did not write.
# A stale .lock file is not a finding either: git names it and asks its user to remove it.
. "$(dirname "$0")/env.sh"
acked=0
while read -r n; do acked=$n; done <"${FAULTLINE_OUTPUT:?}" || exit 3

broken() { # FIRST-LINE [DETAIL...]: the first line names the broken promise and groups the findings
  printf '%s\n' "$@"
  echo "acknowledged commits: 1..$acked"
  exit 1
}

# A reference is a name for a hash; here nothing looks at what the hash names.
head=$(git rev-parse --verify HEAD 2>&1) || broken 'refs: HEAD does not resolve' "$head"
case $head in
*[!0-9a-f]*) broken 'refs: HEAD does not resolve' "$head" ;;
esac

# The index alone, before any object is read.
staged=$(git ls-files --stage 2>&1) || broken 'index: the index cannot be read' "$staged"
[ -n "$staged" ] || broken 'index: the index lost its files'

fsck=$(git fsck --full --no-dangling --no-progress 2>&1) ||
  broken 'objects: git fsck found missing or damaged objects' "$fsck"
log=$(git log --format=%s 2>&1) || broken 'objects: the history cannot be read' "$log"
status=$(git status --porcelain 2>&1) || broken 'index: git status fails' "$status"

# The history must be "change N" down to "change 0" without a hole, N acknowledged or the one after.
n=${log%%
*}
n=${n#change }
expected=
i=0
while [ "$i" -le "$n" ]; do
  expected="change $i${expected:+
$expected}"
  i=$((i + 1))
done
[ "$log" = "$expected" ] || broken 'history: the commits are not the ones that were made' "$log"
[ "$n" -le $((acked + 1)) ] || broken 'history: a commit exists that had not begun' "$log"
[ "${1:-}" = sound ] || [ "$n" -ge "$acked" ] ||
  broken 'lost: HEAD does not reach an acknowledged commit' "newest commit: change $n"
