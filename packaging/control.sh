#!/bin/sh
# control.sh VERSION ARCHITECTURE KILOBYTES GLIBC GLIBCXX: prints the control file of the Debian package.
# The two last are the newest symbol versions that the programs ask for; libfuse is linked statically,
# because Debian 12 has libfuse3.so.3 and Debian 13 libfuse3.so.4.
set -eu
cat <<END
Package: faultline
Version: $1
Architecture: $2
Maintainer: The Faultline maintainers <faultline@localhost>
Section: devel
Priority: optional
Installed-Size: $3
Depends: libc6 (>= $4), libstdc++6 (>= $5), libgcc-s1, libsqlite3-0 (>= 3.40), libssl3 | libssl3t64, fuse3
Suggests: e2fsprogs, xfsprogs, btrfs-progs, gdb, sqlite3
Description: finds the data that a program loses when the power fails
 Faultline records a run of a program on a file system of its own (FUSE),
 builds the disk states that a power failure could leave, and lets a check
 of yours judge each one. It also mounts a file system that fails on demand.
END
