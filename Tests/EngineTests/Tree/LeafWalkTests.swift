// LeafWalkTests.swift: a walk over leaves ends on bytes that no engine wrote.

import Testing

@testable import Engine

@Suite("Leaf walk")
struct LeafWalkTests {
  /// A file of six sectors whose tree has one inner node, all of whose children are one leaf.
  private static func tree(childCount: Int) throws -> BPlusTree {
    let ref = Ref(sector: 3)
    let size = InnerView.sizeBytes(childCount: childCount)
    var bytes = [UInt8](repeating: 0, count: 6 * Layout.sectorSizeBytes)
    let start = Int(ref.offsetBytes)
    Reseal.set(&bytes, start + NodeField.ref, ref.offsetBytes)
    Reseal.set(&bytes, start + NodeField.version, 1)
    Reseal.set(&bytes, start + NodeField.sizeBytes, UInt64(size), 4)
    bytes[start + NodeField.kind] = NodeKind.inner.rawValue
    bytes[start + NodeField.level] = 1
    Reseal.set(&bytes, start + NodeField.count, UInt64(childCount), 4)
    for child in 0..<childCount {
      let separator = start + Layout.nodeHeaderBytes + 8 * child
      if child + 1 < childCount { Reseal.set(&bytes, separator, UInt64(child + 1)) }
      let link = start + InnerView.linkOffsetBytes(child, childCount: childCount)
      Reseal.set(&bytes, link, Ref(sector: 5).offsetBytes)
    }
    let sum = RawBytes.over(Array(bytes[start + 8..<start + size])) { Checksum.of($0) }
    Reseal.set(&bytes, start, sum)
    return BPlusTree(
      reader: NodeReader(try TestBackend(bytes).map()), root: NodeLink(ref: ref, checksum: sum),
      level: 1, shape: LeafShape([]), newest: .first)
  }

  @Test("a walk comes to no more leaves than there are sectors")
  func fewerThanSectors() throws {
    for (childCount, isWhole) in [(1, true), (6, true), (7, false), (100, false)] {
      var walk = LeafWalk(try Self.tree(childCount: childCount))
      var count = 0
      let code = errorCode { while try walk.nextLink() != nil { count += 1 } }
      #expect(code == (isWhole ? nil : .corrupted) && count == min(childCount, 6))
    }
  }
}
