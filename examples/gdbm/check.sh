#!/bin/sh
# check.sh [MODE]: see ../store.h.
exec "${0%/*}/../.build/gdbm" check "$@"
