#!/bin/bash
# dist.sh [BUILD]: make dist: a tarball and a Debian package in .build/packages. They hold faultline (under its
# other names the daemon faultline-fs, and lazyfs), the library for --stacks, manual pages, shell completions,
# examples and the schema of scenarios; not the program `fuzz`, so `faultline fuzz` needs a build.
# With BUILD, a folder that has the programs, nothing is built.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${DIST_OUT:-.build/packages}
mkdir -p "$out"
out=$(cd "$out" && pwd)
version=$(sed -n 's/.*static let text = "\(.*\)"/\1/p' Sources/CrashSim/LabCore/LabVersion.swift)
machine=$(uname -m)
architecture=$(dpkg --print-architecture)

build=${1:-}
if [ -z "$build" ]; then
  # Clang finds this linker first. It takes libfuse3 as a static library, and empty tables in the place of ICU's: those
  # are 34 MB, for dates and languages that no command shows (decision 1131). Equal functions become one, nothing is kept
  # for the sake of programs that would look functions up by name, nor for unwinding stacks (decision 1141).
  static="$PWD/.build/dist-static"
  mkdir -p "$static"
  ln -sf "$(realpath "$(cc -print-file-name=libfuse3.a)")" "$static/libfuse3.a"
  cc -c -O2 packaging/no-icu-data.c -o "$static/no-icu-data.o"
  linker=$(dirname "$(realpath "$(command -v swift)")")/ld.lld
  cat > "$static/ld.gold" <<END
#!/bin/sh
# The library for --stacks lies in programs that may unwind it.
case " \$* " in *" -shared "*) ;; *) set -- "\$@" --no-eh-frame-hdr -T "$PWD/packaging/no-unwinding.ld" ;; esac
exec "$linker" "-L$static" "$static/no-icu-data.o" --icf=all -z pack-relative-relocs "\$@" --no-export-dynamic
END
  chmod 755 "$static/ld.gold"
  export COMPILER_PATH="$static"
  flags=(-c release --static-swift-stdlib --scratch-path .build/dist)
  swift build "${flags[@]}" --product faultline
  swift build "${flags[@]}" --product faultline-stacks
  build=$(swift build "${flags[@]}" --show-bin-path)
fi

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
umask 022
programs="$root/usr/lib/faultline"
share="$root/usr/share"
mkdir -p "$programs" "$root/usr/bin" "$share/faultline" "$share/doc/faultline"
strip -o "$programs/faultline" "$build/faultline"
strip --strip-unneeded -o "$programs/libfaultline-stacks.so" "$build/libfaultline-stacks.so"
chmod 755 "$programs/faultline"
chmod 644 "$programs/libfaultline-stacks.so"
ln -s faultline "$programs/faultline-fs"
ln -s faultline "$programs/lazyfs"
ln -s ../lib/faultline/faultline "$root/usr/bin/faultline"

"$programs/faultline" --experimental-dump-help | /usr/bin/python3 packaging/manual.py "$version" "$share/man/man1"
gzip -9n "$share"/man/man1/*.1
completions() { mkdir -p "$(dirname "$share/$2")" && "$programs/faultline" --generate-completion-script "$1" > "$share/$2"; }
completions bash bash-completion/completions/faultline
completions zsh zsh/vendor-completions/_faultline
completions fish fish/vendor_completions.d/faultline.fish

cp packaging/ci.sh scenarios/schema.json "$share/faultline/"
# Not the examples that are Swift targets.
tar -c --exclude=layers --exclude=dogs --exclude=tasks examples | tar -x -C "$share/doc/faultline" --no-same-owner
gzip -9nc CHANGELOG.md > "$share/doc/faultline/changelog.gz"
cp README.md "$share/doc/faultline/"
{ cat LICENSE; cat packaging/copyright.txt; } > "$share/doc/faultline/copyright"

kilobytes=$(du -sk --apparent-size "$root/usr" | cut -f1)
newest() { objdump -T "$programs/faultline" | grep -o "$1_[0-9][0-9.]*" | sort -uV | tail -n 1 | sed "s/.*_//"; }
# libstdc++6 of GCC 12 has all up to GLIBCXX_3.4.30 (Debian 12).
mkdir "$root/DEBIAN"
sh packaging/control.sh "$version" "$architecture" "$kilobytes" "$(newest GLIBC)" 12 > "$root/DEBIAN/control"
deb="$out/faultline_${version}_$architecture.deb"
dpkg-deb --root-owner-group -Zxz --build "$root" "$deb" > /dev/null
rm -r "$root/DEBIAN"
tarball="$out/faultline-$version-linux-$machine.tar.xz"
tar -C "$root" --owner=0 --group=0 --transform "s,^usr,faultline-$version," -cf - usr | xz -6 > "$tarball"

needs=$(objdump -p "$programs/faultline" | sed -n 's/ *NEEDED *//p' | tr '\n' ' ')
echo "needs $needs(glibc $(newest GLIBC), libstdc++ $(newest GLIBCXX))"
du -b "$programs"/* | sed "s,$root,,"
du -b "$deb" "$tarball"
