#!/bin/sh
# Which regions of synchronization's merge its own tests execute, by llvm-cov; a region is what one
# way of a branch leads to. A table for each file, and the lines that nothing executes.
# Usage: merge.sh [FOLDER]    (make merge-coverage)
set -eu
cd "$(dirname "$0")/../.."
folder=${1:-Sources/SyncCore/Merge}
export FAULTLINE_ONLY="SyncCoreTests SyncWorldTests"
scratch=.build-merge-coverage
swift build --build-tests --enable-code-coverage --scratch-path $scratch
tests=$(swift build --show-bin-path --scratch-path $scratch)/faultlinePackageTests.xctest
tools=$(dirname "$(readlink -f "$(command -v swiftc)")")
rm -f $scratch/*.profraw
LLVM_PROFILE_FILE=$scratch/merge-%p.profraw "$tests" --testing-library swift-testing > $scratch/tests.txt || {
  cat $scratch/tests.txt
  exit 1
}
"$tools/llvm-profdata" merge -o $scratch/merge.profdata $scratch/*.profraw
"$tools/llvm-cov" report "$tests" -instr-profile $scratch/merge.profdata "$folder"
"$tools/llvm-cov" export "$tests" -instr-profile $scratch/merge.profdata -format=lcov "$folder" |
  awk -F '[:,]' '/^SF:/ { file = substr($0, 4) } /^DA:/ && $3 == 0 { print file ":" $2 ": not executed" }' |
  sed "s|^$PWD/||"
