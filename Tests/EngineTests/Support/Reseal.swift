// Reseal.swift: makes the checksums of a changed image right again, as an adversary would: a node's
// own, then those in every node that links to it, up to the root slot.

@testable import Engine

enum Reseal {
  static func number(_ bytes: [UInt8], _ offset: Int, _ count: Int = 8) -> UInt64 {
    bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  static func set(_ bytes: inout [UInt8], _ offset: Int, _ number: UInt64, _ count: Int = 8) {
    for index in 0..<count {
      bytes[offset + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index))
    }
  }

  /// Where the nodes of a kind stand that the newest version reaches, as verify finds them.
  static func nodes(_ database: Database, _ kind: NodeKind) throws -> [Int] {
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    var verifier = Verifier(snapshot.state)
    _ = try verifier.run()
    return verifier.spans.filter { $0.use == .node(kind) }.map { Int($0.span.start) * 4096 }
  }

  /// The parents of each node, by position; made from the undamaged image.
  static func parents(_ bytes: [UInt8], nodes: [Int]) -> [Int: [(parent: Int, offset: Int)]] {
    var parents: [Int: [(parent: Int, offset: Int)]] = [:]
    for parent in nodes {
      let size = Int(number(bytes, parent + 24, 4))
      for child in nodes where child != parent {
        var link: [UInt8] = []
        link.appendLittleEndian(UInt64(child))
        link += bytes[child..<child + 8]
        var offset = parent + 48
        while offset + 16 <= parent + size {
          if bytes[offset] == link[0], bytes[offset + 1] == link[1],
            Array(bytes[offset..<offset + 16]) == link
          {
            parents[child, default: []].append((parent, offset))
          }
          offset += 1
        }
      }
    }
    return parents
  }

  /// Seals a node and everything above it.
  static func seal(
    _ bytes: inout [UInt8], node: Int, parents: [Int: [(parent: Int, offset: Int)]]
  ) {
    let size = min(max(Int(number(bytes, node + 24, 4)), 48), bytes.count - node)
    let sum = RawBytes.over(Array(bytes[node + 8..<node + size])) { Checksum.of($0) }
    set(&bytes, node, sum)
    for (parent, offset) in parents[node] ?? [] {
      set(&bytes, offset + 8, sum)
      seal(&bytes, node: parent, parents: parents)
    }
    for slot in Layout.slotOffsetsBytes {
      for copy in [slot, slot + Layout.slotCopyDistanceBytes]
      where number(bytes, copy + SlotField.topRef) == UInt64(node) {
        set(&bytes, copy + SlotField.topChecksum, sum)
        let record = Array(bytes[copy + 8..<copy + Layout.slotRecordBytes])
        set(&bytes, copy, RawBytes.over(record) { Checksum.of($0) })
      }
    }
  }
}
