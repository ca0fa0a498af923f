#!/bin/sh
# setup.sh [MODE]: compiles the example if need be, and makes an empty store; mode new makes none.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sh "$here/../build.sh" gdbm
exec "$here/../.build/gdbm" setup "$@"
