// FleeceJSONReader+Numbers.swift: numbers of JSON. Integers that 64 bits hold stay integers; all
// others become the double nearest to the text.

extension JSONReader {
  /// The digits of a number, parsed.
  private struct Digits {
    /// The digits without the point; unused if they do not fit 64 bits.
    var magnitude: UInt64 = 0
    /// Whether 64 bits do not hold them.
    var isCut = false
    /// The number of digits after the point.
    var fraction = 0
    var isNegative = false
    var isReal = false
    /// The exponent after `e`.
    var exponent = 0

    @inline(__always)
    mutating func append(_ digit: UInt8) {
      let (product, isProductCut) = magnitude.multipliedReportingOverflow(by: 10)
      let (sum, isSumCut) = product.addingReportingOverflow(UInt64(digit - 0x30))
      if isProductCut || isSumCut { isCut = true }
      magnitude = sum
    }
  }

  /// Reads a number, whose first byte is next.
  mutating func number(into encoder: inout FleeceEncoder) throws(FleeceError) {
    let start = place
    let digits = try digits()
    if !digits.isReal, !digits.isCut {
      if !digits.isNegative { return try encoder.unsignedInteger(digits.magnitude) }
      // -2⁶³ has no counterpart above zero.
      if digits.magnitude <= 1 << 63 {
        return try encoder.integer(Int64(bitPattern: 0 &- digits.magnitude))
      }
    }
    try encoder.double(Self.exact(digits) ?? slow(text.part(at: start, count: place - start)))
  }

  private mutating func digits() throws(FleeceError) -> Digits {
    var digits = Digits()
    if peek() == UInt8(ascii: "-") {
      digits.isNegative = true
      place += 1
    }
    if peek() == UInt8(ascii: "0") {
      place += 1
      if isDigit { throw expected("no digit after a leading 0") }
    } else {
      guard isDigit else { throw expected("a digit") }
      while isDigit { digits.append(next()) }
    }
    if peek() == UInt8(ascii: ".") {
      digits.isReal = true
      place += 1
      guard isDigit else { throw expected("a digit") }
      while isDigit {
        digits.append(next())
        digits.fraction += 1
      }
    }
    if let letter = peek(), letter | 32 == UInt8(ascii: "e") {
      digits.isReal = true
      place += 1
      let isNegative = peek() == UInt8(ascii: "-")
      if isNegative || peek() == UInt8(ascii: "+") { place += 1 }
      guard isDigit else { throw expected("a digit") }
      // Larger exponents give infinity or zero anyway.
      while isDigit { digits.exponent = min(100_000, digits.exponent * 10 + Int(next() - 0x30)) }
      if isNegative { digits.exponent = -digits.exponent }
    }
    return digits
  }

  @inline(__always)
  private var isDigit: Bool {
    guard let byte = peek() else { return false }
    return byte >= 0x30 && byte <= 0x39
  }

  @inline(__always)
  private mutating func next() -> UInt8 {
    place += 1
    return text.uint8(place - 1)
  }

  /// The double of digits that a double holds exactly, by a power of ten that it holds exactly,
  /// too: one rounding, which is right.
  @inline(__always)
  private static func exact(_ digits: Digits) -> Double? {
    let exponent = digits.exponent - digits.fraction
    guard !digits.isCut, digits.magnitude <= 1 << 53, exponent >= -22, exponent <= 22 else {
      return nil
    }
    let magnitude = Double(digits.magnitude)
    let power = powers[exponent.magnitude < 23 ? Int(exponent.magnitude) : 0]
    let value = exponent < 0 ? magnitude / power : magnitude * power
    return digits.isNegative ? -value : value
  }

  private static let powers: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
  ]

  private func slow(_ number: FleeceBytes) -> Double {
    // The standard library rounds to nearest, and reads a number that is too large as infinity.
    Double(number.text) ?? .infinity
  }
}
