#!/bin/bash
# test-installed.sh USERS: what test.sh runs in the bare system: installs /tmp/faultline.deb and tries it.
set -euo pipefail
failures=0
step() {
  local begin=$EPOCHREALTIME
  if "$@" > /tmp/step.log 2>&1; then word=ok; else word=FAILED; failures=$((failures + 1)); cat /tmp/step.log; fi
  printf '%-6s %6.1f s  %s\n' "$word" "$(awk "BEGIN {print $EPOCHREALTIME - $begin}")" "${*//$'\n'/ }"
}
. /etc/os-release
echo "== $PRETTY_NAME, $(dpkg --print-architecture), glibc $(ldd --version | sed -n '1s/.* //p')"
export DEBIAN_FRONTEND=noninteractive
# The example as the README has it, but for the path to a build.
awk '/^## /{here = ($0 == "## Find a lost write")} here && /^<!-- run -->/{run = 1; next}
  run && /^```sh/{code = 1; next} /^```/{if (code) run = 0; code = 0} code && !/^export PATH/' /tmp/README.md > /tmp/example.sh
example() {
  local text
  text=$(setpriv --reuid "$1" --regid "$(id -g "$1")" --init-groups env HOME="/home/$1" sh /tmp/example.sh 2>&1) || { echo "$text"; return 1; }
  echo "$text"
  grep -q "^FINDING 1: 'settings' went back to an older content" <<< "$text" && grep -q '^verdict: broken, 1 finding' <<< "$text" &&
    [ "$(tail -n 1 <<< "$text")" = "verdict: held, 0 findings" ]
}
begun() {
  cd "$(mktemp -d)" && faultline init && sh crash-test/run.sh --budget 200 --report out && [ -s out/report.html ] &&
    sed -i '/sync \./d' crash-test/workload.sh && { sh crash-test/run.sh --budget 200; [ $? = 1 ]; }
}
complete_by_bash() { . /usr/share/bash-completion/completions/faultline && complete -p faultline; }
no_swift() { ! command -v swift && ! ls /usr/lib/swift; }
step no_swift
step apt-get update -qq
# The package's own part of the time is the second line: its dependencies are there by then.
step apt-get install -y -qq --no-install-recommends fuse3 libsqlite3-0 'libssl3' libstdc++6
step apt-get install -y -qq --no-install-recommends /tmp/faultline.deb
step faultline --version
step test -s /usr/share/man/man1/faultline-explore.1.gz
step complete_by_bash
useradd --create-home tester
for user in $1; do step example "$user"; done
step begun
step faultline explore --stacks --workload 'echo a > f; sync f' --check true
step apt-get purge -y -qq faultline
step test ! -e /usr/lib/faultline
du -sk --apparent-size /var/cache/apt/archives 2> /dev/null | sed 's/^/downloaded kB: /'
[ "$failures" = 0 ]
