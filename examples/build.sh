#!/bin/sh
# build.sh NAME: compiles examples/NAME/store.c to examples/.build/NAME when it is not there or is older.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=$here/.build/$1
if [ -x "$program" ] && [ ! "$here/$1/store.c" -nt "$program" ] && [ ! "$here/store.h" -nt "$program" ]; then
  exit 0
fi
mkdir -p "$here/.build"
${CC:-cc} -O1 -std=gnu11 -Wall -Wextra -o "$program.$$" "$here/$1/store.c" "-l$1" ||
  { echo "build.sh: install lib$1-dev and a C compiler (make examples does)" >&2 && exit 3; }
mv "$program.$$" "$program"
