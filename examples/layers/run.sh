#!/bin/sh
# Builds a package that takes layers of the lab without the engine, runs its three programs, and fails when a program does not do what
# it says, or when an engine, YAML or crypto was linked into it. Needs /dev/fuse.
set -eu
cd "$(dirname "$0")"
swift build -q
built=$(swift build --show-bin-path)
"$built/crash-states-only"
"$built/fault-fs-only"
"$built/exploration-only"
for program in crash-states-only fault-fs-only exploration-only faultline-fs; do
  # Mangled names begin with the module's name and its length.
  linked=$(nm "$built/$program" | grep -oE '\$s(6Engine|5Query|14ObjectDatabase|4Yams|12Cryptography)[0-9]' | sort | uniq -c)
  [ -z "$linked" ] || { echo "$program links what it should not:"; echo "$linked"; exit 1; }
done
echo "all three programs run, and none links the engine"
