#!/bin/sh
# A real array job of Slurm on this machine: a controller and a node on loopback, an array of 4 tasks, each of which
# finds out by itself which shard it is; then the reports are merged and compared with the report of one whole run.
# Usage: sh Tests/Slurm/array.sh FAULTLINE [SCENARIO…]      (as root; make slurm)
# Everything stands in a directory of its own, and every daemon ends with the script, however it ends.
set -eu
[ $# -ge 1 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
faultline=$(realpath "$1")
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
[ $# -gt 0 ] || set -- scenarios/durability/commits.yaml scenarios/processes/kill.yaml scenarios/negative/second-sync-ignored.yaml
[ "$(id -u)" = 0 ] || { echo "slurmd starts jobs for others, so this needs root: sudo make slurm" >&2; exit 2; }

dir=$(mktemp -d)
pids=
clean() {
  status=$?
  trap - EXIT INT TERM
  # Tasks first, for which all daemons are needed; then the daemons, in the order of their start backwards.
  if [ -n "${SLURM_CONF:-}" ]; then
    timeout 5 scancel --user root > /dev/null 2>&1 || true
    for _ in $(seq 75); do [ -n "$(timeout 5 squeue --noheader 2> /dev/null)" ] || break; sleep 0.2; done
  fi
  for pid in $pids; do kill "$pid" 2> /dev/null || true; done
  for pid in $pids; do wait "$pid" 2> /dev/null || true; done
  [ "$status" = 0 ] || tail -n 15 "$dir"/*.log >&2 2> /dev/null || true
  rm -rf "$dir"
  exit "$status"
}
trap clean EXIT
trap 'exit 130' INT TERM

# Waits for a command to succeed, for half a minute at most.
await() {
  for _ in $(seq 150); do
    if "$@" > /dev/null 2>&1; then return 0; fi
    sleep 0.2
  done
  echo "no answer within 30 s: $*" >&2
  return 3
}

host=$(hostname -s)
port=$((20000 + $$ % 20000))
chmod 755 "$dir"
mkdir "$dir/state" "$dir/spool" "$dir/reports"
(umask 077 && head -c 1024 /dev/urandom > "$dir/munge.key")
cat > "$dir/slurm.conf" <<END
ClusterName=faultline
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF="$dir/slurm.conf"

# Sessions of their own: Ctrl-C is for this script, which ends them when the tasks are gone.
echo "munged, slurmctld and slurmd in $dir, ports $port and $((port + 1))"
setsid munged --foreground --force --num-threads=2 --socket="$dir/munge.socket" --key-file="$dir/munge.key" \
  --pid-file="$dir/munged.pid" --log-file="$dir/munged.log" --seed-file="$dir/munged.seed" > "$dir/munged-output.log" 2>&1 &
pids="$!"
await test -S "$dir/munge.socket"
setsid slurmctld -D > "$dir/slurmctld-output.log" 2>&1 &
pids="$! $pids"
await scontrol ping
setsid slurmd -D -N "$host" > "$dir/slurmd-output.log" 2>&1 &
pids="$! $pids"
idle() { sinfo --noheader --format=%T | grep -q idle; }
await idle

# What a user's own job script says, and nothing else: no shard is given.
cat > "$dir/job.sh" <<END
#!/bin/sh
cd "$root"
exec "$faultline" run $* --budget 2000 --seed 1 --json "$dir/reports/\$SLURM_ARRAY_TASK_ID.json"
END
sbatch --wait --array=1-4 --cpus-per-task=1 --output="$dir/task-%a.txt" "$dir/job.sh"
for task in 1 2 3 4; do
  echo "--- task $task"
  sed -n '1,2p;$p' "$dir/task-$task.txt"
done

echo "--- merged"
"$faultline" merge "$dir/reports" --json "$dir/merged.json" | tail -n 3
echo "--- one whole run"
"$faultline" run "$@" --budget 2000 --seed 1 --json "$dir/whole.json" > "$dir/whole.txt" || { cat "$dir/whole.txt"; exit 1; }
tail -n 1 "$dir/whole.txt"
# Seconds differ, everything else must not.
for report in merged whole; do grep -v '"seconds"' "$dir/$report.json" > "$dir/$report.txt"; done
cmp "$dir/merged.txt" "$dir/whole.txt"
echo "the merged report is that of the whole run"
