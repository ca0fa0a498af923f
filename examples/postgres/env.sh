# env.sh: a PostgreSQL server of our own on the recorded directory, run by the user `postgres`, for it
# refuses root; reached through a socket outside of the directory.
cd "${FAULTLINE_DIR:?}" || exit 3
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
[ -x "$bin/postgres" ] || { echo 'install postgresql (make examples does)' >&2 && exit 3; }
export PGHOST PGUSER=postgres PGDATABASE=postgres LC_ALL=C
PGHOST=$(mktemp -d) || exit 3
chown postgres "$PGHOST"

# A word, not a function: `&` would give that a shell of its own, which gets the signals.
unprivileged='setpriv --reuid postgres --regid postgres --clear-groups'
sql() { psql -XqtA -v ON_ERROR_STOP=1 -c "$1"; }

# serve OPTION...: starts it and waits until it answers; fails when it ends. Options are `-c name=value`.
serve() {
  # A crash leaves the lock of a process that is gone, or whose number somebody else has now.
  rm -f data/postmaster.pid
  $unprivileged "$bin/postgres" -D data -k "$PGHOST" -c listen_addresses= -c shared_buffers=1MB \
    -c max_wal_senders=0 -c autovacuum=off -c bgwriter_lru_maxpages=0 -c wal_writer_delay=10s "$@" \
    >"$PGHOST/log" 2>&1 &
  server=$!
  until sql 'SELECT 1' >/dev/null 2>&1; do
    kill -0 "$server" 2>/dev/null || return 1
    sleep 0.05
  done
}
stop() { # SIGNAL: INT writes a checkpoint and ends; QUIT just ends
  kill -"$1" "$server" && wait "$server"
  unset server
}
leave() { # STATUS: ends the server, if it is there, and the script
  [ -z "${server:-}" ] || stop QUIT 2>/dev/null
  rm -rf "$PGHOST"
  exit "$1"
}
