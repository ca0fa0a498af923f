// ValueOrderTests.swift: the order of values of all types is total and transitive. The story: mixed
// values stood int < string < double < int, so a sort gave what the order of insertion made of it.

import Testing

@testable import Engine

@Suite("the order of all values")
struct ValueOrderTests {
  private static let decimals = [
    "0", "-0", "0E5", "1.0", "1.00", "5", "5.0", "0.1", "0.10", "-0.1", "0.3", "1E30", "1E6111",
    "9.999999999999999999999999999999999E6144", "1E-6176", "-1E-6176", "NaN", "-NaN", "sNaN",
    "Infinity", "-Infinity", "9007199254740992", "9007199254740993", "9223372036854775807",
    "9223372036854775808", "0.1000000000000000055511151231257827", "1152921504606846976",
    "0.1000000000000000055511151231257828", "4.940656458412465441765687928682214E-324",
  ]

  static let values: [Value] = {
    let doubles: [Double] = [
      0, -0.0, 0.1, -0.1, 0.3, 1, 5, 0.5, 1e30, .nan, -.nan, .signalingNaN, .infinity, -.infinity,
      0x1p53, 0x1p53 + 2, 0x1p60, 0x1p63, -0x1p63, 0x1p63.nextDown, .leastNonzeroMagnitude,
      .greatestFiniteMagnitude, 1e300, -2.5, Double(Float(0.1)),
    ]
    let ints: [Int64] = [0, 1, 5, -1, 1 << 53, 1 << 53 + 1, 1 << 60, 1 << 60 + 1, .max, .min]
    var values: [Value] = [
      .null, .bool(false), .bool(true), .string(""), .string("a"), .string("ä"), .binary([]),
      .binary([1]), .date(seconds: 0, nanoseconds: 0), .firstDate, .lastDate,
      .objectId(ObjectId(high: 0, low: 1)), .uuid(UUIDBytes(high: 0, low: 1)),
      .typedLink(table: 1, key: 5), .typedLink(table: 2, key: 1), .link(3),
    ]
    values += ints.map { .int($0) } + doubles.map { .double($0) }
    values += doubles.map { .float(Float($0)) }
    values += decimals.compactMap { Decimal128($0) }.map { .decimal128($0) }
    return values
  }()

  @Test("is total, transitive, and has one form for what stands together")
  func order() {
    let values = Self.values
    let orders = values.map { left in values.map { Value.orderByValue(left, $0) } }
    var wrong = 0
    for a in values.indices {
      #expect(orders[a][a] == 0, "\(values[a])")
      #expect(Value.orderByValue(values[a], values[a].byValue) == 0, "\(values[a])")
      for b in values.indices {
        #expect(orders[a][b] == -orders[b][a], "\(values[a]) \(values[b])")
        let isSame = values[a].byValue == values[b].byValue
        #expect((orders[a][b] == 0) == isSame, "\(values[a]) \(values[b])")
        for c in values.indices where orders[a][b] <= 0 && orders[b][c] <= 0 {
          let isStrict = orders[a][b] < 0 || orders[b][c] < 0
          if isStrict ? orders[a][c] >= 0 : orders[a][c] != 0 { wrong += 1 }
        }
      }
    }
    #expect(wrong == 0)
  }

  @Test("says of numbers what they are")
  func examples() {
    func decimal(_ text: String) -> Value { .decimal128(Decimal128(text) ?? .nan) }
    let ascending: [[Value]] = [
      [.null], [.bool(false)], [.bool(true)],
      [.double(.nan), .float(-.nan), decimal("NaN"), decimal("-sNaN7")],
      [.float(-.infinity), decimal("-Infinity")], [.int(.min), .double(-0x1p63)],
      [.double(-0.0), .int(0), .float(0), decimal("-0E9")],
      [decimal("0.1"), decimal("0.100")], [.double(0.1)],
      [.float(0.1), .double(Double(Float(0.1)))],
      [.int(5), .double(5), .float(5), decimal("5.00")],
      [.int(1 << 53), .double(0x1p53)], [.int(1 << 53 + 1), decimal("9007199254740993")],
      [.int(.max), decimal("9223372036854775807")], [.double(0x1p63)], [decimal("1E6000")],
      [.double(.infinity), decimal("Infinity")], [.string("")], [.string("a")],
    ]
    for (place, group) in ascending.enumerated() {
      for value in group {
        for (other, others) in ascending.enumerated() {
          for that in others {
            #expect(Value.orderByValue(value, that) == (place - other).signum(), "\(value) \(that)")
          }
        }
      }
    }
  }

  @Test("random decimals against random binary numbers, by their difference in 34 digits")
  func decimals() throws {
    var random = TestRandom(34)
    for _ in 0..<5_000 {
      let factor = [1, 0x1p-20, 0x1p-60, 3e9][random.below(4)]
      let double = Double(random.below(1 << 40) - 1 << 39) * factor
      // The nearest number of 34 digits, and its neighbours.
      let nearest = Decimal128(double)
      let step = try #require(Decimal128("1E-12"))
      #expect(Decimal128.compare(nearest - step, double) < 0, "\(double)")
      #expect(Decimal128.compare(nearest + step, double) > 0, "\(double)")
      let back = Double(nearest)
      #expect(back == double)
      #expect(abs(Decimal128.compare(nearest, double.nextUp)) == 1)
    }
  }

  @Test("a value that is not a number is neither the smallest nor the greatest")
  func noNumber() {
    let numbers: [Value] = [.float(.nan), .double(.nan), .decimal128(.nan)]
    for number in numbers {
      for isGreatest in [false, true] {
        #expect(Value.extreme(.int(1), number, isGreatest: isGreatest) == .int(1))
        #expect(Value.extreme(nil, number, isGreatest: isGreatest) == nil)
        for one in [Value.float(1), .double(1), .decimal128(Decimal128("1") ?? .nan)] {
          #expect(Value.extreme(nil, one, isGreatest: isGreatest) == one)
        }
      }
    }
  }
}
