#!/bin/sh
# setup.sh: the document as version 0. One version is 600 equal lines: many sectors, two pages.
set -eu
cd "${FAULTLINE_DIR:-.}"
yes 'version 0' | head -n 600 >document
