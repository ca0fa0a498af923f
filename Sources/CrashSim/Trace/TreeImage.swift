// TreeImage.swift: a whole file tree as a value: what a recording starts from and a crash leaves.
// Invariants: the root exists and is a directory; every entry names an inode of the image; extents
// are sorted, do not touch or overlap, are not empty, and lie inside the file's size; all else
// reads as zeros.

/// A run of bytes in a file.
public struct Extent: Hashable, Sendable {
  /// Position in the file.
  public var offsetBytes: UInt64
  /// The bytes.
  public var bytes: [UInt8]

  /// Makes an extent.
  public init(offsetBytes: UInt64, bytes: [UInt8]) {
    self.offsetBytes = offsetBytes
    self.bytes = bytes
  }
}

/// One inode with its content.
public struct InodeImage: Hashable, Sendable {
  /// Kind.
  public var type: FileType
  /// Owner and permissions.
  public var ownership: Ownership
  /// Extended attributes.
  public var extendedAttributes: [FileName: [UInt8]] = [:]
  /// A regular file's size.
  public var sizeBytes: UInt64 = 0
  /// A regular file's content; what lies between reads as zeros.
  public var extents: [Extent] = []
  /// A directory's entries, without `.` and `..`.
  public var entries: [FileName: InodeNumber] = [:]
  /// A symbolic link's text.
  public var target: [UInt8] = []
  /// A device's number.
  public var device: UInt64 = 0

  /// Makes an empty inode.
  public init(type: FileType, ownership: Ownership) {
    self.type = type
    self.ownership = ownership
  }
}

/// A file tree.
public struct TreeImage: Hashable, Sendable {
  /// All inodes by number.
  public var inodes: [InodeNumber: InodeImage]

  /// A tree with nothing but a root directory.
  public init() {
    inodes = [.root: InodeImage(type: .directory, ownership: Ownership(mode: 0o755))]
  }

  /// The smallest number above all inodes of the tree.
  public var nextInode: InodeNumber {
    InodeNumber(rawValue: (inodes.keys.map(\.rawValue).max() ?? 1) + 1)
  }
}
