// Decimal128+Text.swift: texts to numbers and back, as IEEE 754-2008 (5.12) and the General Decimal
// Arithmetic specification write them.
//   number   [+|-] (digits [. [digits]] | . digits) [E [+|-] digits]
//   special  [+|-] (Inf | Infinity | NaN [digits] | sNaN [digits])
// Letters may be lowercase or uppercase. No other characters are allowed before, between or after.

/// Decimal digits from the highest on, of which as many are kept as rounding needs.
struct DecimalDigits {
  static let countMax = 36
  private(set) var coefficient: UInt128 = 0
  var exponent = 0
  private(set) var hasFraction = false
  private var count = 0

  /// Takes the next digit.
  mutating func append(_ digit: UInt8, isBehindPoint: Bool = false) {
    guard count < Self.countMax else {
      if !isBehindPoint { exponent += 1 }
      if digit != 0 { hasFraction = true }
      return
    }
    coefficient = coefficient * 10 + UInt128(digit)
    if isBehindPoint { exponent -= 1 }
    if coefficient != 0 { count += 1 }
  }
}

extension Decimal128: LosslessStringConvertible {
  /// Creates a number from its text; see the grammar above.
  ///
  /// 34 digits are exact. Longer ones are rounded to the nearest number, and halves to an even
  /// digit; a number that is too large becomes an infinity, one that is too small 0.
  /// - Parameter text: A text in the standard's grammar; anything else, and a NaN's payload of
  ///   more than 33 digits, give nil.
  /// - Complexity: O(length), independent of the exponent.
  public init?(_ text: String) {
    var rest = text.utf8[...]
    let isNegative = Self.takeSign(&rest)
    guard let first = rest.first else { return nil }
    let isNumber = first == UInt8(ascii: ".") || Self.digit(first) != nil
    let number =
      isNumber
      ? Self.finite(&rest, isNegative: isNegative) : Self.special(rest, isNegative: isNegative)
    guard let number else { return nil }
    self = number
  }

  private static func takeSign(_ rest: inout Substring.UTF8View) -> Bool {
    guard let first = rest.first, first == UInt8(ascii: "+") || first == UInt8(ascii: "-") else {
      return false
    }
    rest.removeFirst()
    return first == UInt8(ascii: "-")
  }

  private static func digit(_ character: UInt8) -> UInt8? {
    let digit = character &- UInt8(ascii: "0")
    return digit < 10 ? digit : nil
  }

  private static func finite(_ rest: inout Substring.UTF8View, isNegative: Bool) -> Decimal128? {
    var digits = DecimalDigits()
    var (isBehindPoint, hasDigits) = (false, false)
    while let first = rest.first {
      if first == UInt8(ascii: "."), !isBehindPoint {
        isBehindPoint = true
      } else if let digit = digit(first) {
        hasDigits = true
        digits.append(digit, isBehindPoint: isBehindPoint)
      } else {
        break
      }
      rest.removeFirst()
    }
    guard hasDigits else { return nil }
    var exponent = 0
    if let first = rest.first {
      guard first | 0x20 == UInt8(ascii: "e") else { return nil }
      rest.removeFirst()
      guard let number = exponentNumber(&rest) else { return nil }
      exponent = number
    }
    return rounded(
      isNegative: isNegative, coefficient: digits.coefficient,
      exponent: digits.exponent + exponent, hasFraction: digits.hasFraction)
  }

  /// An exponent; values too large for any number of digits to offset are capped.
  private static func exponentNumber(_ rest: inout Substring.UTF8View) -> Int? {
    let isNegative = takeSign(&rest)
    guard !rest.isEmpty else { return nil }
    var number = 0
    for character in rest {
      guard let digit = digit(character) else { return nil }
      number = min(number * 10 + Int(digit), 1 << 56)
    }
    return isNegative ? -number : number
  }

  private static func special(_ rest: Substring.UTF8View, isNegative: Bool) -> Decimal128? {
    // The longest word has eight letters, and the longest payload 33 digits.
    var word: [UInt8] = []
    var digits = rest[...]
    while let first = digits.first, digit(first) == nil, word.count < 9 {
      word.append(first | 0x20)
      digits.removeFirst()
    }
    switch String(decoding: word, as: UTF8.self) {
    case "inf", "infinity": return digits.isEmpty ? infinity(isNegative: isNegative) : nil
    case "nan", "snan":
      var payload: UInt128 = 0
      for character in digits {
        guard let digit = digit(character), payload < PowersOfTen.all[33] else { return nil }
        payload = payload * 10 + UInt128(digit)
      }
      return Decimal128(isNegative: isNegative, signals: word.count == 4, payload: payload)
    default: return nil
    }
  }

  /// The standard's scientific text, which reads back to the same bits if these are canonical.
  ///
  /// Digits as they are while the exponent is 0 or below and at most five zeros follow the point,
  /// else one digit before the point and an exponent: `-12.50`, `0.000001`, `1E-7`, `1E+9`.
  public var description: String {
    let sign = isNegative ? "-" : ""
    guard !isNaN else {
      return sign + (isSignalingNaN ? "sNaN" : "NaN") + (payload == 0 ? "" : String(payload))
    }
    guard isFinite else { return sign + "Infinity" }
    let (digits, exponent) = (String(coefficient), exponent)
    let leading = exponent + digits.utf8.count - 1
    guard exponent <= 0, leading >= -6 else {
      let fraction = digits.dropFirst()
      return sign + digits.prefix(1) + (fraction.isEmpty ? "" : "." + fraction) + "E"
        + (leading < 0 ? "-" : "+") + String(abs(leading))
    }
    guard exponent < 0 else { return sign + digits }
    let zeros = max(0, 1 - exponent - digits.utf8.count)
    let padded = String(repeating: "0", count: zeros) + digits
    return sign + padded.dropLast(-exponent) + "." + padded.suffix(-exponent)
  }
}
