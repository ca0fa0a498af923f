# env.sh: a MariaDB server of our own on the recorded directory, without system tables; reached through a
# socket outside of the directory.
cd "${FAULTLINE_DIR:?}" || exit 3
command -v mariadbd >/dev/null && command -v mariadb >/dev/null ||
  { echo 'install mariadb-server (make examples does)' >&2 && exit 3; }
run=$(mktemp -d) || exit 3

sql() { mariadb --no-defaults -u root -S "$run/socket" -N -B -e "$1" lab; }

# serve OPTION...: starts it and waits until it answers; fails when it ends. Options are `--name=value`.
serve() {
  mariadbd --no-defaults --user=root --datadir="$PWD/data" --socket="$run/socket" --pid-file="$run/pid" \
    --tmpdir="$run" --aria-log-dir-path="$run" --skip-networking --skip-grant-tables --skip-log-bin \
    --performance-schema=off --innodb-data-file-path=ibdata1:6M:autoextend --innodb-autoextend-increment=1 \
    --innodb-undo-tablespaces=0 --innodb-log-file-size=4M --innodb-buffer-pool-size=8M \
    --innodb-buffer-pool-dump-at-shutdown=off --innodb-buffer-pool-load-at-startup=off \
    --innodb-flush-method=fsync "$@" >"$run/log" 2>&1 &
  server=$!
  until mariadb --no-defaults -u root -S "$run/socket" -e 'SELECT 1' >/dev/null 2>&1; do
    kill -0 "$server" 2>/dev/null || return 1
    sleep 0.05
  done
}
stop() { # SIGNAL: TERM writes a checkpoint and ends; KILL just ends
  kill -"$1" "$server" && wait "$server"
  unset server
}
leave() { # STATUS: ends the server, if it is there, and the script
  [ -z "${server:-}" ] || stop KILL 2>/dev/null
  rm -rf "$run"
  exit "$1"
}
