// FileTree+Content.swift: changes to an inode other than names: bytes, sizes, attributes.

import Glibc
import LabCore

extension FileTree {
  /// Modes of fallocate(2) as the system call encodes them.
  package struct AllocationMode: OptionSet {
    package let rawValue: Int32

    package init(rawValue: Int32) {
      self.rawValue = rawValue
    }
    static let keepSize = AllocationMode(rawValue: 1)
    package static let punchHole = AllocationMode(rawValue: 2)
    package static let zeroRange = AllocationMode(rawValue: 16)
  }

  /// A regular file's content, or the error for a data call on another kind of file.
  package func content(of inode: Inode) throws(ErrorNumber) -> FileContent {
    if let content = inode.content { return content }
    throw ErrorNumber(inode.isDirectory ? EISDIR : EINVAL)
  }

  /// Writes as much as there is space for.
  /// - Returns: The number of bytes written, from the start.
  package func write(
    _ bytes: RawSpan, at offset: UInt64, to inode: Inode, lent loan: LentBytes? = nil
  ) throws(ErrorNumber) -> Int {
    let count = try content(of: inode).writePart(bytes, at: offset, lent: loan)
    touchContent(inode)
    return count
  }

  /// Writes all bytes.
  package func write(_ bytes: [UInt8], at offset: UInt64, to inode: Inode) throws(ErrorNumber) {
    try content(of: inode).write(bytes, at: offset)
    touchContent(inode)
  }

  /// Copies the lent bytes of all files: a recording may then free them.
  package func settle() { for inode in inodes.values { inode.content?.settle() } }

  /// Truncates; returns the previous size.
  package func truncate(_ inode: Inode, to sizeBytes: UInt64) throws(ErrorNumber) -> UInt64 {
    let content = try content(of: inode)
    let oldSizeBytes = content.sizeBytes
    try content.truncate(to: sizeBytes)
    touchContent(inode)
    return oldSizeBytes
  }

  /// fallocate; returns whether the range now reads as zeros.
  package func allocate(
    _ inode: Inode, at offset: UInt64, count: UInt64, mode: AllocationMode
  ) throws(ErrorNumber) -> Bool {
    let content = try content(of: inode)
    guard count > 0 else { throw ErrorNumber(EINVAL) }
    let (end, overflow) = offset.addingReportingOverflow(count)
    if overflow || end > FileContent.limitBytes { throw ErrorNumber(EFBIG) }
    let keepsSize = mode.contains(.keepSize)
    switch mode.subtracting(.keepSize) {
    case []:
      try content.allocate(offset, count)
    case .punchHole:
      guard keepsSize else { throw ErrorNumber(EOPNOTSUPP) }
      content.punch(offset, count)
    case .zeroRange:
      content.punch(offset, count)
      try content.allocate(offset, count)
    default:
      throw ErrorNumber(EOPNOTSUPP)
    }
    if !keepsSize, end > content.sizeBytes { try content.truncate(to: end) }
    touchContent(inode)
    return mode.contains(.punchHole) || mode.contains(.zeroRange)
  }

  private func touchContent(_ inode: Inode) {
    let time = now()
    inode.modificationTime = time
    inode.changeTime = time
  }

  private static let daySeconds: Int64 = 86400

  /// Notes a read as mounts with relatime, the usual option, do (mount(8)).
  package func noteAccess(to inode: Inode) {
    let time = now()
    let last = inode.accessTime
    if last.isAfter(inode.modificationTime), last.isAfter(inode.changeTime),
      time.seconds - last.seconds < Self.daySeconds
    {
      return
    }
    inode.accessTime = time
  }

  /// The mode that Linux sets when a caller without CAP_FSETID writes to a file, and for any file
  /// that gets a new owner; nil when there is nothing to clear.
  package func modeWithoutPrivileges(_ inode: Inode) -> UInt32? {
    guard !inode.isDirectory else { return nil }
    var mode = inode.ownership.mode & ~0o4000
    if mode & 0o010 != 0 { mode &= ~0o2000 }
    return mode == inode.ownership.mode ? nil : mode
  }

  package func setOwnership(_ ownership: Ownership, of inode: Inode) {
    inode.ownership = ownership
    inode.ownership.mode &= 0o7777
    inode.changeTime = now()
  }

  // MARK: Times

  /// utimensat's argument for one of the two times.
  package enum TimeChange: Sendable {
    case unchanged, now
    case chosen(Timestamp)
  }

  /// utimensat.
  package func setTimes(
    of inode: Inode, access: TimeChange, modification: TimeChange
  ) {
    let now = self.now()
    switch access {
    case .unchanged: break
    case .now: inode.accessTime = now
    case .chosen(let time): inode.accessTime = time
    }
    switch modification {
    case .unchanged: break
    case .now:
      inode.modificationTime = now
      inode.lastChosenTime = nil
    case .chosen(let time): inode.adopt(chosenTime: time)
    }
    inode.changeTime = now
  }

  // MARK: Extended attributes

  static let attributeBytesMax = 65536

  private static func check(attribute name: FileName) throws(ErrorNumber) {
    if name.bytes.count > nameBytesMax { throw ErrorNumber(ERANGE) }
    let known = ["user.", "trusted.", "security."].contains {
      name.bytes.starts(with: $0.utf8) && name.bytes.count > $0.utf8.count
    }
    // Of `system.` only the access lists, which the kernel enforces.
    if !known, !name.isAccessList { throw ErrorNumber(EOPNOTSUPP) }
  }

  package static let createAttribute: Int32 = 1
  static let replaceAttribute: Int32 = 2

  package func setExtendedAttribute(
    _ name: FileName, _ value: [UInt8], of inode: Inode, flags: Int32
  ) throws(ErrorNumber) {
    try Self.check(attribute: name)
    if value.count > Self.attributeBytesMax { throw ErrorNumber(E2BIG) }
    let old = inode.extendedAttributes[name]
    if flags & Self.createAttribute != 0, old != nil { throw ErrorNumber(EEXIST) }
    if flags & Self.replaceAttribute != 0, old == nil { throw ErrorNumber(ENODATA) }
    guard quota.reserve(name.bytes.count + value.count) else { throw ErrorNumber(ENOSPC) }
    if let old { quota.release(name.bytes.count + old.count) }
    inode.extendedAttributes[name] = value
    inode.changeTime = now()
  }

  package func extendedAttribute(_ name: FileName, of inode: Inode) throws(ErrorNumber) -> [UInt8] {
    try Self.check(attribute: name)
    guard let value = inode.extendedAttributes[name] else { throw ErrorNumber(ENODATA) }
    return value
  }

  package func removeExtendedAttribute(_ name: FileName, of inode: Inode) throws(ErrorNumber) {
    try Self.check(attribute: name)
    guard let old = inode.extendedAttributes.removeValue(forKey: name) else {
      throw ErrorNumber(ENODATA)
    }
    quota.release(name.bytes.count + old.count)
    inode.changeTime = now()
  }
}

extension Timestamp {
  fileprivate func isAfter(_ other: Timestamp) -> Bool {
    (seconds, nanoseconds) > (other.seconds, other.nanoseconds)
  }
}
