#!/bin/sh
# install.sh: installs the Debian package for the action: PACKAGE, or that of this version's release in REPOSITORY.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
version=$(sed -n 's/.*static let text = "\(.*\)"/\1/p' "$here/../Sources/CrashSim/LabCore/LabVersion.swift")
as_root=""
[ "$(id -u)" = 0 ] || as_root=sudo
package=${PACKAGE:-}
if [ -z "$package" ]; then
  name="faultline_${version}_$(dpkg --print-architecture).deb"
  package="${RUNNER_TEMP:-/tmp}/$name"
  curl --fail --silent --show-error --location --output "$package" \
    "${GITHUB_SERVER_URL:-https://github.com}/$REPOSITORY/releases/download/v$version/$name"
fi
[ -f "$package" ] || { echo "there is no package $package" >&2; exit 1; }
$as_root apt-get update -qq
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends "$(realpath "$package")"
faultline --version
