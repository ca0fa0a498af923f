#!/bin/sh
# workload.sh [MODE]: see ../store.h.
exec "${0%/*}/../.build/kyotocabinet" workload "$@"
