#!/bin/bash
# test.sh: make dist-test: installs the package in a bare Debian 12 and 13 without Swift, and runs the README's example
# there, as root and as an ordinary user. Needs root, /dev/fuse, debootstrap and Debian's mirror; minutes.
# SUITES and USERS choose some; the bare systems stay in .build/dist-roots.
set -euo pipefail
cd "$(dirname "$0")/.."
packages=(.build/packages/faultline_*.deb)
[ -e "${packages[-1]}" ] || { echo "no package; make it: make dist" >&2; exit 1; }
roots=${DIST_ROOTS:-.build/dist-roots}
mkdir -p "$roots"
status=0
for suite in ${SUITES:-bookworm trixie}; do
  base=$(realpath "$roots")/$suite
  if [ ! -e "$base.complete" ]; then
    rm -rf --one-file-system "$base"
    debootstrap --variant=minbase "$suite" "$base" > "$base.log" 2>&1 || { tail "$base.log" >&2; exit 1; }
    touch "$base.complete"
  fi
  work=$(mktemp -d)
  # What is mounted and started goes with the namespaces.
  # shellcheck disable=SC2016 # expanded by the inner shell
  unshare --mount --pid --fork --kill-child bash -euc '
    base=$1 work=$2 package=$3 users=$4
    mount -t tmpfs -o mode=755 tmpfs "$work"
    mkdir "$work"/{upper,work,root}
    mount -t overlay overlay -o "lowerdir=$base,upperdir=$work/upper,workdir=$work/work" "$work/root"
    mount -t proc proc "$work/root/proc"
    mount -t tmpfs -o mode=755 tmpfs "$work/root/dev"
    for device in null zero full random urandom tty; do
      touch "$work/root/dev/$device" && mount --bind "/dev/$device" "$work/root/dev/$device"
    done
    # Open to everyone, as udev makes it.
    mknod -m 666 "$work/root/dev/fuse" c 10 229
    mkdir -m 1777 "$work/root/dev/shm" && mount -t tmpfs -o mode=1777 tmpfs "$work/root/dev/shm"
    ln -s /proc/self/fd "$work/root/dev/fd"
    cp /etc/resolv.conf "$work/root/etc/resolv.conf"
    # Installers and container engines make it; fusermount3 unmounts nothing without it.
    ln -sf /proc/self/mounts "$work/root/etc/mtab"
    cp "$package" "$work/root/tmp/faultline.deb"
    cp packaging/test-installed.sh README.md "$work/root/tmp/"
    exec chroot "$work/root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
      bash /tmp/test-installed.sh "$users"
  ' bash "$base" "$work" "${packages[-1]}" "${USERS:-root tester}" || status=1
  rmdir "$work"
done
exit $status
