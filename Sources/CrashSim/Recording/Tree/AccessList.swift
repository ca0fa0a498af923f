// AccessList.swift: a POSIX access control list (acl(5)) as stored in extended attributes, and its
// relation to a file's mode. The kernel enforces it; here it is kept, inherited, and changed by
// chmod, as in the file systems of Linux.
//   offset_bytes  size  field, little-endian
//              0     4  version: 2
//      4 + 8 * n     2  tag of entry n
//      6 + 8 * n     2  its permissions, 0 to 7
//      8 + 8 * n     4  user or group, of a named one
// Invariant: tags ascend; each of the mode's three occurs once, and a mask if a user or group is
// named.

import Glibc
import LabCore

/// A POSIX access control list.
struct AccessList: Equatable {
  enum Tag: UInt16 {
    case owner = 1
    case user = 2
    case group = 4
    case namedGroup = 8
    case mask = 16
    case other = 32

    var isNamed: Bool { self == .user || self == .namedGroup }
  }

  struct Entry: Equatable {
    let tag: Tag
    var permissions: UInt32
    let id: UInt32
  }

  private static let version: UInt32 = 2
  private static let headerBytes = 4
  private static let entryBytes = 8

  private(set) var entries: [Entry] = []

  /// Reads a list.
  /// - Throws: `EOPNOTSUPP` for another version, `EINVAL` for an invalid list.
  init(_ bytes: [UInt8]) throws(ErrorNumber) {
    func number(at offset: Int, count: Int) -> UInt32 {
      (0..<count).reduce(0) { $0 | UInt32(bytes[offset + $1]) << UInt32(8 * $1) }
    }
    guard bytes.count >= Self.headerBytes,
      (bytes.count - Self.headerBytes).isMultiple(of: Self.entryBytes)
    else { throw ErrorNumber(EINVAL) }
    guard number(at: 0, count: 4) == Self.version else { throw ErrorNumber(EOPNOTSUPP) }
    for start in stride(from: Self.headerBytes, to: bytes.count, by: Self.entryBytes) {
      guard let tag = Tag(rawValue: UInt16(number(at: start, count: 2))) else {
        throw ErrorNumber(EINVAL)
      }
      let permissions = number(at: start + 2, count: 2)
      if permissions > 7 { throw ErrorNumber(EINVAL) }
      let id = number(at: start + 4, count: 4)
      entries.append(Entry(tag: tag, permissions: permissions, id: tag.isNamed ? id : .max))
    }
    guard isValid else { throw ErrorNumber(EINVAL) }
  }

  private var isValid: Bool {
    func count(_ tag: Tag) -> Int { entries.count { $0.tag == tag } }
    let isOrdered = zip(entries, entries.dropFirst()).allSatisfy {
      $0.tag.rawValue <= $1.tag.rawValue
    }
    let namesAnybody = entries.contains { $0.tag.isNamed }
    return isOrdered && count(.owner) == 1 && count(.group) == 1 && count(.other) == 1
      && count(.mask) <= 1 && (!namesAnybody || count(.mask) == 1)
  }

  /// The list as stored in the attribute.
  var bytes: [UInt8] {
    func bytes(_ number: UInt32, count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt32(8 * $0)) }
    }
    return bytes(Self.version, count: 4)
      + entries.flatMap {
        bytes(UInt32($0.tag.rawValue), count: 2) + bytes($0.permissions, count: 2)
          + bytes($0.id, count: 4)
      }
  }

  /// True when the list is equivalent to a mode.
  var isMode: Bool { entries.allSatisfy { !$0.tag.isNamed && $0.tag != .mask } }

  /// Owner, group or mask, and others, as the nine bits of a mode.
  var mode: UInt32 {
    let group = entries.contains { $0.tag == .mask } ? Tag.mask : .group
    return entries.reduce(0) { mode, entry in
      switch entry.tag {
      case .owner: mode | entry.permissions << 6
      case group: mode | entry.permissions << 3
      case .other: mode | entry.permissions
      default: mode
      }
    }
  }

  /// Applies chmod to the list; only the nine permission bits of the mode count.
  mutating func setMode(_ mode: UInt32) {
    let group = entries.contains { $0.tag == .mask } ? Tag.mask : .group
    for index in entries.indices {
      switch entries[index].tag {
      case .owner: entries[index].permissions = mode >> 6 & 7
      case group: entries[index].permissions = mode >> 3 & 7
      case .other: entries[index].permissions = mode & 7
      default: break
      }
    }
  }

  /// The list that an object created with a mode inherits from this default list: at most the mode.
  func inherited(mode: UInt32) -> AccessList {
    var list = self
    list.setMode(self.mode & mode)
    return list
  }
}

extension FileName {
  /// The attribute with the list that decides on access.
  package static let accessList = FileName("system.posix_acl_access")
  /// The attribute of a directory with the default list for new objects in it.
  package static let defaultAccessList = FileName("system.posix_acl_default")

  /// True for the attributes that hold access lists.
  package var isAccessList: Bool { self == .accessList || self == .defaultAccessList }
}

extension FileTree {
  /// The attributes of a new object in a folder: the folder's group if the folder's set-gid bit is
  /// set, and permissions by its default list, or otherwise by the caller's umask.
  func inherit(
    from parent: Inode, _ type: FileType, _ ownership: Ownership, umask: UInt32
  ) throws(ErrorNumber) -> (ownership: Ownership, attributes: [FileName: [UInt8]]) {
    var ownership = ownership
    if parent.ownership.mode & 0o2000 != 0 {
      ownership.group = parent.ownership.group
      if type == .directory { ownership.mode |= 0o2000 }
    }
    if type == .symbolicLink { return (ownership, [:]) }
    guard !parent.extendedAttributes.isEmpty,
      let bytes = parent.extendedAttributes[.defaultAccessList]
    else {
      ownership.mode &= ~(umask & 0o777)
      return (ownership, [:])
    }
    let list = try AccessList(bytes).inherited(mode: ownership.mode)
    ownership.mode = ownership.mode & ~0o777 | list.mode
    var attributes: [FileName: [UInt8]] = [:]
    if !list.isMode { attributes[.accessList] = list.bytes }
    if type == .directory { attributes[.defaultAccessList] = bytes }
    return (ownership, attributes)
  }

  /// An inode's access list adapted to another mode; nil when it has none.
  package func accessList(of inode: Inode, withMode mode: UInt32) throws(ErrorNumber) -> [UInt8]? {
    guard !inode.extendedAttributes.isEmpty,
      let bytes = inode.extendedAttributes[.accessList]
    else { return nil }
    var list = try AccessList(bytes)
    list.setMode(mode)
    return list.bytes
  }

  /// The effect of an access list on an inode: the matching mode, and the attribute, which is nil
  /// when the mode is equivalent.
  ///
  /// `clearsSetGroup`: the caller may not keep set-gid for the file's group: the bit is cleared.
  package func reading(
    accessList bytes: [UInt8], for inode: Inode, clearsSetGroup: Bool
  ) throws(ErrorNumber) -> (mode: UInt32, attribute: [UInt8]?) {
    let list = try AccessList(bytes)
    var mode = inode.ownership.mode & ~0o777 | list.mode
    if clearsSetGroup { mode &= ~0o2000 }
    return (mode, list.isMode ? nil : list.bytes)
  }

  /// Rejects an invalid default list, and one for anything but a directory.
  package func check(defaultList bytes: [UInt8], for inode: Inode) throws(ErrorNumber) {
    guard inode.isDirectory else { throw ErrorNumber(EACCES) }
    _ = try AccessList(bytes)
  }
}
