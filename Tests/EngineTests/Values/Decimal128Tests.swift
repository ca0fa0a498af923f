// Decimal128Tests.swift: decimal numbers by the rules of the General Decimal Arithmetic
// specification, by hand; and properties of random ones against exact integers.

import Testing

@testable import Engine

@Suite("Decimal numbers")
struct Decimal128Tests {
  private static func number(
    _ text: String, _ location: SourceLocation = #_sourceLocation
  ) throws -> Decimal128 {
    try #require(Decimal128(text), "\(text)", sourceLocation: location)
  }

  // MARK: texts

  @Test(
    "texts of the grammar are read and written by the standard's rules",
    arguments: [
      ("0", "0"), ("-0", "-0"), ("+7", "7"), ("007", "7"), ("1.", "1"), (".5", "0.5"),
      ("12.50", "12.50"), ("-12.50E1", "-125.0"), ("12.50e2", "1250"), ("125E1", "1.25E+3"),
      ("0.000001", "0.000001"), ("0.0000001", "1E-7"), ("0.0000010", "0.0000010"),
      ("1E+0", "1"), ("0.00", "0.00"), ("0E-7", "0E-7"), ("0E+3", "0E+3"),
      ("9999999999999999999999999999999999", "9999999999999999999999999999999999"),
      ("99999999999999999999999999999999995", "1.000000000000000000000000000000000E+35"),
      ("12345678901234567890123456789012345", "1.234567890123456789012345678901234E+34"),
      ("12345678901234567890123456789012355", "1.234567890123456789012345678901236E+34"),
      ("123456789012345678901234567890123450000001", "1.234567890123456789012345678901235E+41"),
      ("1E6144", "1.000000000000000000000000000000000E+6144"), ("1E6145", "Infinity"),
      ("-9.9999999999999999999999999999999999E6144", "-Infinity"),
      ("1E-6176", "1E-6176"), ("1E-6177", "0E-6176"), ("5E-6177", "0E-6176"),
      ("5.1E-6177", "1E-6176"), ("15E-6177", "2E-6176"), ("25E-6177", "2E-6176"),
      ("1E-999999999999999999999999", "0E-6176"), ("-1E999999999999999999999999", "-Infinity"),
      ("0E999999999999999999999999", "0E+6111"),
      ("inf", "Infinity"), ("-Infinity", "-Infinity"), ("NaN", "NaN"), ("-nan7", "-NaN7"),
      ("sNaN", "sNaN"), ("NAN0012", "NaN12"),
    ])
  func texts(_ text: String, _ expected: String) throws {
    #expect(try Self.number(text).description == expected)
  }

  @Test(
    "anything else is not a number",
    arguments: [
      "", " ", "-", "+", ".", "e5", ".e5", "1e", "1e+", "1e5.", "1..2", "1.2.3", "1 ", " 1", "1_0",
      "0x10", "--1", "+-1", "1e--5", "١", "infin", "infinityy", "inf1", "na", "nan-1", "nan1.5",
      "nann", "1\0", "ınf", "NaN1234567890123456789012345678901234",
    ])
  func refusals(_ text: String) { #expect(Decimal128(text) == nil) }

  @Test("long texts are read in one pass, and every digit counts")
  func longTexts() throws {
    let zeros = String(repeating: "0", count: 200_000)
    #expect(try Self.number("1" + zeros + "E-200000").description.hasPrefix("1.000000000"))
    #expect(try Self.number("0." + zeros + "1E200001") == 1)
    let half = "1" + String(repeating: "0", count: 33) + "5"
    let above = try Self.number(half + zeros + "1E-200001")
    #expect(try Self.number(half + zeros + "E-200000").description == "1.\(zeros.prefix(33))E+34")
    #expect(above.description == "1.\(zeros.prefix(32))1E+34")
  }

  // MARK: bits

  @Test("bits are those of the standard's binary encoding")
  func bits() throws {
    for (text, high, low) in [
      ("1", 0x3040 << 48, 1), ("-1", 0xb040 << 48, 1), ("0.1", 0x303e << 48, 1),
      ("9999999999999999999999999999999999", 0x3041_ed09_bead_87c0, 0x378d_8e63_ffff_ffff),
      ("Infinity", 0x7800 << 48, 0), ("NaN", 0x7c00 << 48, 0), ("sNaN", 0x7e00 << 48, 0),
      ("1E-6176", 0, 1), ("0E+6111", 0x5ffe << 48, 0),
    ] as [(String, UInt64, UInt64)] {
      #expect(
        try Self.number(text).isIdentical(to: Decimal128(high: high, low: low)), "\(text)")
    }
  }

  @Test("bits that are no canonical encoding are zeros, infinities and NaNs")
  func otherBits() {
    // 10^34, and the form whose coefficient starts with 100 in binary.
    for high in [0x3041_ed09_bead_87c0, 0x6c10 << 48, 0x6fff << 48] as [UInt64] {
      let number = Decimal128(high: high, low: .max)
      #expect(number.isZero && number.isFinite && number == 0 && !number.isNegative)
      #expect(number + 1 == 1)
    }
    #expect(Decimal128(high: 0x6c10 << 48, low: 0).description == "0")
    #expect(Decimal128(high: 0x7bff << 48, low: 77).description == "Infinity")
    #expect(Decimal128(high: 0xfc00_3fff_ffff_ffff, low: .max).description == "-NaN")
    #expect(Decimal128(high: 0xfbff << 48, low: 77) == -.infinity)
  }

  @Test("any bits are printed, read back, compared and computed with")
  func anyBits() throws {
    var random = TestRandom(721)
    for _ in 0..<20_000 {
      let number = Decimal128(high: random.next(), low: random.next())
      let again = try Self.number(number.description)
      #expect(again == number && again.hashValue == number.hashValue)
      #expect(try Self.number(again.description).isIdentical(to: again))
      let other = Decimal128(high: random.next(), low: random.next())
      #expect(Decimal128.compare(number, other) == -Decimal128.compare(other, number))
      for result in [number + other, number - other, number * other, number / other] {
        #expect(try Self.number(result.description).isIdentical(to: result))
      }
    }
  }

  // MARK: special numbers

  @Test("signs of zeros, infinities and NaNs follow the standard")
  func specials() throws {
    for (left, operation, right, result) in [
      ("0", "+", "-0", "0"), ("-0", "+", "-0", "-0"), ("1", "-", "1", "0"), ("-1", "+", "1", "0"),
      ("-0", "-", "0", "-0"), ("0", "-", "0", "0"), ("-0", "*", "5", "-0"), ("0", "/", "-5", "-0"),
      ("1", "/", "0", "Infinity"), ("-1", "/", "0", "-Infinity"), ("0", "/", "0", "NaN"),
      ("inf", "-", "inf", "NaN"), ("inf", "+", "inf", "Infinity"), ("inf", "*", "0", "NaN"),
      ("inf", "*", "-2", "-Infinity"), ("inf", "/", "inf", "NaN"), ("1", "/", "inf", "0E-6176"),
      ("NaN1", "+", "NaN2", "NaN1"), ("NaN1", "*", "sNaN2", "NaN2"), ("1", "-", "-NaN3", "-NaN3"),
      ("1.0", "+", "0.000", "1.000"), ("1.20", "*", "3", "3.60"), ("6.0", "/", "3", "2.0"),
      ("1", "/", "3", "0.3333333333333333333333333333333333"), ("2400", "/", "1E1", "240.0"),
      ("1", "/", "8", "0.125"), ("0E5", "/", "2E3", "0E+2"),
    ] {
      let (first, second) = (try Self.number(left), try Self.number(right))
      let answer =
        operation == "+"
        ? first + second
        : operation == "-" ? first - second : operation == "*" ? first * second : first / second
      #expect(answer.description == result, "\(left) \(operation) \(right)")
    }
    #expect(-Decimal128(3) == -3 && Decimal128(-3).magnitude == 3)
  }

  @Test("numbers are ordered and equal by what they are, and NaNs stand first")
  func order() throws {
    let ascending = [
      "NaN", "-Infinity", "-9E6144", "-10.5", "-1E-6176", "0", "1E-6176", "0.1", "0.10000001", "1",
      "1E34",
      "1.000000000000000000000000000000001E34", "9E6144", "Infinity",
    ]
    let numbers = try ascending.map { try Self.number($0) }
    for (index, left) in numbers.enumerated() {
      for (other, right) in numbers.enumerated() {
        #expect(Decimal128.compare(left, right) == (index - other).signum())
        #expect((left < right) == (index < other) && (left == right) == (index == other))
      }
    }
    for (left, right) in [("1", "1.000"), ("0", "-0E5"), ("1E34", "1000E31"), ("NaN", "-sNaN5")] {
      let (first, second) = (try Self.number(left), try Self.number(right))
      #expect(first == second && first.hashValue == second.hashValue)
      // What a row holds is another matter: there bits count.
      #expect(Value.decimal128(first) != Value.decimal128(second))
      #expect(!first.isIdentical(to: second))
    }
    #expect(Set(try ["2", "2.0", "2.00", "20E-1", "3"].map { try Self.number($0) }).count == 2)
  }

  // MARK: other numbers

  @Test("integers and floating-point numbers come and go")
  func conversions() throws {
    for number in [0, 1, -1, 9, .max, .min, 1_000_000_000_000_000_000] as [Int64] {
      #expect(Int64(exactly: Decimal128(number)) == number)
      #expect(Decimal128(number).description == "\(number)")
    }
    for text in ["0.5", "1E19", "9223372036854775808", "-9223372036854775809", "NaN", "inf"] {
      #expect(try Int64(exactly: Self.number(text)) == nil, "\(text)")
    }
    #expect(try Int64(exactly: Self.number("-9223372036854775808.000")) == .min)
    #expect(try Int64(exactly: Self.number("12E2")) == 1200 && Int64(exactly: 0e600) == 0)
    #expect(Decimal128(exactly: UInt128.max) == nil)
    #expect(Decimal128(exactly: UInt128(10) * PowersOfTen.all[35])?.exponent == 36)
    #expect(Decimal128(exactly: Int8(-5)) == -5)
    let tenth = 0.1
    #expect(Decimal128(tenth).description == "0.1000000000000000055511151231257827")
    #expect(Decimal128(shortest: 0.1).description == "0.1")
    #expect((2.50 as Decimal128).description == "2.5" && (100.0 as Decimal128).description == "100")
    #expect(Decimal128(-tenth * 0).description == "-0")
    #expect(Decimal128(shortest: -0.0).description == "-0")
    #expect(Decimal128(Double.nan).isNaN && Decimal128(-Double.infinity) == -.infinity)
    #expect(Double(Decimal128.greatestFiniteMagnitude) == .infinity)
    #expect(Double(-Decimal128.infinity) == -.infinity && Double(Decimal128.nan).isNaN)
    #expect(Double(Decimal128.leastNonzeroMagnitude) == 0)
  }

  @Test("every binary number comes back, from its shortest and from its 34 digits")
  func doubles() {
    var random = TestRandom(722)
    for _ in 0..<20_000 {
      let number = Double(bitPattern: random.next())
      guard number.isFinite else { continue }
      #expect(Double(Decimal128(number)).bitPattern == number.bitPattern)
      #expect(Double(Decimal128(shortest: number)).bitPattern == number.bitPattern)
    }
  }

  // MARK: properties

  /// A number of at most 17 digits and up to 17 places behind the point, and the integer that is
  /// 10^17 times as much.
  private func small(_ random: inout TestRandom) -> (number: Decimal128, exact: Int128) {
    let places = random.below(18)
    let bound = PowersOfTen.all[1 + random.below(17)]
    let coefficient = UInt128(random.next()) % bound
    let isNegative = random.below(2) == 0
    let number = Decimal128(isNegative: isNegative, coefficient: coefficient, exponent: -places)
    let exact = Int128(coefficient * PowersOfTen.all[17 - places])
    return (number, isNegative ? -exact : exact)
  }

  private func exact(_ scaled: Int128, places: Int) -> Decimal128 {
    .rounded(isNegative: scaled < 0, coefficient: scaled.magnitude, exponent: -places)
  }

  @Test("sums, products and order are those of integers where these are exact")
  func integers() {
    var random = TestRandom(723)
    for _ in 0..<100_000 {
      let (left, first) = small(&random)
      var (right, second) = small(&random)
      if random.below(10) == 0 { (right, second) = (-left, -first) }
      #expect(left + right == exact(first + second, places: 17))
      #expect(left - right == exact(first - second, places: 17))
      let order = first < second ? -1 : first == second ? 0 : 1
      #expect(Decimal128.compare(left, right) == order)
      #expect((left + right).isIdentical(to: right + left))
      #expect((left * right).isIdentical(to: right * left))
      guard second != 0 else { continue }
      // 34 digits hold the product of two coefficients of 17, so dividing takes it back.
      #expect(left * right / right == left)
      let (quotient, rest) = first.quotientAndRemainder(dividingBy: second)
      if rest == 0 { #expect(left / right == exact(quotient, places: 0)) }
    }
  }

  @Test("a rounded result is nearer than both of its neighbours")
  func nearest() {
    var random = TestRandom(724)
    for _ in 0..<20_000 {
      let left = Decimal128(
        isNegative: false, coefficient: UInt128(random.next()) << 40 | UInt128(random.next()) >> 24,
        exponent: 0)
      let right = Decimal128(
        isNegative: false, coefficient: UInt128(random.next()) | 1, exponent: random.below(9) - 4)
      let quotient = left / right
      // left - quotient × right, in integers modulo 2^128: the true difference is far smaller.
      let scale = quotient.exponent + right.exponent
      guard scale <= 0, scale > -38 else { continue }
      let residue = Int128(
        truncatingIfNeeded: left.coefficient &* PowersOfTen.all[-scale]
          &- quotient.coefficient &* right.coefficient)
      let divisor = Int128(right.coefficient)
      #expect(residue.magnitude * 2 <= divisor.magnitude)
      if residue.magnitude * 2 == divisor.magnitude { #expect(quotient.coefficient & 1 == 0) }
    }
  }
}
