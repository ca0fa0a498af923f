// KernelFileSystem.swift: a file system of the running kernel, as `--on` names it, and what this
// machine needs to have for it.
// Invariant: the words from which an image is made follow from the choice alone, so that two
// recordings begin with the same bytes as far as mkfs lets them.

import CrashStates
import Foundation
import LabCore

/// A file system of the kernel with its mount options.
public struct KernelFileSystem: Sendable, Hashable, CustomStringConvertible {
  /// The kinds that the lab can make, mount and check.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case ext4, xfs, btrfs
  }

  /// Kind.
  public let kind: Kind
  /// Mount options that the user added, with commas; empty for none.
  public let options: String

  /// Where `mkfs` and the checkers of file systems lie.
  static let toolFolders = ["/usr/sbin", "/sbin", "/usr/bin", "/bin", "/usr/local/sbin"]

  /// Makes a choice.
  public init(_ kind: Kind, options: String = "") {
    self.kind = kind
    self.options = options
  }

  /// The file system that a text such as `ext4:data=writeback,noauto_da_alloc` names.
  /// - Throws: `LabError` with code `.usage` that lists what can be named.
  public init(parsing text: String) throws(LabError) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let known = Kind.allCases.map(\.rawValue).joined(separator: ", ")
    guard let kind = Kind(rawValue: String(parts[0])) else {
      throw .usage(
        "--on '\(text.prefix(60))': no such file system; write \(known), with mount options after "
          + "a colon, as in ext4:noauto_da_alloc")
    }
    let options = parts.count > 1 ? String(parts[1]) : ""
    let isPlain = options.utf8.allSatisfy { $0 > 32 && $0 < 127 }
    guard parts.count == 1 || !options.isEmpty, isPlain, options.utf8.count <= 1000 else {
      throw .usage(
        "--on '\(text.prefix(60))': write mount options after the colon, with commas and without "
          + "spaces, at most 1000 bytes")
    }
    self.init(kind, options: options)
  }

  /// As `--on` takes it.
  public var description: String { options.isEmpty ? kind.rawValue : "\(kind.rawValue):\(options)" }

  /// Size of an image: about the smallest that can be made of each kind.
  ///
  /// Images are sparse.
  var imageSizeBytes: Int {
    switch kind {
    case .ext4: 64 << 20
    case .xfs: 300 << 20
    case .btrfs: 128 << 20
    }
  }

  /// Options of every mount, before the user's.
  ///
  /// The kernel's own clock shall not decide what is in a trace: no commit every few seconds, no
  /// tables that are initialised in the background, no discards. `nouuid` lets XFS mount several
  /// images of one origin at once.
  private var ownOptions: [String] {
    switch kind {
    case .ext4: ["commit=300", "noinit_itable", "nodiscard"]
    case .xfs: ["nouuid", "nodiscard"]
    case .btrfs: ["commit=300", "nodiscard"]
    }
  }

  /// What mount(2) gets as the file system's options.
  var mountData: String {
    (ownOptions + (options.isEmpty ? [] : [options])).joined(separator: ",")
  }

  /// Checkers that may have images of one recording mounted at the same time; nil for any number.
  ///
  /// Btrfs finds devices by the file system's identifier, and before Linux 6.7 takes two images
  /// with the same one for one file system.
  var mountsMax: Int? { kind == .btrfs ? 1 : nil }

  /// Program and arguments that make the file system in a file.
  ///
  /// Identifiers are fixed where the kernel derives places of directories from them; for Btrfs it
  /// is the run's own, since no other may be mounted, and decides nothing.
  /// - Parameters:
  ///   - path: The file.
  ///   - run: Name of the run.
  /// - Returns: The program's name, then its arguments.
  func makeArguments(image path: String, run: String) -> [String] {
    let digits = kind == .btrfs ? ContentHash.of(Array(run.utf8)).low & 0xffff_ffff_ffff : 1
    let hexadecimal = String(digits, radix: 16)
    let identifier =
      "0f0a0171-11e0-4000-8000-" + String(repeating: "0", count: 12 - hexadecimal.count)
      + hexadecimal
    switch kind {
    case .ext4:
      return [
        "mkfs.ext4", "-q", "-F", "-b", "4096", "-U", identifier, "-E",
        "lazy_itable_init=0,lazy_journal_init=0,nodiscard,hash_seed=\(identifier)", path,
      ]
    case .xfs: return ["mkfs.xfs", "-q", "-f", "-K", "-m", "uuid=\(identifier)", path]
    case .btrfs: return ["mkfs.btrfs", "-q", "-f", "-K", "-U", identifier, path]
    }
  }

  /// Program and arguments that check a file system that was unmounted, without changing it.
  func checkArguments(image path: String) -> [String] {
    switch kind {
    case .ext4: ["e2fsck", "-f", "-n", path]
    case .xfs: ["xfs_repair", "-n", path]
    case .btrfs: ["btrfs", "check", "--readonly", path]
    }
  }

  /// Debian's package with these programs.
  private var package: String {
    switch kind {
    case .ext4: "e2fsprogs"
    case .xfs: "xfsprogs"
    case .btrfs: "btrfs-progs"
    }
  }

  /// The full path of one of the programs, or nil.
  static func tool(_ name: String) -> String? {
    toolFolders.lazy.map { "\($0)/\(name)" }.first { PathCalls.canAccess($0, 1) }
  }

  /// What this machine lacks for the file system, with the remedy; nil when nothing.
  public var missing: String? {
    guard getuid() == 0 else { return "mounting needs root; run as root" }
    for path in ["/dev/fuse", "/dev/loop-control"] where !PathCalls.canAccess(path, 4) {
      return "no \(path) for user \(getuid()); load the module (modprobe fuse loop), or pass the "
        + "device to the container; root of a user namespace cannot mount such file systems"
    }
    for program in [makeArguments(image: "", run: "")[0], checkArguments(image: "")[0]]
    where Self.tool(program) == nil {
      return "no \(program); install \(package)"
    }
    let known = FileManager.default.contents(atPath: "/proc/filesystems") ?? Data()
    let names = String(decoding: known, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard names.contains(Substring(kind.rawValue)) else {
      return "no \(kind.rawValue) in /proc/filesystems; load it (modprobe \(kind.rawValue))"
    }
    return nil
  }

  /// Refuses a file system that this machine cannot mount.
  /// - Throws: `LabError` with what is missing.
  func demand() throws(LabError) {
    if let missing { throw .lab("--on \(self): \(missing)") }
  }
}
