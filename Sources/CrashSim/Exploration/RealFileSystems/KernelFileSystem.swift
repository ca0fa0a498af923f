// KernelFileSystem.swift: a file system of the running kernel, as named by `--on`, and its
// requirements on this machine.
// Invariant: the arguments for making an image depend only on the choice, so that two recordings
// start with the same bytes as far as mkfs allows.

import CrashStates
import Foundation
import LabCore

/// A file system of the kernel with its mount options.
public struct KernelFileSystem: Sendable, Hashable, CustomStringConvertible {
  /// The kinds that Faultline can make, mount and check.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case ext4, xfs, btrfs
  }

  /// Kind.
  public let kind: Kind
  /// Mount options that the user added, separated by commas; empty for none.
  public let options: String
  /// Options of `mkfs` that the user added, as words.
  public let makeOptions: [String]

  /// Folders with `mkfs` and the checkers of file systems.
  static let toolFolders = ["/usr/sbin", "/sbin", "/usr/bin", "/bin", "/usr/local/sbin"]

  /// Makes a choice.
  public init(_ kind: Kind, options: String = "", makeOptions: [String] = []) {
    self.kind = kind
    self.options = options
    self.makeOptions = makeOptions
  }

  /// The file system named by a text such as `ext4:data=writeback,mkfs=-O fast_commit`.
  /// - Throws: `LabError` with code `.usage` that lists the valid names.
  public init(parsing text: String) throws(LabError) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let known = Kind.allCases.map(\.rawValue).joined(separator: ", ")
    guard let kind = Kind(rawValue: String(parts[0])) else {
      throw .usage(
        "--on '\(text.prefix(60))': no such file system; write \(known), with mount options after "
          + "a colon, as in ext4:noauto_da_alloc")
    }
    let rest = parts.count > 1 ? String(parts[1]) : ""
    let (options, makeText) = Self.split(rest)
    let isPlain = options.utf8.allSatisfy { $0 > 32 && $0 < 127 }
    let isMissing = options.isEmpty && makeText == nil
    guard parts.count == 1 || !isMissing, isPlain, rest.utf8.count <= 1000 else {
      throw .usage(
        "--on '\(text.prefix(60))': write mount options after the colon, with commas and without "
          + "spaces, then mkfs= and its options, as in ext4:noauto_da_alloc,mkfs=-b 1024; at most "
          + "1000 bytes")
    }
    let words = try makeText.map { (makeText) throws(LabError) in
      try Self.makeOptions(makeText, in: text)
    }
    self.init(kind, options: options, makeOptions: words ?? [])
  }

  private static let makeKey = "mkfs="

  /// The mount options, and the text after `mkfs=`, which comes last and extends to the end.
  private static func split(_ text: String) -> (options: String, makeText: String?) {
    if text.hasPrefix(makeKey) { return ("", String(text.dropFirst(makeKey.count))) }
    guard let place = text.firstRange(of: "," + makeKey) else { return (text, nil) }
    return (String(text[..<place.lowerBound]), String(text[place.upperBound...]))
  }

  private static func makeOptions(
    _ makeText: String, in text: String
  ) throws(LabError) -> [String] {
    let words = makeText.split(separator: " ").map(String.init)
    func refused(_ reason: String) -> LabError {
      .usage(
        "--on '\(text.prefix(60))': mkfs=\(makeText.prefix(60)): \(reason); write options as in "
          + "ext4:mkfs=-O fast_commit or ext4:mkfs=-b 1024")
    }
    guard makeText.utf8.allSatisfy({ $0 >= 32 && $0 < 127 }) else {
      throw refused("only printable ASCII is allowed")
    }
    guard let first = words.first, first.hasPrefix("-") else {
      throw refused("an option of mkfs must come first")
    }
    // The user may not choose where the file system is made: it could be a disk of the machine.
    if let path = words.first(where: { $0.contains("/") }) {
      throw refused("'\(path)' is a path; leave it out, the image is added for you")
    }
    return words
  }

  /// In the form of `--on`.
  public var description: String {
    let make = makeOptions.isEmpty ? [] : [Self.makeKey + makeOptions.joined(separator: " ")]
    let all = (options.isEmpty ? [] : [options]) + make
    return all.isEmpty ? kind.rawValue : "\(kind.rawValue):\(all.joined(separator: ","))"
  }

  /// Size of an image: about the smallest possible for each kind.
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
  /// The kernel's own clock must not affect the trace: no commit every few seconds, no tables
  /// initialized in the background, no discards. `nouuid` lets XFS mount several images of one
  /// origin at once.
  private var ownOptions: [String] {
    switch kind {
    case .ext4: ["commit=300", "noinit_itable", "nodiscard"]
    case .xfs: ["nouuid", "nodiscard"]
    case .btrfs: ["commit=300", "nodiscard"]
    }
  }

  /// The file system's options for mount(2).
  var mountData: String {
    (ownOptions + (options.isEmpty ? [] : [options])).joined(separator: ",")
  }

  /// Checkers that may have images of one recording mounted at the same time; nil for any number.
  ///
  /// Btrfs finds devices by the file system's identifier, and before Linux 6.7 treats two images
  /// with the same identifier as one file system.
  var mountsMax: Int? { kind == .btrfs ? 1 : nil }

  /// Program and arguments that make the file system in a file.
  ///
  /// Identifiers are fixed where the kernel derives positions of directories from them; for Btrfs
  /// it is derived from the run, since no other may be mounted, and affects nothing.
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
      let extended = "lazy_itable_init=0,lazy_journal_init=0,nodiscard,hash_seed=\(identifier)"
      let blocks = makeOptions.contains { $0.hasPrefix("-b") } ? [] : ["-b", "4096"]
      return ["mkfs.ext4", "-q", "-F"] + blocks + ["-U", identifier]
        + adding(extended, to: "-E") + [path]
    case .xfs:
      return ["mkfs.xfs", "-q", "-f", "-K", "-m", "uuid=\(identifier)"] + makeOptions + [path]
    case .btrfs: return ["mkfs.btrfs", "-q", "-f", "-K", "-U", identifier] + makeOptions + [path]
    }
  }

  /// The user's options of mkfs with Faultline's own merged into the same option, because mke2fs
  /// uses only the last one.
  private func adding(_ own: String, to option: String) -> [String] {
    guard let place = makeOptions.lastIndex(of: option), place + 1 < makeOptions.count else {
      return [option, own] + makeOptions
    }
    var words = makeOptions
    words[place + 1] = own + "," + words[place + 1]
    return words
  }

  /// Program and arguments that check an unmounted file system without changing it.
  func checkArguments(image path: String) -> [String] {
    switch kind {
    case .ext4: ["e2fsck", "-f", "-n", path]
    case .xfs: ["xfs_repair", "-n", path]
    case .btrfs: ["btrfs", "check", "--readonly", path]
    }
  }

  /// Debian's package that contains these programs.
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

  /// What this machine lacks for the file system, with the remedy; nil if nothing.
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

  /// Rejects a file system that this machine cannot mount.
  /// - Throws: `LabError` with what is missing.
  func demand() throws(LabError) {
    if let missing { throw .lab("--on \(self): \(missing); \(MountRight.pointer)") }
  }
}
