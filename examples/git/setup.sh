#!/bin/sh
# setup.sh [COMPONENTS [METHOD]]: makes a repository with one commit ("change 0").
# COMPONENTS is core.fsync (say `all`; git's default leaves loose objects unsynced), METHOD is
# core.fsyncMethod (fsync, batch, writeout-only).
set -eu
. "$(dirname "$0")/env.sh"

git init -q -b main .
[ $# -lt 1 ] || git config core.fsync "$1"
[ $# -lt 2 ] || git config core.fsyncMethod "$2"
echo 'line 0' >notes.txt
git add notes.txt
git commit -q -m 'change 0'
