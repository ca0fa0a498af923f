#!/bin/sh
# setup.sh: an empty log, durable before the workload begins.
set -eu
cd "${FAULTLINE_DIR:-.}"
: >log
