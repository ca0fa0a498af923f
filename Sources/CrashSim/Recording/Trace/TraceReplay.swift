// TraceReplay.swift: applies the operations of a trace to a tree, without a file system.
// A trace is complete when replaying it over its initial tree gives the final tree of the file
// system (after `normalized`); the tests of FaultFS check that for real programs.

extension Operation {
  /// The inode that the operation affects; the root for a sync of everything.
  public var inode: InodeNumber {
    switch self {
    case .create(let inode, parent: _, name: _, type: _, ownership: _, target: _, device: _):
      inode
    case .createNameless(let inode, ownership: _): inode
    case .link(let inode, parent: _, name: _): inode
    case .remove(let inode, parent: _, name: _, isDirectory: _): inode
    case .rename(let inode, from: _, name: _, to: _, newName: _, replaced: _): inode
    case .renameWithWhiteout(let inode, _, _, _, _, _, _, _): inode
    case .exchange(let inode, _, _, _, _, _): inode
    case .write(let inode, offsetBytes: _, payload: _): inode
    case .truncate(let inode, oldSizeBytes: _, newSizeBytes: _): inode
    case .allocate(let inode, _, _, _, _, _): inode
    case .setOwnership(let inode, ownership: _): inode
    case .setExtendedAttribute(let inode, name: _, value: _): inode
    case .setTimes(let inode, modification: _, access: _): inode
    case .sync(let inode, dataOnly: _): inode
    case .syncDirectory(let inode): inode
    case .syncAll: .root
    case .close(let inode): inode
    }
  }

  /// True for operations that make earlier changes durable and change nothing.
  package var isSync: Bool {
    switch self {
    case .sync, .syncDirectory, .syncAll: true
    default: false
    }
  }

  /// True for sync and syncfs.
  package var isSyncOfAll: Bool { if case .syncAll = self { true } else { false } }

  /// The operation's name in trace files and reports.
  public var word: String {
    switch self {
    case .create: "create"
    case .createNameless: "createNameless"
    case .link: "link"
    case .remove(inode: _, parent: _, name: _, let isDirectory): isDirectory ? "rmdir" : "unlink"
    case .rename: "rename"
    case .renameWithWhiteout: "renameWithWhiteout"
    case .exchange: "exchange"
    case .write: "write"
    case .truncate: "truncate"
    case .allocate(inode: _, _, _, let zeroes, _, _): zeroes ? "zero" : "allocate"
    case .setOwnership: "setOwnership"
    case .setExtendedAttribute(inode: _, name: _, let value):
      value == nil ? "removeExtendedAttribute" : "setExtendedAttribute"
    case .setTimes: "setTimes"
    case .sync(inode: _, let dataOnly): dataOnly ? "datasync" : "sync"
    case .syncDirectory: "syncDirectory"
    case .syncAll: "syncAll"
    case .close: "close"
    }
  }
}

extension TreeImage {
  /// Applies the operation to the tree.
  ///
  /// An inode that loses its last name stays in `inodes` (it may be open); see `removeUnreachable`.
  /// An operation on an inode that is not in the tree does nothing.
  /// - Complexity: O(extents of the file); O(payload) for a write inside or after one extent.
  public mutating func apply(_ operation: Operation) {
    switch operation {
    case .create(let inode, let parent, let name, let type, let ownership, let target, let device):
      guard inodes[parent] != nil else { return }
      var image = InodeImage(type: type, ownership: ownership)
      image.target = target
      image.device = device
      inodes[inode] = image
      inodes[parent]?.entries[name] = inode
    case .createNameless(let inode, let ownership):
      inodes[inode] = InodeImage(type: .regular, ownership: ownership)
    case .link(let inode, let parent, let name):
      guard inodes[inode] != nil else { return }
      inodes[parent]?.entries[name] = inode
    case .remove(inode: _, let parent, let name, isDirectory: _):
      inodes[parent]?.entries[name] = nil
    case .rename(let inode, let from, let name, let to, let newName, replaced: _):
      guard inodes[inode] != nil else { return }
      inodes[from]?.entries[name] = nil
      inodes[to]?.entries[newName] = inode
    case .renameWithWhiteout(
      let inode, let from, let name, let to, let newName, replaced: _, let device, let ownership):
      guard inodes[inode] != nil else { return }
      inodes[device] = InodeImage(type: .characterDevice, ownership: ownership)
      inodes[from]?.entries[name] = device
      inodes[to]?.entries[newName] = inode
    case .exchange(let inode, let parent, let name, let other, let otherParent, let otherName):
      guard inodes[inode] != nil, inodes[other] != nil else { return }
      inodes[parent]?.entries[name] = other
      inodes[otherParent]?.entries[otherName] = inode
    case .write(let inode, let offset, let payload):
      inodes[inode]?.write(payload.bytes, at: offset)
    case .truncate(let inode, oldSizeBytes: _, let newSizeBytes):
      inodes[inode]?.truncate(to: newSizeBytes)
    case .allocate(let inode, let offset, let count, let zeroes, oldSizeBytes: _, let newSize):
      if zeroes { inodes[inode]?.zero(from: offset, to: offset + count) }
      inodes[inode]?.truncate(to: newSize)
    case .setOwnership(let inode, let ownership): inodes[inode]?.ownership = ownership
    case .setExtendedAttribute(let inode, let name, let value):
      inodes[inode]?.extendedAttributes[name] = value
    case .setTimes(let inode, let time, access: _): inodes[inode]?.modificationTime = time
    case .sync, .syncDirectory, .syncAll, .close: break
    }
    for stamped in operation.stampedInodes { inodes[stamped]?.modificationTime = nil }
  }

  /// Removes the inodes that no path from the root leads to.
  public mutating func removeUnreachable() {
    var reached: Set<InodeNumber> = [.root]
    var waiting: [InodeNumber] = [.root]
    while let number = waiting.popLast() {
      for child in (inodes[number]?.entries ?? [:]).values where reached.insert(child).inserted {
        waiting.append(child)
      }
    }
    inodes = inodes.filter { reached.contains($0.key) }
  }

  /// The same tree with each file's content as maximal runs of 4 KiB pages that are not all zero,
  /// cut where an extent must end, so that trees with the same content are equal.
  public func normalized() -> TreeImage {
    var copy = self
    for (number, inode) in inodes where !inode.extents.isEmpty {
      copy.inodes[number]?.extents = inode.normalizedExtents()
    }
    return copy
  }
}

extension InodeImage {
  /// Overwrites bytes; the size becomes at least their end.
  public mutating func write(_ bytes: [UInt8], at offset: UInt64) {
    if bytes.isEmpty { return }
    sizeBytes = max(sizeBytes, offset + UInt64(bytes.count))
    for piece in Extent.pieces(of: bytes, at: offset) { put(piece) }
  }

  /// Inserts an extent, joined with those of its block that it overlaps or touches.
  private mutating func put(_ piece: Extent) {
    let offset = piece.offsetBytes
    let end = piece.endBytes
    let block = offset / Extent.blockBytes * Extent.blockBytes
    var first = firstExtent(endingFrom: offset)
    while first < extents.count, extents[first].endBytes <= block { first += 1 }
    // An extent that begins at the next block does not touch.
    let stop = min(end, block + Extent.blockBytes - 1)
    guard first < extents.count, extents[first].offsetBytes <= stop else {
      extents.insert(piece, at: first)
      return
    }
    let start = extents[first].offsetBytes
    let last = lastExtent(startingUpTo: stop, from: first)
    if start == offset, end >= extents[last].endBytes {
      extents.replaceSubrange(first...last, with: CollectionOfOne(piece))
      return
    }
    if start <= offset, last == first {
      let begin = Int(offset - start)
      let covered = min(extents[first].countBytes, begin + piece.countBytes)
      extents[first].bytes.replaceSubrange(begin..<covered, with: piece.bytes)
      return
    }
    // The bytes join several extents, or begin before the first one.
    var joined: [UInt8] = []
    if start < offset { joined += extents[first].bytes.prefix(Int(offset - start)) }
    joined += piece.bytes
    let lastEnd = extents[last].endBytes
    if lastEnd > end { joined += extents[last].bytes.suffix(Int(lastEnd - end)) }
    extents.replaceSubrange(
      first...last,
      with: CollectionOfOne(Extent(offsetBytes: min(start, offset), bytes: joined)))
  }

  /// Cuts the content, or extends the file with zeros.
  public mutating func truncate(to newSizeBytes: UInt64) {
    if newSizeBytes < sizeBytes { zero(from: newSizeBytes, to: sizeBytes) }
    sizeBytes = newSizeBytes
  }

  /// Makes a range read as zeros; the size stays.
  public mutating func zero(from lower: UInt64, to upper: UInt64) {
    var index = firstExtent(endingFrom: lower)
    while index < extents.count, extents[index].offsetBytes < upper {
      let extent = extents[index]
      var pieces: [Extent] = []
      if extent.offsetBytes < lower {
        let kept = Int(lower - extent.offsetBytes)
        pieces.append(
          Extent(offsetBytes: extent.offsetBytes, bytes: Array(extent.bytes.prefix(kept))))
      }
      if extent.endBytes > upper {
        let kept = Int(extent.endBytes - upper)
        pieces.append(Extent(offsetBytes: upper, bytes: Array(extent.bytes.suffix(kept))))
      }
      if extent.endBytes > lower { extents.replaceSubrange(index...index, with: pieces) }
      index += extent.endBytes > lower ? pieces.count : 1
    }
  }

  /// Index of the first extent that ends at or after a position.
  private func firstExtent(endingFrom position: UInt64) -> Int {
    var low = 0
    var high = extents.count
    while low < high {
      let middle = (low + high) / 2
      if extents[middle].endBytes < position { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func lastExtent(startingUpTo position: UInt64, from first: Int) -> Int {
    var last = first
    while last + 1 < extents.count, extents[last + 1].offsetBytes <= position { last += 1 }
    return last
  }

  fileprivate func normalizedExtents() -> [Extent] {
    let pageBytes: UInt64 = 4096
    var pages: [UInt64: [UInt8]] = [:]
    for extent in extents {
      let content = extent.bytes
      var position = extent.offsetBytes
      while position < extent.endBytes {
        let page = position / pageBytes
        let end = min((page + 1) * pageBytes, extent.endBytes)
        let size = Int(min(pageBytes, sizeBytes - page * pageBytes))
        let from = Int(position - extent.offsetBytes)
        let bytes = content[from..<from + Int(end - position)]
        if bytes.contains(where: { $0 != 0 }) {
          let at = Int(position % pageBytes)
          pages[page, default: [UInt8](repeating: 0, count: size)]
            .replaceSubrange(at..<at + bytes.count, with: bytes)
        }
        position = end
      }
    }
    var builder = ExtentBuilder()
    for (page, bytes) in pages.sorted(by: { $0.key < $1.key }) {
      builder.append(bytes, at: page * pageBytes)
    }
    return builder.finish()
  }
}
