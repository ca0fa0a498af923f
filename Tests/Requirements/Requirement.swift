// Requirement.swift: what tests need of the machine beyond Swift, and how each is looked for.
// This module depends on nothing of ours, so that every test target can use it.

import Foundation

/// Something that a test needs and a machine may lack.
public enum Requirement: String, CaseIterable, Sendable {
  /// A FUSE device that this process may open.
  case fuse
  /// Loop devices and the right to mount.
  case loop
  /// Kernel support and programs for ext4 on a loop device.
  case ext4
  /// Kernel support and programs for XFS on a loop device.
  case xfs
  /// Kernel support and programs for Btrfs on a loop device.
  case btrfs
  /// User ID 0.
  case root
  /// The right to create a mount namespace.
  case namespaces
  /// The program that makes containers without root.
  case bubblewrap
  /// A browser.
  case chromium
  /// A C compiler.
  case cc
  /// A debugger that may attach to processes.
  case gdb
  /// The git program.
  case git
  /// Python 3.
  case python3
  /// The Go compiler.
  case go
  /// The compiler and the virtual machine of Java.
  case java
  /// Node.
  case node
  /// The Rust compiler.
  case rust
  /// The Swift compiler.
  case swiftc
  /// A program that runs others on a terminal.
  case script
  /// A program that drops privileges.
  case setpriv
  /// The SQLite shell.
  case sqlite3
  /// The archiver.
  case zip
  /// Snowball's stemmers.
  case stemmer
  /// io_uring(7), in the kernel and allowed to this process.
  case ring
  /// Python's module of LMDB.
  case lmdb
  /// Python's module of LevelDB.
  case leveldb
  /// What checks pictures and documents.
  case pngcheck, djpeg, qpdf

  /// What the machine lacks, and how to get it; nil when it has everything.
  public var missing: String? {
    switch self {
    case .ring:
      // io_uring_setup(2) has this number everywhere; without a place for its answer it fails, too.
      return Self.trial(
        "perl -e 'syscall(425, 1, 0); exit($! == 1 || $! == 38)'",
        "io_uring is forbidden or missing (sysctl kernel.io_uring_disabled, or seccomp)")
    case .fuse:
      return Self.device("/dev/fuse", module: "fuse")
    case .loop:
      return Self.root.missing ?? Self.device("/dev/loop-control", module: "loop")
        ?? Self.programs(["losetup"], package: "mount")
    case .ext4:
      return fileSystem(["mkfs.ext4", "e2fsck"], package: "e2fsprogs")
    case .xfs:
      return fileSystem(["mkfs.xfs", "xfs_repair"], package: "xfsprogs")
    case .btrfs:
      return fileSystem(["mkfs.btrfs", "btrfs"], package: "btrfs-progs")
    case .root:
      return getuid() == 0 ? nil : "user ID is \(getuid()), not 0; run the tests as root"
    case .namespaces:
      return Self.programs(["unshare"], package: "util-linux")
        ?? Self.trial(
          "unshare -m true",
          "unshare -m fails; run as root, in a container with --cap-add SYS_ADMIN")
    case .bubblewrap:
      return Self.programs(["bwrap"], package: "bubblewrap")
    case .chromium:
      return Self.programs(["chromium"], package: "chromium")
    case .cc:
      return Self.programs(["cc"], package: "gcc")
    case .gdb:
      return Self.programs(["gdb"], package: "gdb")
        ?? Self.trial(
          "sleep 5 & gdb -q -batch -p $! -ex quit > \"$0\" 2>&1; kill -9 $!; "
            + "! grep -qi 'not permitted' \"$0\"",
          "gdb may not attach to processes; run as root, or set kernel.yama.ptrace_scope to 0")
    case .git:
      return Self.programs(["git"], package: "git")
    case .python3:
      return Self.programs(["python3"], package: "python3-minimal")
    case .go:
      return Self.programs(["go"], package: "golang-go")
    case .java:
      return Self.programs(["javac", "java"], package: "default-jdk-headless")
    case .node:
      return Self.programs(["node"], package: "nodejs")
    case .rust:
      return Self.programs(["rustc"], package: "rustc")
    case .swiftc:
      return Self.trial("command -v swiftc", "no program swiftc in the path; install Swift")
    case .script:
      return Self.programs(["script"], package: "bsdutils")
    case .setpriv:
      return Self.programs(["setpriv"], package: "util-linux")
    case .sqlite3:
      return Self.programs(["sqlite3"], package: "sqlite3")
    case .zip:
      return Self.programs(["zip"], package: "zip")
    case .stemmer:
      return Self.library("libstemmer.so.0d", package: "libstemmer0d")
    case .lmdb: return Self.module("lmdb", package: "python3-lmdb")
    case .leveldb: return Self.module("plyvel", package: "python3-plyvel")
    case .pngcheck: return Self.programs(["pngcheck"], package: "pngcheck")
    case .djpeg: return Self.programs(["djpeg", "cjpeg"], package: "libjpeg-turbo-progs")
    case .qpdf: return Self.programs(["qpdf"], package: "qpdf")
    }
  }

  private static func device(_ path: String, module: String) -> String? {
    let files = FileManager.default
    guard files.fileExists(atPath: path) else {
      return "no \(path); load its module (modprobe \(module)), or pass the device to the container"
    }
    guard files.isReadableFile(atPath: path), files.isWritableFile(atPath: path) else {
      return "\(path) is not readable and writable for user ID \(getuid()); run the tests as root"
    }
    return nil
  }

  private static func programs(_ names: [String], package: String) -> String? {
    let folders = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/local/sbin"]
    for name in names {
      let isThere = folders.contains {
        FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
      }
      guard isThere else { return "no program \(name); install the package \(package)" }
    }
    return nil
  }

  private static func module(_ name: String, package: String) -> String? {
    trial(
      "/usr/bin/python3 -c 'import \(name)'", "no module \(name); install the package \(package)")
  }

  private static func library(_ name: String, package: String) -> String? {
    let folders = ["/usr/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"]
    let isThere = folders.contains { FileManager.default.fileExists(atPath: "\($0)/\(name)") }
    return isThere ? nil : "no library \(name); install the package \(package)"
  }

  private func fileSystem(_ names: [String], package: String) -> String? {
    if let missing = Self.fuse.missing ?? Self.loop.missing { return missing }
    if let missing = Self.programs(names, package: package) { return missing }
    let known = FileManager.default.contents(atPath: "/proc/filesystems") ?? Data()
    let words = String(decoding: known, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard !words.contains(Substring(rawValue)) else { return nil }
    return "no \(rawValue) in /proc/filesystems; load its module (modprobe \(rawValue))"
  }

  /// Runs a shell script, which gets the path of a scratch file as `$0`.
  private static func trial(_ script: String, _ failure: String) -> String? {
    let scratch = FileManager.default.temporaryDirectory
      .appendingPathComponent("faultline-requirement-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: scratch) }
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = ["-c", script, scratch]
    shell.standardInput = FileHandle.nullDevice
    shell.standardOutput = FileHandle.nullDevice
    shell.standardError = FileHandle.nullDevice
    guard (try? shell.run()) != nil else { return failure }
    shell.waitUntilExit()
    return shell.terminationStatus == 0 ? nil : failure
  }
}
