// Decimal128+Encoding.swift: bits to coefficient and exponent, and back with rounding. Rounding is
// to the nearest number, and halves to the one with an even coefficient; it happens once, from all
// digits, even where a small exponent leaves fewer than 34 of them.

extension Decimal128 {
  static let exponentMin = -6176
  static let exponentMax = 6111
  static let digitsMax = 34
  static let coefficientMax = PowersOfTen.all[digitsMax] - 1
  private static let bias = 6176
  private static let payloadMax = PowersOfTen.all[33] - 1

  /// Whether the bits leave no room for a significant coefficient.
  private var isLargeForm: Bool { high & 0x6000 << 48 == 0x6000 << 48 }

  /// The coefficient of a finite number.
  var coefficient: UInt128 {
    guard !isLargeForm else { return 0 }
    let bits = UInt128(high & (1 << 49 - 1)) << 64 | UInt128(low)
    return bits <= Self.coefficientMax ? bits : 0
  }

  /// The exponent of a finite number's last digit.
  var exponent: Int {
    Int(high >> (isLargeForm ? 47 : 49) & 0x3fff) - Self.bias
  }

  /// The payload of a NaN; 0 if it is too large.
  var payload: UInt128 {
    let bits = UInt128(high & (1 << 46 - 1)) << 64 | UInt128(low)
    return bits <= Self.payloadMax ? bits : 0
  }

  /// A number that fits without rounding.
  init(isNegative: Bool, coefficient: UInt128, exponent: Int) {
    precondition(coefficient <= Self.coefficientMax, "a coefficient has 34 digits at most")
    precondition((Self.exponentMin...Self.exponentMax).contains(exponent), "an exponent fits")
    self.init(
      high: (isNegative ? 1 << 63 : 0) | UInt64(exponent + Self.bias) << 49
        | UInt64(truncatingIfNeeded: coefficient >> 64),
      low: UInt64(truncatingIfNeeded: coefficient))
  }

  /// A NaN.
  init?(isNegative: Bool, signals: Bool, payload: UInt128) {
    guard payload <= Self.payloadMax else { return nil }
    self.init(
      high: (isNegative ? 1 << 63 : 0) | (signals ? 0x7e00 << 48 : 0x7c00 << 48)
        | UInt64(truncatingIfNeeded: payload >> 64),
      low: UInt64(truncatingIfNeeded: payload))
  }

  /// An infinity.
  static func infinity(isNegative: Bool) -> Decimal128 { isNegative ? -infinity : infinity }

  /// The number nearest to (coefficient + a fraction) × 10^exponent.
  /// - Parameters:
  ///   - isNegative: The sign.
  ///   - coefficient: Any number; of 36 digits at least when there is a fraction.
  ///   - exponent: Any exponent.
  ///   - hasFraction: Whether the coefficient has a remaining fraction, above 0 and below 1.
  /// - Returns: A number, or an infinity when it is too large.
  static func rounded(
    isNegative: Bool, coefficient: UInt128, exponent: Int, hasFraction: Bool = false
  ) -> Decimal128 {
    precondition(
      !hasFraction || coefficient >= PowersOfTen.all[35], "digits to round away stand before it")
    guard coefficient != 0 else {
      return Decimal128(
        isNegative: isNegative, coefficient: 0,
        exponent: min(max(exponent, exponentMin), exponentMax))
    }
    let digits = PowersOfTen.digits(coefficient)
    let drop = max(0, digits - digitsMax, exponentMin - exponent)
    var (kept, place) = (coefficient, exponent + drop)
    if drop > 0 {
      kept = dropping(drop, of: coefficient, hasFraction: hasFraction)
      if kept > coefficientMax { (kept, place) = (kept / 10, place + 1) }
    }
    guard kept != 0, place > exponentMax else {
      return Decimal128(
        isNegative: isNegative, coefficient: kept, exponent: min(place, exponentMax))
    }
    // For a large exponent, the coefficient may have room for more digits, which are filled with
    // zeros.
    let zeros = place - exponentMax
    guard zeros <= digitsMax - PowersOfTen.digits(kept) else {
      return infinity(isNegative: isNegative)
    }
    return Decimal128(
      isNegative: isNegative, coefficient: kept * PowersOfTen.all[zeros], exponent: exponentMax)
  }

  /// A coefficient without its last digits, rounded.
  private static func dropping(
    _ count: Int, of coefficient: UInt128, hasFraction: Bool
  ) -> UInt128 {
    // 128 bits by 10^39 are less than a half.
    guard count < PowersOfTen.all.count else { return 0 }
    let power = PowersOfTen.all[count]
    let (kept, rest) = coefficient.quotientAndRemainder(dividingBy: power)
    let half = power / 2
    let isAboveHalf = rest > half || rest == half && hasFraction
    return isAboveHalf || rest == half && kept & 1 == 1 ? kept + 1 : kept
  }
}
