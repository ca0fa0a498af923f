# env.sh: a Redis server of our own on the recorded directory, reached through a socket outside of it.
cd "${FAULTLINE_DIR:?}" || exit 3
sockets=$(mktemp -d) || exit 3

# serve FSYNC: starts it with the append-only file alone, and waits until it answers; fails when it ends.
serve() {
  redis-server --port 0 --unixsocket "$sockets/s" --dir "$FAULTLINE_DIR" --save '' \
    --appendonly yes --appendfsync "$1" >"$sockets/log" 2>&1 &
  server=$!
  until ask ping 2>/dev/null | grep -q PONG; do
    kill -0 "$server" 2>/dev/null || return 1
    sleep 0.02
  done
}
ask() { redis-cli -s "$sockets/s" "$@"; }
leave() { # STATUS: ends the server, if it is there, and the script
  [ -z "${server:-}" ] || { kill -9 "$server" 2>/dev/null; wait "$server" 2>/dev/null; }
  rm -rf "$sockets"
  exit "$1"
}
