// MutantBase.swift: [U] an undamaged image with the information that a mutator needs: where the
// nodes of the newest version are and which of their bytes link to which. Nodes are found by their
// headers and links by their value, so this code need not know the kinds of nodes, and cannot miss
// one.

import Engine

/// A link to a node, inside another one.
struct MutantLink {
  let parent: Int
  /// Its offset in the image.
  let offset: Int
}

/// An image to be damaged.
struct MutantBase: Sendable {
  let name: String
  let bytes: [UInt8]
  let key: [UInt8]?
  /// Where nodes of the newest version start; none when they are encrypted.
  let nodes: [Int]
  /// By node, the links that lead to it.
  let parents: [Int: [MutantLink]]
  /// The end of the part that the newest version uses.
  let endBytes: Int

  init(name: String, bytes: [UInt8], key: [UInt8]? = nil) {
    self.name = name
    self.bytes = bytes
    self.key = key
    let slot = Layout.slotOffsetsBytes.max { Self.version(bytes, $0) < Self.version(bytes, $1) }
    let newest = slot ?? Layout.slotOffsetsBytes[0]
    endBytes = Int(min(UInt64(bytes.count), bytes.number(newest + SlotField.logicalSizeBytes)))
    guard key == nil else {
      (nodes, parents) = ([], [:])
      return
    }
    let all = Self.wholeNodes(bytes)
    // A file of another format has an invalid top ref, and no nodes.
    var found = [Int(truncatingIfNeeded: bytes.number(newest + SlotField.topRef))].filter {
      all.contains($0)
    }
    var parents: [Int: [MutantLink]] = [:]
    var next = 0
    while next < found.count {
      let parent = found[next]
      next += 1
      let end = parent + bytes.nodeSize(parent)
      for offset in parent + Layout.nodeHeaderBytes..<max(parent + 48, end - 15) {
        // Low bytes of a ref are 0, and most bytes are not the start of a link.
        guard bytes[offset] == 0, bytes[offset + 1] & 15 == 0 else { continue }
        let child = Int(truncatingIfNeeded: bytes.number(offset))
        guard child != parent, all.contains(child),
          bytes.number(offset + 8) == bytes.number(child)
        else { continue }
        if !found.contains(child) { found.append(child) }
        parents[child, default: []].append(MutantLink(parent: parent, offset: offset))
      }
    }
    nodes = found
    self.parents = parents
  }

  private static func version(_ bytes: [UInt8], _ slot: Int) -> UInt64 {
    bytes.number(slot + SlotField.version)
  }

  /// Every sector where a node starts whose checksum is right.
  private static func wholeNodes(_ bytes: [UInt8]) -> Set<Int> {
    var nodes: Set<Int> = []
    for start in stride(from: Layout.headerSizeBytes, to: bytes.count, by: 4096)
    where start + Layout.nodeHeaderBytes <= bytes.count {
      let size = bytes.nodeSize(start)
      guard bytes.number(start + NodeField.ref) == UInt64(start),
        size >= Layout.nodeHeaderBytes, size <= bytes.count - start,
        bytes.checksum(start + 8..<start + size) == bytes.number(start)
      else { continue }
      nodes.insert(start)
    }
    return nodes
  }

  /// Corrects the checksum of a node, then those in all nodes above it.
  func seal(_ image: inout [UInt8], _ node: Int) {
    guard node + Layout.nodeHeaderBytes <= image.count else { return }
    let size = min(max(image.nodeSize(node), Layout.nodeHeaderBytes), image.count - node)
    let sum = image.checksum(node + 8..<node + size)
    image.set(sum, at: node, 8)
    for link in parents[node] ?? [] {
      // A link that was changed leads elsewhere on purpose.
      guard link.offset + 16 <= image.count, image.number(link.offset) == UInt64(node) else {
        continue
      }
      image.set(sum, at: link.offset + 8, 8)
      seal(&image, link.parent)
    }
    for slot in Layout.slotOffsetsBytes {
      for copy in [slot, slot + Layout.slotCopyDistanceBytes]
      where image.number(copy + SlotField.topRef) == UInt64(node) {
        image.set(sum, at: copy + SlotField.topChecksum, 8)
        Self.sealSlot(&image, copy)
      }
    }
  }

  /// Corrects the checksum of one copy of a slot.
  static func sealSlot(_ image: inout [UInt8], _ copy: Int) {
    image.set(image.checksum(copy + 8..<copy + Layout.slotRecordBytes), at: copy, 8)
  }

  /// Makes the checksum of the file header right.
  static func sealHeader(_ image: inout [UInt8]) {
    image.set(
      image.checksum(HeaderField.formatVersion..<Layout.fileHeaderRecordBytes),
      at: HeaderField.checksum, 8)
  }
}

extension [UInt8] {
  /// A little-endian number of 8 or 4 bytes.
  func number(_ offset: Int, _ count: Int = 8) -> UInt64 {
    precondition(offset >= 0 && offset <= self.count - count)
    return unsafe withUnsafeBytes { bytes in
      if count == 8 {
        return unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian
      }
      precondition(count == 4, "numbers have 4 or 8 bytes")
      return UInt64(
        unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self).littleEndian)
    }
  }

  mutating func set(_ number: UInt64, at offset: Int, _ count: Int) {
    for index in 0..<count where offset + index < self.count {
      self[offset + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index))
    }
  }

  func nodeSize(_ node: Int) -> Int { Int(number(node + NodeField.sizeBytes, 4)) }

  func checksum(_ range: Range<Int>) -> UInt64 {
    unsafe withUnsafeBytes { bytes in
      Checksum.of(
        unsafe RawBytes(bytes).part(at: range.lowerBound, count: range.count))
    }
  }
}
