#!/bin/sh
# workload.sh [MODE]: see ../store.h.
exec "${0%/*}/../.build/tokyocabinet" workload "$@"
