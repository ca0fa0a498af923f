// Decimal128.swift: decimal numbers of IEEE 754-2008 in 16 bytes, binary encoding (BID).
//   bit 127      sign
//   126 ..< 113  exponent + 6176, unless bits 126 and 125 are both 1
//   112 ... 0    coefficient, at most 10^34 - 1
// Bits 126 ..< 122 of 11110 are an infinity, of 11111 a NaN (bit 121: it signals; bits 109 ... 0:
// payload, at most 10^33 - 1). Others whose bits 126 and 125 are both 1, or whose coefficient is
// too large, are not canonical: they have the coefficient 0. Invariant: results of this code are
// canonical; its input may have any bits.

/// A decimal number of 34 digits: ± coefficient × 10^exponent, an infinity, or a NaN.
///
/// `==`, `<` and the hash go by the number, so 1.0 equals 1.00 and 0 equals -0. That is a total
/// order: NaNs equal each other and sort before -∞, as in every sort of the database. The engine's
/// `Value` compares bits instead: there 1.0 and 1.00 are two values.
public struct Decimal128: Sendable {
  /// The half with the sign and the exponent.
  public let high: UInt64
  /// The lower half of the coefficient.
  public let low: UInt64

  /// Creates a number from its bits, canonical or not.
  /// - Parameters:
  ///   - high: The half with the sign and the exponent.
  ///   - low: The lower half of the coefficient.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The sixteen bytes, the one with the sign first.
  public var bytes: [UInt8] { FixedBytes.bytes(high, 8) + FixedBytes.bytes(low, 8) }

  /// Whether two numbers have the same bits.
  public func isIdentical(to other: Decimal128) -> Bool { high == other.high && low == other.low }
}

// MARK: classes of numbers

extension Decimal128 {
  /// Zero, with the exponent 0.
  public static let zero = Decimal128(high: 0x3040 << 48, low: 0)
  /// Positive infinity.
  public static let infinity = Decimal128(high: 0x7800 << 48, low: 0)
  /// A quiet NaN without payload.
  public static let nan = Decimal128(high: 0x7c00 << 48, low: 0)
  /// The largest finite number, (10^34 - 1) × 10^6111.
  public static let greatestFiniteMagnitude = Decimal128(
    isNegative: false, coefficient: coefficientMax, exponent: exponentMax)
  /// The smallest number above 0, 10^-6176.
  public static let leastNonzeroMagnitude = Decimal128(
    isNegative: false, coefficient: 1, exponent: exponentMin)

  /// Whether the sign is minus, that of a zero or NaN included.
  public var isNegative: Bool { high >> 63 == 1 }
  /// Whether it is neither an infinity nor a NaN.
  public var isFinite: Bool { high & 0x7800 << 48 != 0x7800 << 48 }
  /// Whether it is an infinity of either sign.
  public var isInfinite: Bool { high & 0x7c00 << 48 == 0x7800 << 48 }
  /// Whether it is not a number.
  public var isNaN: Bool { high & 0x7c00 << 48 == 0x7c00 << 48 }
  /// Whether it is a NaN that signals.
  public var isSignalingNaN: Bool { high & 0x7e00 << 48 == 0x7e00 << 48 }
  /// Whether it is 0 or -0, with any exponent.
  public var isZero: Bool { isFinite && coefficient == 0 }

  /// The same number without its sign.
  public var magnitude: Decimal128 { Decimal128(high: high & ~(1 << 63), low: low) }

  /// The same number with the other sign; a NaN keeps its own.
  public static prefix func - (number: Decimal128) -> Decimal128 {
    number.isNaN ? number : Decimal128(high: number.high ^ 1 << 63, low: number.low)
  }
}

// MARK: order

extension Decimal128: Comparable, Hashable {
  /// Compares two numbers, not their bits.
  /// - Returns: -1, 0 or 1, as the left number sorts before, with or after the right one; NaNs are
  ///   equal and sort before -∞.
  public static func compare(_ left: Decimal128, _ right: Decimal128) -> Int {
    if left.isNaN || right.isNaN { return (left.isNaN ? 0 : 1) - (right.isNaN ? 0 : 1) }
    let (sign, otherSign) = (left.signum, right.signum)
    guard sign == otherSign, sign != 0 else {
      return sign == otherSign ? 0 : sign < otherSign ? -1 : 1
    }
    return sign * compareMagnitudes(left, right)
  }

  private var signum: Int { isZero ? 0 : isNegative ? -1 : 1 }

  private static func compareMagnitudes(_ left: Decimal128, _ right: Decimal128) -> Int {
    guard left.isFinite, right.isFinite else {
      return (left.isFinite ? 0 : 1) - (right.isFinite ? 0 : 1)
    }
    var (first, second) = (left.coefficient, right.coefficient)
    let (digits, otherDigits) = (PowersOfTen.digits(first), PowersOfTen.digits(second))
    let (leading, otherLeading) = (left.exponent + digits, right.exponent + otherDigits)
    guard leading == otherLeading else { return leading < otherLeading ? -1 : 1 }
    // The same leading place: then both have at most 34 digits after scaling to the same length.
    if digits < otherDigits { first *= PowersOfTen.all[otherDigits - digits] }
    if otherDigits < digits { second *= PowersOfTen.all[digits - otherDigits] }
    return first < second ? -1 : first == second ? 0 : 1
  }

  /// Equal as numbers; see `isIdentical(to:)` for bits.
  public static func == (left: Decimal128, right: Decimal128) -> Bool {
    left.isIdentical(to: right) || compare(left, right) == 0
  }

  /// Orders by number, NaNs first.
  public static func < (left: Decimal128, right: Decimal128) -> Bool { compare(left, right) < 0 }

  /// Feeds the number: equal numbers hash alike, whatever their exponents.
  public func hash(into hasher: inout Hasher) {
    guard isFinite, !isZero else {
      hasher.combine(isNaN ? 2 : isZero ? 0 : signum)
      return
    }
    let (coefficient, zeros) = PowersOfTen.withoutTrailingZeros(coefficient)
    hasher.combine(isNegative)
    hasher.combine(coefficient)
    hasher.combine(exponent + zeros)
  }
}
