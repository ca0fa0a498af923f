// FloatingArrayTests.swift: floating-point kernels against a plain loop, with NaNs, infinities,
// both zeros and the smallest numbers; and sums that do not depend on where leaves end.

import Testing

@testable import Engine

@Suite("Scans of floating-point columns")
struct FloatingArrayTests {
  private static let edges: [Double] = [
    0, -0.0, 1, -1, 0.1, .infinity, -.infinity, .nan, .leastNonzeroMagnitude,
    -.leastNonzeroMagnitude, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 1e300, -2.5,
  ]

  private static func with<Result>(
    _ values: [Double], _ body: (FloatingArray<Double>) throws -> Result
  ) throws -> Result {
    let bits = values.map { Int64(bitPattern: $0.bitPattern) }
    return try PackedArrayScanTests.with(bits, base: 0, width: 64) { array in
      try body(#require(FloatingArray<Double>(array)))
    }
  }

  private static func with<Result>(
    _ values: [Float], _ body: (FloatingArray<Float>) throws -> Result
  ) throws -> Result {
    let bits = values.map { Int64($0.bitPattern) }
    return try PackedArrayScanTests.with(bits, base: 0, width: 32) { array in
      try body(#require(FloatingArray<Float>(array)))
    }
  }

  private static func passes<Number: BinaryFloatingPoint>(
    _ value: Number, _ comparison: Comparison<Number>
  ) -> Bool {
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

  private static func check<Number: ColumnFloat>(
    _ array: FloatingArray<Number>, _ values: [Number], _ edges: [Number]
  ) {
    for (index, value) in values.enumerated() {
      #expect(array[index] == value || (array[index].isNaN && value.isNaN))
    }
    for bound in edges {
      let all: [Comparison<Number>] = [
        .less(bound), .atMost(bound), .equal(bound), .notEqual(bound), .atLeast(bound),
        .greater(bound), .between(bound, 1), .between(-1, bound),
      ]
      for comparison in all {
        let expected = values.indices.filter { passes(values[$0], comparison) }
        let test = FloatingTest(comparison)
        #expect(array.count(test) == expected.count, "\(comparison) of \(values.count)")
        let inside = (0..<(values.count + 63) / 64).flatMap { (word: Int) -> [Int] in
          let bits: UInt64 = array.matches(test, word: word)
          let set: [Int] = (0..<64).filter { (bits >> UInt64($0)) & 1 == 1 }
          return set.map { word * 64 + $0 }
        }
        let found = test.isNegated ? values.indices.filter { !inside.contains($0) } : inside
        #expect(found == expected, "\(comparison) of \(values.count)")
      }
    }
    let numbers = values.filter { !$0.isNaN }
    #expect(array.extremes()?.lower == numbers.min())
    #expect(array.extremes()?.upper == numbers.max())
  }

  @Test("comparisons and extremes agree with a plain loop")
  func againstPlainLoop() throws {
    var random = TestRandom(5)
    for count in [1, 2, 7, 8, 9, 63, 64, 65, 200] {
      for _ in 0..<5 {
        let doubles = (0..<count).map { _ in
          random.below(2) == 0
            ? Self.edges[random.below(Self.edges.count)] : Double(bitPattern: random.next())
        }
        try Self.with(doubles) { Self.check($0, doubles, Self.edges) }
        let floats = doubles.map { Float($0) }
        try Self.with(floats) { Self.check($0, floats, Self.edges.map { Float($0) }) }
      }
    }
  }

  @Test("a value that all rows share needs no elements", arguments: edges)
  func constants(_ value: Double) throws {
    let bits = Int64(bitPattern: value.bitPattern)
    try PackedArrayScanTests.with([bits, bits, bits], base: bits, width: 0) { array in
      let numbers = try #require(FloatingArray<Double>(array))
      Self.check(numbers, [value, value, value], Self.edges)
      var sum = FloatingSum()
      numbers.add(to: &sum)
      let expected = value + value + value
      #expect(sum.total == expected || (sum.total.isNaN && expected.isNaN))
    }
  }

  @Test("a sum is the same wherever the leaves end, with and without nulls")
  func sums() throws {
    var random = TestRandom(6)
    let values = (0..<1000).map { _ in Double(random.below(1 << 30)) / 1000 - 300_000 }
    let nulls = values.map { _ in Int64(random.below(4) == 0 ? 1 : 0) }
    for withNulls in [false, true] {
      var lanes = [Double](repeating: 0, count: 8)
      for row in values.indices where !withNulls || nulls[row] == 0 {
        lanes[row % 8] += values[row]
      }
      let four = (0..<4).map { lanes[$0] + lanes[$0 + 4] }
      let expected = (four[0] + four[2]) + (four[1] + four[3])
      for sizes in [[1000], [1, 2, 3, 500, 494], [7, 8, 9, 976], [333, 333, 334]] {
        var sum = FloatingSum()
        var start = 0
        for size in sizes {
          try Self.with(Array(values[start..<start + size])) { array in
            guard withNulls else { return array.add(to: &sum) }
            try PackedArrayScanTests.with(
              Array(nulls[start..<start + size]), base: 0, width: 1
            ) { array.add(to: &sum, except: $0) }
          }
          start += size
        }
        #expect(sum.total == expected)
        #expect(sum.rowCount == 1000)
      }
    }
  }

  @Test("floats are added up as doubles")
  func floatSums() throws {
    let values = (0..<100).map { Float($0) * 1_000_003 }
    var sum = FloatingSum()
    try Self.with(values) { $0.add(to: &sum) }
    #expect(sum.total == values.reduce(0) { $0 + Double($1) })
  }

  @Test("extremes leave nulls out")
  func extremesExceptNulls() throws {
    let values: [Double] = [-9, .nan, 3, 4, 99]
    try Self.with(values) { array in
      try PackedArrayScanTests.with([1, 0, 0, 0, 1], base: 0, width: 1) { nulls in
        #expect(array.extremes(except: nulls)?.lower == 3)
        #expect(array.extremes(except: nulls)?.upper == 4)
      }
      try PackedArrayScanTests.with([1, 0, 1, 1, 1], base: 0, width: 1) { nulls in
        #expect(array.extremes(except: nulls) == nil)
      }
    }
  }

  @Test("widths and bases that no column of floating-point numbers has are refused")
  func hostileArrays() throws {
    for width in [1, 2, 4, 8, 16, 32, 64] {
      try PackedArrayScanTests.with([1, 1], base: 0, width: width) { array in
        #expect((FloatingArray<Double>(array) != nil) == (width == 64))
        #expect((FloatingArray<Float>(array) != nil) == (width == 32))
      }
      try PackedArrayScanTests.with([1, 1], base: 1, width: width) { array in
        #expect(FloatingArray<Double>(array) == nil)
        #expect(FloatingArray<Float>(array) == nil)
      }
    }
    try PackedArrayScanTests.with([1 << 32], base: 1 << 32, width: 0) { array in
      #expect(FloatingArray<Double>(array) != nil)
      #expect(FloatingArray<Float>(array) == nil)
    }
  }
}
