// ResealedFile.swift: a file in which somebody changed a node and then made every checksum fit, up
// to the root slot. Only what a node means can tell that something is wrong with it.

import Testing

@testable import Engine

enum ResealedFile {
  /// Changes a node of the newest version; `path` has the node, its parent and so on, the group
  /// last.
  static func changing(
    _ bytes: [UInt8], _ state: VersionState, _ path: [Ref], _ body: (inout [UInt8]) throws -> Void
  ) throws -> [UInt8] {
    var bytes = bytes
    var link: NodeLink?
    var old: [UInt8] = []
    for ref in path {
      let start = Int(ref.offsetBytes)
      let size = Int(number(bytes, start + NodeField.sizeBytes, 4))
      var node = Array(bytes[start..<start + size])
      if let link {
        let found = (0...size - 16).filter { Array(node[$0..<$0 + 16]) == old }
        let place = try #require(found.first)
        #expect(found.count == 1)
        store(link.ref.offsetBytes, in: &node, at: place)
        store(link.checksum, in: &node, at: place + 8)
      } else {
        try body(&node)
      }
      old = Array(bytes[start + 8..<start + 16] + bytes[start..<start + 8])
      let sum = RawBytes.over(Array(node[8...])) { Checksum.of($0) }
      store(sum, in: &node, at: 0)
      bytes.replaceSubrange(start..<start + size, with: node)
      link = NodeLink(ref: ref, checksum: sum)
    }
    let slot = RootSlot(
      version: state.version, top: try #require(link),
      logicalSizeBytes: state.slot.logicalSizeBytes)
    let offset = Layout.slotOffsetsBytes[slot.index]
    bytes.replaceSubrange(offset..<offset + 4096, with: slot.encoded())
    return bytes
  }

  static func number(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> UInt64 {
    bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  static func store(_ number: UInt64, in bytes: inout [UInt8], at offset: Int) {
    for index in 0..<8 { bytes[offset + index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
  }
}
