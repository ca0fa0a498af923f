// PackedArrayTests.swift: packed arrays against plain ones, at every width.

import Testing

@testable import Engine

@Suite("Packed arrays")
struct PackedArrayTests {
  private static func roundTrip(_ values: [Int64]) -> Bool {
    let lower = values.min() ?? 0
    let width = MutableColumn.width(lower, values.max() ?? 0)
    let slab = Slab()
    let size = 8 + PackedArray.sizeBytes(count: values.count, width: width)
    let node = slab.makeNode(at: Ref(sector: 3), sizeBytes: size)
    PackedArray.encode(values, base: UInt64(bitPattern: lower), width: width, into: node, at: 8)
    guard
      let packed = PackedArray(
        in: node.readable, at: 8, count: values.count, width: width,
        base: UInt64(bitPattern: lower))
    else { return false }
    var decoded: [Int64] = []
    packed.decode(into: &decoded)
    return withExtendedLifetime(slab) {
      decoded == values && values.indices.allSatisfy { packed[$0] == values[$0] }
    }
  }

  @Test("values come back at every width and length", arguments: [0, 1, 2, 4, 8, 16, 32, 64])
  func everyWidth(_ width: Int) {
    var random = TestRandom(UInt64(width) + 1)
    let mask = width == 64 ? UInt64.max : (1 << UInt64(width)) - 1
    for count in Array(0...70) + [255, 256, 1000] {
      for base in [0, -1, 1 << 40, Int64.min] {
        var values = (0..<count).map { _ in base &+ Int64(bitPattern: random.next() & mask) }
        if base == .min && width < 64 { values = values.map { max($0, base) } }
        #expect(Self.roundTrip(values))
      }
    }
  }

  @Test("the smallest and the largest integer stand side by side")
  func extremes() {
    #expect(Self.roundTrip([.min, .max, 0, -1, 1]))
    #expect(Self.roundTrip([.max]))
    #expect(Self.roundTrip([.min, .min]))
    #expect(MutableColumn.width(.min, .max) == 64)
  }

  @Test("the width is the smallest that fits")
  func widths() {
    let edges: [(UInt64, Int)] = [
      (0, 0), (1, 1), (2, 2), (3, 2), (4, 4), (15, 4), (16, 8), (255, 8), (256, 16),
      (65_535, 16), (65_536, 32), (0xffff_ffff, 32), (0x1_0000_0000, 64), (.max, 64),
    ]
    for (range, width) in edges { #expect(PackedArray.width(forRange: range) == width) }
  }

  @Test("an array that does not lie inside its node is refused")
  func outside() {
    let slab = Slab()
    let node = slab.makeNode(at: Ref(sector: 3), sizeBytes: 64).readable
    func make(_ offset: Int, _ count: Int, _ width: Int) -> PackedArray? {
      PackedArray(in: node, at: offset, count: count, width: width, base: 0)
    }
    #expect(make(0, 8, 64) != nil)
    #expect(make(0, 9, 64) == nil)
    #expect(make(8, 8, 64) == nil)
    #expect(make(4, 1, 64) == nil)
    #expect(make(-8, 1, 64) == nil)
    #expect(make(0, 1, 3) == nil)
    #expect(make(0, .max, 64) == nil)
    #expect(make(.max - 7, 1, 8) == nil)
    withExtendedLifetime(slab) {}
  }
}
