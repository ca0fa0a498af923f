#!/bin/sh
# setup.sh: an append-only file with one key, "seed".
. "$(dirname "$0")/env.sh"
serve always || { cat "$sockets/log" >&2 && leave 3; }
ask set seed 0 >/dev/null
ask shutdown nosave
wait "$server"
leave 0
