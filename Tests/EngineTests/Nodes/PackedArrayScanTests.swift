// PackedArrayScanTests.swift: every kernel at every width against a plain loop: lengths around the
// vectors' sizes, and constants at the edges of what a width can hold, and beyond them.

import Testing

@testable import Engine

@Suite("Scans of packed arrays")
struct PackedArrayScanTests {
  static let widths = [0, 1, 2, 4, 8, 16, 32, 64]
  static let bases: [Int64] = [0, -1, 1, 77, -(1 << 40), .min, .max - 300]

  /// An array in a node that has no byte behind the array's padding.
  static func with<Result>(
    _ values: [Int64], base: Int64, width: Int, _ body: (PackedArray) throws -> Result
  ) throws -> Result {
    let slab = Slab()
    let size = 64 + PackedArray.sizeBytes(count: values.count, width: width)
    let node = slab.makeNode(at: Ref(sector: 3), sizeBytes: size)
    PackedArray.encode(values, base: UInt64(bitPattern: base), width: width, into: node, at: 64)
    defer { withExtendedLifetime(slab) {} }
    return try body(
      #require(
        PackedArray(
          in: node.readable, at: 64, count: values.count, width: width,
          base: UInt64(bitPattern: base))))
  }

  /// The largest number that a width holds above a base.
  private static func span(_ width: Int, above base: Int64) -> UInt64 {
    let mask = width == 64 ? UInt64.max : (1 << UInt64(width)) - 1
    return min(mask, UInt64(bitPattern: Int64.max) &- UInt64(bitPattern: base))
  }

  private static func values(
    _ count: Int, _ width: Int, _ base: Int64, _ random: inout TestRandom
  ) -> [Int64] {
    let span = span(width, above: base)
    return (0..<count).map { _ in
      let number: UInt64
      switch random.below(8) {
      case 0: number = 0
      case 1: number = span
      default: number = span == .max ? random.next() : random.next() % (span + 1)
      }
      return Int64(bitPattern: UInt64(bitPattern: base) &+ number)
    }
  }

  private static func constants(_ width: Int, _ base: Int64, _ values: [Int64]) -> [Int64] {
    let last = Int64(bitPattern: UInt64(bitPattern: base) &+ span(width, above: base))
    var all: [Int64] = [.min, .max, 0, base, last]
    all += [base &- 1, base &+ 1, last &- 1, last &+ 1]
    if let some = values.dropFirst(values.count / 2).first { all.append(some) }
    return all
  }

  static func passes(_ value: Int64, _ comparison: Comparison<Int64>) -> Bool {
    switch comparison {
    case .less(let bound): value < bound
    case .atMost(let bound): value <= bound
    case .equal(let bound): value == bound
    case .notEqual(let bound): value != bound
    case .atLeast(let bound): value >= bound
    case .greater(let bound): value > bound
    case .between(let first, let last): value >= first && value <= last
    }
  }

  static func comparisons(_ constants: [Int64]) -> [Comparison<Int64>] {
    constants.flatMap { bound -> [Comparison<Int64>] in
      [
        .less(bound), .atMost(bound), .equal(bound), .notEqual(bound), .atLeast(bound),
        .greater(bound), .between(bound, constants[0]), .between(constants[3], bound),
      ]
    }
  }

  /// Words of matches as positions; bits behind the last row would be positions of their own.
  private static func positions(_ array: PackedArray, _ test: IntegerTest) -> [Int] {
    let reach = array.reach(test.lower, test.upper)
    return (0..<array.matchWordCount).flatMap { (word: Int) -> [Int] in
      let bits: UInt64 = array.matches(reach, word: word)
      let set: [Int] = (0..<64).filter { (bits >> UInt64($0)) & 1 == 1 }
      return set.map { word * 64 + $0 }
    }
  }

  @Test("counts and positions agree with a plain loop", arguments: widths)
  func comparisons(_ width: Int) throws {
    var random = TestRandom(UInt64(width) + 100)
    for count in [0, 1, 7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 200, 300] {
      for base in Self.bases {
        let values = Self.values(count, width, base, &random)
        try Self.with(values, base: base, width: width) { array in
          for comparison in Self.comparisons(Self.constants(width, base, values)) {
            let expected = values.indices.filter { Self.passes(values[$0], comparison) }
            let test = IntegerTest(comparison)
            #expect(
              array.count(test) == expected.count,
              "width \(width) base \(base) count \(count) \(comparison)")
            let inside = Self.positions(array, test)
            let found = test.isNegated ? values.indices.filter { !inside.contains($0) } : inside
            #expect(
              found == expected, "width \(width) base \(base) count \(count) \(comparison)")
          }
        }
      }
    }
  }

  @Test("lanes of a long array are emptied before they overflow", arguments: [2, 4, 8, 16])
  func longArrays(_ width: Int) throws {
    // More vectors than a lane can count, and every element inside.
    let count = width == 16 ? 16 * 65_535 + 40 : 32 * 256 * (8 / width) + 5
    let most = Int64(1) << Int64(width) - 1
    let values = [Int64](repeating: most, count: count)
    try Self.with(values, base: 0, width: width) { array in
      #expect(array.count(IntegerTest(.equal(most))) == count)
      #expect(array.count(IntegerTest(.less(most))) == 0)
      #expect(array.sum() == Int128(count) * Int128(most))
    }
  }

  @Test("sums and extremes agree with a plain loop", arguments: widths)
  func sums(_ width: Int) throws {
    var random = TestRandom(UInt64(width) + 200)
    for count in [1, 2, 7, 8, 9, 31, 32, 33, 64, 65, 200, 300] {
      for base in Self.bases {
        let values = Self.values(count, width, base, &random)
        let nulls = values.map { _ in Int64(random.below(3) == 0 ? 1 : 0) }
        let kept = zip(values, nulls).filter { $1 == 0 }.map(\.0)
        try Self.with(values, base: base, width: width) { array in
          #expect(array.sum() == values.reduce(Int128(0)) { $0 + Int128($1) })
          #expect(array.extremes()?.lower == values.min())
          #expect(array.extremes()?.upper == values.max())
          try Self.with(nulls, base: 0, width: 1) { nulls in
            #expect(array.sum(except: nulls) == kept.reduce(Int128(0)) { $0 + Int128($1) })
            #expect(array.extremes(except: nulls)?.lower == kept.min())
            #expect(array.extremes(except: nulls)?.upper == kept.max())
            let words = (0..<nulls.matchWordCount).map { word in
              ~nulls.bits(word: word) & MatchWord.mask(count - word << 6)
            }
            #expect(array.sum(of: words) == kept.reduce(Int128(0)) { $0 + Int128($1) })
          }
        }
      }
    }
  }

  @Test("the sum of the greatest numbers is exact")
  func greatSums() throws {
    for value in [Int64.max, .min] {
      try Self.with([Int64](repeating: value, count: 1000), base: value, width: 0) { array in
        #expect(array.sum() == Int128(value) * 1000)
      }
      try Self.with([Int64](repeating: value, count: 1000) + [0], base: .min, width: 64) { array in
        #expect(array.sum() == Int128(value) * 1000)
      }
    }
  }

  @Test("numbers that run over the end of 64 bits give some answer, and no trap", arguments: widths)
  func hostileBases(_ width: Int) throws {
    var random = TestRandom(UInt64(width) + 300)
    let mask = width == 64 ? UInt64.max : (1 << UInt64(width)) - 1
    let numbers = (0..<100).map { _ in Int64(bitPattern: random.next() & mask) }
    // Stored as they are, and read above a base that no writer would take.
    let slab = Slab()
    let node = slab.makeNode(
      at: Ref(sector: 3), sizeBytes: 64 + PackedArray.sizeBytes(count: 100, width: width))
    PackedArray.encode(numbers, base: 0, width: width, into: node, at: 64)
    let array = try #require(
      PackedArray(
        in: node.readable, at: 64, count: 100, width: width, base: UInt64(Int64.max)))
    _ = (array.sum(), array.extremes())
    for comparison in Self.comparisons([.min, .max, 0, -1, .max - 1]) {
      #expect((0...100).contains(array.count(IntegerTest(comparison))))
      _ = Self.positions(array, IntegerTest(comparison))
    }
    withExtendedLifetime(slab) {}
  }

  @Test("ascending or not, by one element at any place", arguments: widths)
  func ascending(_ width: Int) throws {
    let most = width == 64 ? UInt64(Int64.max) : (1 << UInt64(width)) - 1
    for count in [1, 2, 3, 9, 33, 70] where UInt64(count) <= most || count == 1 {
      for base in [0, -7, .min] as [Int64] {
        let rising = (0..<count).map { base + Int64($0) }
        try Self.with(rising, base: base, width: width) { array in
          #expect(array.isAscending(strictly: true) && array.isAscending(strictly: false))
        }
        for place in 1..<max(1, count) {
          for (back, isStill) in [(1, true), (2, false)] where place >= back {
            var values = rising
            values[place] = rising[place - back]
            try Self.with(values, base: base, width: width) { array in
              #expect(!array.isAscending(strictly: true))
              #expect(array.isAscending(strictly: false) == isStill)
            }
          }
        }
      }
    }
    // Numbers that run over the end of 64 bits descend.
    guard width > 0 else { return }
    try Self.with([0, 1], base: 0, width: width) { array in
      let node = array.bytes
      let hostile = try #require(
        PackedArray(in: node, at: 0, count: 2, width: width, base: UInt64(Int64.max)))
      #expect(hostile[0] > hostile[1])
      #expect(!hostile.isAscending(strictly: false))
    }
  }

  @Test("bytes above 127 are seen at every place")
  func ascii() {
    for count in [0, 1, 7, 8, 9, 31, 32, 33, 64, 100] {
      let plain = [UInt8](repeating: 127, count: count)
      #expect(RawBytes.over(plain) { $0.isASCII })
      for place in 0..<count {
        var bytes = plain
        bytes[place] = 128
        #expect(!RawBytes.over(bytes) { $0.isASCII })
      }
    }
  }

  @Test("bits of a 1-bit array, at every length and with either base")
  func bits() throws {
    var random = TestRandom(9)
    for count in [1, 63, 64, 65, 130] {
      let values = (0..<count).map { _ in Int64(random.below(2)) }
      try Self.with(values, base: 0, width: 1) { array in
        #expect(array.countOnes() == values.count { $0 == 1 })
        let found = (0..<array.matchWordCount).flatMap { word in
          (0..<64).map { Int64(array.bits(word: word) >> UInt64($0) & 1) }
        }
        #expect(Array(found.prefix(count)) == values)
        #expect(found.dropFirst(count).allSatisfy { $0 == 0 })
      }
      for value in [Int64(0), 1] {
        try Self.with(values.map { _ in value }, base: value, width: 0) { array in
          let ones = (0..<array.matchWordCount).reduce(0) {
            $0 + array.bits(word: $1).nonzeroBitCount
          }
          #expect(ones == (value == 1 ? count : 0))
        }
      }
    }
  }
}
