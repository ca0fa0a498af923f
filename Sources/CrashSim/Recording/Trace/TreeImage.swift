// TreeImage.swift: a whole file tree as a value: the start of a recording, or the result of a
// crash.
// Invariants: the root exists and is a directory; every entry refers to an inode of the image;
// extents are sorted, do not overlap, are not empty, lie inside the file's size, and none crosses a
// multiple of `Extent.blockBytes`; everything else reads as zeros.

import LabCore

/// A run of bytes in a file, inside one block of it.
///
/// Trees share the bytes of equal blocks, and those of a large tree are in a file.
public struct Extent: Hashable, Sendable {
  /// No extent crosses a multiple of this, so that a small change in a large file copies little.
  public static let blockBytes: UInt64 = 1 << 20

  /// Position in the file.
  public var offsetBytes: UInt64
  /// The bytes, shared between trees.
  package private(set) var payload: Payload

  /// Makes an extent; for a long run of bytes, `pieces(of:at:)` makes several.
  public init(offsetBytes: UInt64, bytes: [UInt8]) {
    self.init(offsetBytes: offsetBytes, payload: Payload(bytes))
  }

  package init(offsetBytes: UInt64, payload: Payload) {
    self.offsetBytes = offsetBytes
    self.payload = payload
  }

  /// Extents that hold the bytes from a position on, one per block.
  public static func pieces(of bytes: [UInt8], at offsetBytes: UInt64) -> [Extent] {
    parts(of: offsetBytes..<offsetBytes + UInt64(bytes.count)).map { range in
      let part = Int(range.lowerBound - offsetBytes)..<Int(range.upperBound - offsetBytes)
      return Extent(
        offsetBytes: range.lowerBound,
        bytes: part.count == bytes.count ? bytes : Array(bytes[part]))
    }
  }

  /// A range cut at block boundaries.
  static func parts(of range: Range<UInt64>) -> [Range<UInt64>] {
    var parts: [Range<UInt64>] = []
    var start = range.lowerBound
    while start < range.upperBound {
      let end = min(range.upperBound, (start / blockBytes + 1) * blockBytes)
      parts.append(start..<end)
      start = end
    }
    return parts
  }

  /// The bytes.
  /// - Complexity: O(1); O(bytes), and a read of a file, in a large tree. A change copies them once
  ///   if another tree shares them.
  public var bytes: [UInt8] {
    get { payload.bytes }
    _modify {
      var bytes = payload.bytes
      // While it is changed, the array has a single owner.
      payload = Payload.empty
      defer { payload = Payload(bytes) }
      yield &bytes
    }
  }

  /// Number of bytes.
  public var countBytes: Int { payload.countBytes }

  /// First position after the extent.
  package var endBytes: UInt64 { offsetBytes + UInt64(countBytes) }
}

/// Joins bytes, given in file order, into the extents of one file.
struct ExtentBuilder {
  /// First position after the given bytes.
  private(set) var endBytes: UInt64 = 0
  private var extents: [Extent] = []
  private var run: [UInt8] = []
  private let store: PayloadStore?

  /// Starts a file with its bytes in a store; without one, in memory.
  init(in store: PayloadStore? = nil) { self.store = store }

  /// Adds bytes at or after `endBytes`.
  mutating func append(_ bytes: some RandomAccessCollection<UInt8>, at offset: UInt64) {
    var rest = bytes[...]
    for part in Extent.parts(of: offset..<offset + UInt64(bytes.count)) {
      if part.lowerBound != endBytes || part.lowerBound % Extent.blockBytes == 0 { endRun() }
      run += rest.prefix(part.count)
      rest = rest.dropFirst(part.count)
      endBytes = part.upperBound
    }
  }

  /// Ends the file; later bytes belong to the next one.
  mutating func finish() -> [Extent] {
    endRun()
    endBytes = 0
    defer { extents = [] }
    return extents
  }

  private mutating func endRun() {
    if run.isEmpty { return }
    let payload = store?.payload(run) ?? Payload(run)
    extents.append(Extent(offsetBytes: endBytes - UInt64(run.count), payload: payload))
    run = []
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
  /// A regular file's content; gaps read as zeros.
  public var extents: [Extent] = []
  /// A directory's entries, without `.` and `..`.
  public var entries: [FileName: InodeNumber] = [:]
  /// A symbolic link's text.
  public var target: [UInt8] = []
  /// A device's number.
  public var device: UInt64 = 0
  /// The modification time, if a program chose it (utimensat) and nothing has changed it since;
  /// nil for the time of a change, which no tree has.
  public var modificationTime: Timestamp?

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

  /// A tree with only a root directory.
  public init() {
    inodes = [.root: InodeImage(type: .directory, ownership: Ownership(mode: 0o755))]
  }

  /// Bytes of all extents.
  package var contentBytes: Int {
    inodes.values.reduce(0) { $1.extents.reduce($0) { $0 + $1.countBytes } }
  }

  /// The smallest number above all inode numbers of the tree.
  public var nextInode: InodeNumber {
    InodeNumber(rawValue: (inodes.keys.map(\.rawValue).max() ?? 1) + 1)
  }
}
