// Operation.swift [U]: a program's operations on the file system, as recorded and replayed.
// Invariants: an operation is recorded when it takes effect and before its caller gets the answer,
// so the trace's order is one that every client could have observed. Reads are not recorded. A
// failed operation changed nothing and is not recorded, except for failed syncs (`.failed`).
// Safety: the bytes of a name are read while the name is retained.

import LabCore

/// Number of an inode of the faulty file system; the root directory is 1.
public struct InodeNumber: RawRepresentable, Hashable, Comparable, Sendable,
  CustomStringConvertible
{
  /// The number as `stat` shows it.
  public let rawValue: UInt64

  /// Makes an inode number.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The root directory.
  public static let root = InodeNumber(rawValue: 1)

  /// Orders by number, that is by creation.
  public static func < (a: InodeNumber, b: InodeNumber) -> Bool { a.rawValue < b.rawValue }

  /// For example `#7`.
  public var description: String { "#\(rawValue)" }
}

/// A name in a directory: its bytes are kept as they are, valid UTF-8 or not.
public struct FileName: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The bytes without a terminating NUL; never empty, no `/`.
  public let bytes: [UInt8]

  /// Makes a name from bytes.
  public init(bytes: [UInt8]) { self.bytes = bytes }
  /// Makes a name from text.
  public init(_ text: String) { self.init(bytes: Array(text.utf8)) }

  /// Hashes all bytes in one call, which is faster than one by one.
  public func hash(into hasher: inout Hasher) {
    unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
  }

  /// Orders by bytes.
  public static func < (a: FileName, b: FileName) -> Bool {
    a.bytes.lexicographicallyPrecedes(b.bytes)
  }

  /// The name as text; invalid UTF-8 is replaced.
  public var description: String { String(decoding: bytes, as: UTF8.self) }
}

/// Kind of an inode.
public enum FileType: UInt8, Sendable, Hashable {
  case regular = 0
  case directory, symbolicLink, fifo, socket, characterDevice, blockDevice
}

/// Owner and permissions of an inode.
public struct Ownership: Hashable, Sendable {
  /// Permission bits, including set-uid, set-gid and sticky (0o7777).
  public var mode: UInt32
  /// User.
  public var user: UInt32
  /// Group.
  public var group: UInt32

  /// Makes an ownership.
  public init(mode: UInt32, user: UInt32 = 0, group: UInt32 = 0) {
    self.mode = mode
    self.user = user
    self.group = group
  }
}

/// One change of the file system, or one sync.
public enum Operation: Sendable, Hashable {
  /// A new inode and its first name: open(O_CREAT), mknod, mkdir, symlink.
  /// `target` is a symbolic link's text; `device` a device's number.
  case create(
    inode: InodeNumber, parent: InodeNumber, name: FileName, type: FileType,
    ownership: Ownership, target: [UInt8] = [], device: UInt64 = 0)
  /// A new regular file without a name: open(O_TMPFILE).
  ///
  /// It is gone after a crash unless a link gave it a name that persists.
  case createNameless(inode: InodeNumber, ownership: Ownership)
  /// Another name for an inode.
  case link(inode: InodeNumber, parent: InodeNumber, name: FileName)
  /// unlink or rmdir.
  case remove(inode: InodeNumber, parent: InodeNumber, name: FileName, isDirectory: Bool)
  /// rename; `replaced` is the inode that lost the new name.
  case rename(
    inode: InodeNumber, from: InodeNumber, name: FileName, to: InodeNumber, newName: FileName,
    replaced: InodeNumber?)
  /// renameat2(RENAME_WHITEOUT): a rename, and `whiteout`, a new character device 0:0, takes the
  /// old name.
  // Indirect: it is rare, and would otherwise make every operation of a trace larger.
  indirect case renameWithWhiteout(
    inode: InodeNumber, from: InodeNumber, name: FileName, to: InodeNumber, newName: FileName,
    replaced: InodeNumber?, whiteout: InodeNumber, ownership: Ownership)
  /// renameat2(RENAME_EXCHANGE).
  case exchange(
    inode: InodeNumber, parent: InodeNumber, name: FileName, otherInode: InodeNumber,
    otherParent: InodeNumber, otherName: FileName)
  /// Overwrites bytes; the size becomes at least offset + count.
  case write(inode: InodeNumber, offsetBytes: UInt64, payload: Payload)
  /// truncate, ftruncate, or O_TRUNC of an open.
  case truncate(inode: InodeNumber, oldSizeBytes: UInt64, newSizeBytes: UInt64)
  /// fallocate. `newSizeBytes` is the size afterwards; the range reads as zeros when `zeroes` is
  /// true (FALLOC_FL_PUNCH_HOLE, FALLOC_FL_ZERO_RANGE), else its content stays.
  case allocate(
    inode: InodeNumber, offsetBytes: UInt64, countBytes: UInt64, zeroes: Bool,
    oldSizeBytes: UInt64, newSizeBytes: UInt64)
  /// chmod, chown.
  case setOwnership(inode: InodeNumber, ownership: Ownership)
  /// setxattr; nil removes.
  case setExtendedAttribute(inode: InodeNumber, name: FileName, value: [UInt8]?)
  /// utimensat with a time that the caller chose, or after one.
  ///
  /// `modification` is the chosen modification time that the inode has afterwards, nil if its time
  /// is that of a change; `access` a chosen access time, which no tree has: reads change it, and
  /// reads are not recorded.
  indirect case setTimes(inode: InodeNumber, modification: Timestamp?, access: Timestamp?)
  /// fsync, fdatasync (`dataOnly`), msync(MS_SYNC), a write through O_SYNC or O_DSYNC.
  case sync(inode: InodeNumber, dataOnly: Bool)
  /// fsync of a directory.
  case syncDirectory(inode: InodeNumber)
  /// sync, syncfs: covers all earlier changes, of every file and directory.
  ///
  /// `late`: this many events before it happened while it waited; of these it covers only
  /// write-back by the kernel.
  case syncAll(late: Int)
  /// The last writable descriptor of an open file was closed.
  case close(inode: InodeNumber)
}

extension Operation {
  /// Inodes whose modification time the operation sets to the current time.
  package var stampedInodes: [InodeNumber] {
    switch self {
    case .create(_, let parent, _, _, _, _, _), .link(_, let parent, _),
      .remove(_, let parent, _, _):
      [parent]
    case .rename(_, let from, _, let to, _, _),
      .renameWithWhiteout(_, let from, _, let to, _, _, _, _):
      from == to ? [from] : [from, to]
    case .exchange(_, let parent, _, _, let other, _): parent == other ? [parent] : [parent, other]
    case .write(let inode, _, let payload): payload.countBytes > 0 ? [inode] : []
    case .truncate(let inode, let old, let new): old == new ? [] : [inode]
    case .allocate(let inode, _, _, _, _, _): [inode]
    case .createNameless, .setOwnership, .setExtendedAttribute, .setTimes, .sync, .syncDirectory,
      .syncAll, .close:
      []
    }
  }
}

/// Bytes of a write, shared and never changed.
public final class Payload: Sendable, Hashable {
  private enum Content {
    case bytes([UInt8])
    case stored(PayloadStore, PayloadStore.Place)
  }

  private let content: Content

  /// No bytes.
  static let empty = Payload([])

  /// Wraps bytes.
  public init(_ bytes: [UInt8]) { content = .bytes(bytes) }

  /// Wraps bytes of a recording that is too large for one array per write.
  init(_ store: PayloadStore, _ place: PayloadStore.Place) { content = .stored(store, place) }

  /// The bytes.
  /// - Complexity: O(1); O(bytes), and perhaps a read of a file, in a recording of more than
  ///   `PayloadStore.memoryBytesMax`.
  public var bytes: [UInt8] {
    switch content {
    case .bytes(let bytes): bytes
    case .stored(let store, let place): store.bytes(at: place)
    }
  }

  /// Calls a closure with the bytes, without copying those that are in memory.
  ///
  /// The pointer must not leave the closure.
  /// - Complexity: O(1), and perhaps a read of a file.
  package func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
    switch content {
    case .bytes(let bytes): unsafe bytes.withUnsafeBytes(body)
    case .stored(let store, let place):
      if let lent = store.memory(of: place) {
        unsafe body(UnsafeRawBufferPointer(start: lent.start, count: place.countBytes))
        extendLifetime(lent)
      } else {
        unsafe store.bytes(at: place).withUnsafeBytes(body)
      }
    }
  }

  /// Number of bytes.
  public var countBytes: Int {
    switch content {
    case .bytes(let bytes): bytes.count
    case .stored(_, let place): place.countBytes
    }
  }

  /// True when the bytes are the same.
  public static func == (a: Payload, b: Payload) -> Bool {
    a === b || a.countBytes == b.countBytes && a.bytes == b.bytes
  }
  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
