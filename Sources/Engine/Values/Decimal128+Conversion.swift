// Decimal128+Conversion.swift: from and to binary integers and floating-point numbers.

extension Decimal128 {
  /// Makes the same number; all 64 bits fit.
  public init(_ number: Int64) {
    self.init(
      isNegative: number < 0, coefficient: UInt128(number.magnitude), exponent: 0)
  }

  /// Makes the same number; all 64 bits fit.
  public init(_ number: Int) {
    self.init(Int64(number))
  }

  /// Makes the same number, or nil when it has more than 34 digits, zeros at the end aside.
  public init?<Source: BinaryInteger>(exactly source: Source) {
    guard let magnitude = UInt128(exactly: source.magnitude) else { return nil }
    let isNegative = source < (0 as Source)
    guard magnitude > Self.coefficientMax else {
      self.init(isNegative: isNegative, coefficient: magnitude, exponent: 0)
      return
    }
    let (coefficient, zeros) = PowersOfTen.withoutTrailingZeros(magnitude)
    guard coefficient <= Self.coefficientMax else { return nil }
    self.init(isNegative: isNegative, coefficient: coefficient, exponent: zeros)
  }

  /// Makes the decimal number nearest to a binary one, as the standard's conversion does.
  ///
  /// All 34 digits come from the binary number, so 0.1 gives 0.1000000000000000055511151231257827.
  /// `init(shortest:)` gives 0.1.
  public init(_ number: Double) {
    guard number.isFinite else {
      self = Self.special(number)
      return
    }
    guard number != 0 else {
      self.init(isNegative: number.sign == .minus, coefficient: 0, exponent: 0)
      return
    }
    let digits = Self.exactDigits(of: number.magnitude)
    self = Self.rounded(
      isNegative: number.sign == .minus, coefficient: digits.coefficient,
      exponent: digits.exponent, hasFraction: digits.hasFraction)
  }

  /// The digits of a number above 0.
  static func exactDigits(of number: Double) -> DecimalDigits {
    // number = significand × 2^power with an odd significand.
    let zeros = number.significandBitPattern.trailingZeroBitCount
    let shift = min(zeros, Double.significandBitCount)
    let hidden: UInt64 = number.isNormal ? 1 << 52 : 0
    let significand = (number.significandBitPattern | hidden) >> UInt64(shift)
    let power = max(Int(number.exponentBitPattern), 1) - 1075 + shift
    // A negative power of two is as many powers of five, with the point moved to the left.
    var expansion = DecimalExpansion(significand)
    expansion.multiply(by: power < 0 ? 5 : 2, times: abs(power))
    var digits = DecimalDigits()
    for digit in expansion.digits { digits.append(digit) }
    digits.exponent += min(power, 0)
    return digits
  }

  /// Makes the decimal number with the fewest digits that reads back to the same binary one.
  public init(shortest number: Double) {
    guard number.isFinite, let shortest = Decimal128("\(number)") else {
      self = Self.special(number)
      return
    }
    self = shortest.withoutFractionZeros
  }

  private static func special(_ number: Double) -> Decimal128 {
    number.isNaN ? nan : infinity(isNegative: number.sign == .minus)
  }

  /// The same number with the exponent 0 or as near to it as its digits allow.
  private var withoutFractionZeros: Decimal128 {
    let (coefficient, exponent) = (coefficient, exponent)
    guard coefficient != 0 else {
      return Decimal128(isNegative: isNegative, coefficient: 0, exponent: 0)
    }
    if exponent < 0 {
      let (kept, zeros) = PowersOfTen.withoutTrailingZeros(coefficient, atMost: -exponent)
      return Decimal128(isNegative: isNegative, coefficient: kept, exponent: exponent + zeros)
    }
    let room = min(exponent, Self.digitsMax - PowersOfTen.digits(coefficient))
    return Decimal128(
      isNegative: isNegative, coefficient: coefficient * PowersOfTen.all[room],
      exponent: exponent - room)
  }
}

extension Decimal128: ExpressibleByFloatLiteral {
  /// Makes the same number.
  public init(integerLiteral number: Int64) {
    self.init(number)
  }

  /// Creates the number of the literal, as far as a `Double` represents it.
  public init(floatLiteral number: Double) {
    self.init(shortest: number)
  }
}

extension Int64 {
  /// Makes the same number, or nil when it is not whole or does not fit.
  public init?(exactly number: Decimal128) {
    guard number.isFinite else { return nil }
    guard !number.isZero else {
      self = 0
      return
    }
    let (digits, zeros) = PowersOfTen.withoutTrailingZeros(number.coefficient)
    let place = number.exponent + zeros
    guard place >= 0, place < 20 else { return nil }
    let (whole, isTooLarge) = digits.multipliedReportingOverflow(by: PowersOfTen.all[place])
    guard !isTooLarge, let magnitude = Int128(exactly: whole) else { return nil }
    self.init(exactly: number.isNegative ? -magnitude : magnitude)
  }
}

extension Double {
  /// Creates the nearest binary number; a number that is too large becomes an infinity.
  public init(_ number: Decimal128) {
    guard number.isFinite, let nearest = Double(number.description) else {
      let magnitude: Double = number.isNaN ? .nan : .infinity
      self = number.isNegative ? -magnitude : magnitude
      return
    }
    self = nearest
  }
}

/// A whole number of any size in decimal.
private struct DecimalExpansion {
  private static let limbEnd: UInt64 = 1_000_000_000_000_000_000
  private static let limbDigits = 18
  /// Lowest first, each below 10^18.
  private var limbs: [UInt64]

  init(_ number: UInt64) {
    limbs = [number % Self.limbEnd, number / Self.limbEnd]
  }

  /// Multiplies by a power of a small number.
  mutating func multiply(by factor: UInt64, times: Int) {
    // As many digits at once as stay below 2^60, so that every carry fits.
    var (chunk, chunkCount) = (factor, 1)
    while chunk < 1 << 60 / factor { (chunk, chunkCount) = (chunk * factor, chunkCount + 1) }
    for _ in 0..<times / chunkCount { multiply(by: chunk) }
    for _ in 0..<times % chunkCount { multiply(by: factor) }
  }

  private mutating func multiply(by factor: UInt64) {
    var carry: UInt64 = 0
    for index in limbs.indices {
      let product = UInt128(limbs[index]) * UInt128(factor) + UInt128(carry)
      let (quotient, rest) = product.quotientAndRemainder(dividingBy: UInt128(Self.limbEnd))
      limbs[index] = UInt64(rest)
      carry = UInt64(quotient)
    }
    if carry > 0 { limbs.append(carry) }
  }

  /// The digits, highest first; there may be leading zeros.
  var digits: [UInt8] {
    limbs.reversed().flatMap { limb in
      var (rest, digits) = (limb, [UInt8](repeating: 0, count: Self.limbDigits))
      for index in digits.indices.reversed() {
        digits[index] = UInt8(rest % 10)
        rest /= 10
      }
      return digits
    }
  }
}
