// Piece.swift: what the reference of docs/explanation/crash-model.md makes of an operation: the
// pieces that can persist alone (section 1), and the tree that a set of them leaves.
// Nothing here is of Sources/CrashSim/CrashStates; the page is all there is.

import LabCore
import Recording

/// A piece of a change that persists as a whole or not at all.
struct Piece {
  enum Kind {
    /// A write's bytes in one block.
    case data
    /// A size that grew by a write.
    case growth
    /// A size that a truncate or an fallocate set outright.
    case size
    /// Zeros in a range: a hole, or the rest of a page that a truncate cut.
    case zeros
    case names
    case attributes
    /// A whole operation, where all are in one order.
    case whole
  }

  enum Change {
    case bytes(InodeNumber, at: UInt64, [UInt8])
    case size(InodeNumber, UInt64)
    case zeros(InodeNumber, Range<UInt64>)
    case name(in: InodeNumber, FileName, is: InodeNumber?)
    case owner(InodeNumber, Ownership)
    case attribute(InodeNumber, FileName, [UInt8]?)
    case time(InodeNumber, Timestamp?)

    /// The file that it changes; of a name, the directory.
    var inode: InodeNumber {
      switch self {
      case .bytes(let inode, _, _), .size(let inode, _), .zeros(let inode, _),
        .name(let inode, _, _), .owner(let inode, _), .attribute(let inode, _, _),
        .time(let inode, _):
        inode
      }
    }

    /// The bytes of the file that it changes.
    var range: Range<UInt64>? {
      switch self {
      case .bytes(_, let offset, let bytes): offset..<offset + UInt64(bytes.count)
      case .zeros(_, let range): range
      default: nil
      }
    }
  }

  let event: Int
  let kind: Kind
  var changes: [Change]
  /// Part of the one journal, where the model has one.
  var isJournaled = false
  /// Inodes of which a name comes or goes, and those that a rename replaces (X8).
  var named: Set<InodeNumber> = []
  /// Directories of which a name comes or goes (R4).
  var movedDirectories: Set<InodeNumber> = []
  /// The file's page has no block of the disk that a sync has covered: delayed allocation.
  var isInNewPage = false
  /// Part of a write that gave its file more bytes.
  var isOfGrowingWrite = false
  /// A size smaller than the file had.
  var isShrinking = false
  /// Pieces that it waits for by a rule of its own (X6).
  var waitsFor: Set<Int> = []

  var inodes: Set<InodeNumber> { Set(changes.map(\.inode)) }

  /// True for bytes or zeros of a file.
  func changesContent(of inode: InodeNumber) -> Bool {
    changes.contains { $0.range != nil && $0.inode == inode }
  }

  /// The first position whose bytes it changes.
  var startBytes: UInt64? { changes.lazy.compactMap(\.range).first?.lowerBound }

  /// The size that it sets.
  var newSize: UInt64? {
    for case .size(_, let size) in changes { return size }
    return nil
  }
}

/// A tree while pieces are applied to it in the order of their issue.
struct PieceTree {
  private var inodes: [InodeNumber: InodeImage]
  private var bytes: [InodeNumber: [UInt8]] = [:]

  init(initial: TreeImage, created: [InodeNumber: InodeImage]) {
    inodes = initial.inodes
    for (number, image) in initial.inodes where image.type == .regular {
      var content = [UInt8](repeating: 0, count: Int(image.sizeBytes))
      for extent in image.extents {
        let start = Int(extent.offsetBytes)
        content.replaceSubrange(start..<start + extent.bytes.count, with: extent.bytes)
      }
      bytes[number] = content
    }
    inodes.merge(created) { image, _ in image }
  }

  mutating func apply(_ piece: Piece) {
    for change in piece.changes {
      switch change {
      case .bytes(let inode, let offset, let new):
        // Beyond the size they cannot be seen before it has grown.
        var content = bytes[inode] ?? []
        let missing = Int(offset) + new.count - content.count
        if missing > 0 { content += [UInt8](repeating: 0, count: missing) }
        content.replaceSubrange(Int(offset)..<Int(offset) + new.count, with: new)
        bytes[inode] = content
      case .size(let inode, let size):
        inodes[inode]?.sizeBytes = size
        bytes[inode] = Array((bytes[inode] ?? []).prefix(Int(size)))
      case .zeros(let inode, let range):
        let end = min(Int(range.upperBound), bytes[inode]?.count ?? 0)
        for index in stride(from: Int(range.lowerBound), to: end, by: 1) {
          bytes[inode]?[index] = 0
        }
      case .name(let parent, let name, let inode): inodes[parent]?.entries[name] = inode
      case .owner(let inode, let ownership): inodes[inode]?.ownership = ownership
      case .attribute(let inode, let name, let value):
        inodes[inode]?.extendedAttributes[name] = value
      case .time(let inode, let time): inodes[inode]?.modificationTime = time
      }
    }
  }

  /// What can be seen: what no name leads to is lost.
  var visible: VisibleTree {
    var result = VisibleTree()
    var paths: [InodeNumber: Set<[UInt8]>] = [:]
    var open: [(path: [UInt8], number: InodeNumber)] = [([], .root)]
    while let (path, number) = open.popLast() {
      guard let inode = inodes[number] else { continue }
      let isRegular = inode.type == .regular
      var content = isRegular ? Array((bytes[number] ?? []).prefix(Int(inode.sizeBytes))) : []
      if isRegular {
        content += [UInt8](repeating: 0, count: Int(inode.sizeBytes) - content.count)
      }
      result.files[path] = VisibleTree.File(
        type: inode.type, ownership: inode.ownership, attributes: inode.extendedAttributes,
        modificationTime: inode.modificationTime,
        target: inode.target, sizeBytes: isRegular ? inode.sizeBytes : 0, bytes: content)
      paths[number, default: []].insert(path)
      for (name, child) in inode.entries { open.append((path + [47] + name.bytes, child)) }
    }
    result.linkGroups = Set(paths.values.filter { $0.count > 1 })
    return result
  }
}
