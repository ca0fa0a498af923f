// Decimal128+Arithmetic.swift: sums, differences, products and quotients: the exact result, rounded
// once. Exact results have the standard's preferred exponent as far as it fits: the smaller one of
// a sum, the sum of a product's, the difference of a quotient's. Intermediate coefficients have 37
// digits at most; the digits after them count as a fraction.

extension Decimal128 {
  private static let workingDigits = 37

  /// The NaN that an operation gives when an operand is one: the first that signals, else the
  /// first; it does not signal any more.
  private static func propagated(_ left: Decimal128, _ right: Decimal128) -> Decimal128? {
    guard left.isNaN || right.isNaN else { return nil }
    let isRight = right.isSignalingNaN && !left.isSignalingNaN || !left.isNaN
    let source = isRight ? right : left
    return Decimal128(isNegative: source.isNegative, signals: false, payload: source.payload)
  }

  /// The sum; ∞ - ∞ is a NaN, and x - x is +0.
  public static func + (left: Decimal128, right: Decimal128) -> Decimal128 {
    if let nan = propagated(left, right) { return nan }
    guard left.isFinite, right.isFinite else {
      let isUndefined =
        left.isInfinite && right.isInfinite && left.isNegative != right.isNegative
      let infinite = left.isInfinite ? left : right
      return isUndefined ? nan : infinity(isNegative: infinite.isNegative)
    }
    let isLeftHigher = left.exponent >= right.exponent
    let (upper, lower) = isLeftHigher ? (left, right) : (right, left)
    let (first, second) = (upper.coefficient, lower.coefficient)
    guard first != 0 else {
      // -0 only when both are.
      let isNegative = second == 0 ? left.isNegative && right.isNegative : lower.isNegative
      return Decimal128(isNegative: isNegative, coefficient: second, exponent: lower.exponent)
    }
    // The upper number is scaled towards the exponent of the lower one as far as 37 digits reach;
    // then the lower one loses the digits after that.
    let distance = upper.exponent - lower.exponent
    let shift = min(distance, workingDigits - PowersOfTen.digits(first))
    let augend = first * PowersOfTen.all[shift]
    let (addend, hasFraction) = shifted(second, right: distance - shift)
    let exponent = upper.exponent - shift
    if upper.isNegative == lower.isNegative {
      return rounded(
        isNegative: upper.isNegative, coefficient: augend + addend, exponent: exponent,
        hasFraction: hasFraction)
    }
    if augend == addend, !hasFraction {
      return Decimal128(isNegative: false, coefficient: 0, exponent: exponent)
    }
    // With a fraction the upper number has 37 digits and the lower one fewer than 34.
    guard augend > addend else {
      return rounded(
        isNegative: lower.isNegative, coefficient: addend - augend, exponent: exponent)
    }
    return rounded(
      isNegative: upper.isNegative, coefficient: augend - addend - (hasFraction ? 1 : 0),
      exponent: exponent, hasFraction: hasFraction)
  }

  /// A coefficient without its last digits, and whether one of them was not 0.
  private static func shifted(_ coefficient: UInt128, right count: Int) -> (UInt128, Bool) {
    guard count < PowersOfTen.all.count else { return (0, coefficient != 0) }
    let (kept, rest) = coefficient.quotientAndRemainder(dividingBy: PowersOfTen.all[count])
    return (kept, rest != 0)
  }

  /// The difference; ∞ - ∞ is a NaN, and x - x is +0.
  public static func - (left: Decimal128, right: Decimal128) -> Decimal128 { left + -right }

  /// The product; 0 × ∞ is a NaN.
  public static func * (left: Decimal128, right: Decimal128) -> Decimal128 {
    if let nan = propagated(left, right) { return nan }
    let isNegative = left.isNegative != right.isNegative
    guard left.isFinite, right.isFinite else {
      return left.isZero || right.isZero ? nan : infinity(isNegative: isNegative)
    }
    let exponent = left.exponent + right.exponent
    let product = left.coefficient.multipliedFullWidth(by: right.coefficient)
    // Two coefficients of 34 digits: the quotient by 10^34 has 34 digits at most.
    let power = PowersOfTen.all[digitsMax]
    let (upper, lower) = power.dividingFullWidth(product)
    let digits = upper == 0 ? PowersOfTen.digits(lower) : digitsMax + PowersOfTen.digits(upper)
    let drop = max(0, digits - workingDigits)
    guard drop > 0 else {
      return rounded(
        isNegative: isNegative, coefficient: upper * power + lower, exponent: exponent)
    }
    let (kept, rest) = PowersOfTen.all[drop].dividingFullWidth(product)
    return rounded(
      isNegative: isNegative, coefficient: kept, exponent: exponent + drop,
      hasFraction: rest != 0)
  }

  /// The quotient; x ÷ 0 is an infinity, and 0 ÷ 0 and ∞ ÷ ∞ are NaNs.
  public static func / (left: Decimal128, right: Decimal128) -> Decimal128 {
    if let nan = propagated(left, right) { return nan }
    let isNegative = left.isNegative != right.isNegative
    guard left.isFinite else {
      return right.isInfinite ? nan : infinity(isNegative: isNegative)
    }
    guard right.isFinite else {
      return Decimal128(isNegative: isNegative, coefficient: 0, exponent: exponentMin)
    }
    let (dividend, divisor) = (left.coefficient, right.coefficient)
    guard divisor != 0 else { return dividend == 0 ? nan : infinity(isNegative: isNegative) }
    let preferred = left.exponent - right.exponent
    guard dividend != 0 else {
      return rounded(isNegative: isNegative, coefficient: 0, exponent: preferred)
    }
    // A dividend of 34 digits, times 10^(digits of the divisor + 2): the quotient has 36 or 37
    // digits.
    let widening = digitsMax - PowersOfTen.digits(dividend)
    let scale = PowersOfTen.digits(divisor) + 2
    let wide = (dividend * PowersOfTen.all[widening])
      .multipliedFullWidth(by: PowersOfTen.all[scale])
    let (quotient, rest) = divisor.dividingFullWidth(wide)
    let exponent = preferred - widening - scale
    guard rest == 0 else {
      return rounded(
        isNegative: isNegative, coefficient: quotient, exponent: exponent, hasFraction: true)
    }
    let (exact, zeros) = PowersOfTen.withoutTrailingZeros(quotient, atMost: widening + scale)
    return rounded(isNegative: isNegative, coefficient: exact, exponent: exponent + zeros)
  }
}

extension Decimal128: SignedNumeric {
  /// Multiplies a number in place.
  public static func *= (left: inout Decimal128, right: Decimal128) { left = left * right }

  /// Divides a number in place.
  public static func /= (left: inout Decimal128, right: Decimal128) { left = left / right }
}
