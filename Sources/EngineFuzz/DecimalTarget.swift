// DecimalTarget.swift: bytes → a text → a decimal number → its text; and the same bytes as the bits
// of three numbers. Invariants checked: a parsed text is written so that it parses to the same
// bits; any bits have such a text; laws of order and arithmetic that hold despite rounding.

import Engine
import Fuzz

enum DecimalTarget {
  static let target = FuzzTarget(
    name: "decimal", judges: "decimal texts and bits: texts read back, laws of order and sums",
    smokeCount: 3000,
    seeds: {
      [
        "0", "-1.50", "12345678901234567890123456789012345.5E-40", "1E+6144", "1E-6176", "+.5e7",
        "NaN12", "-sNaN", "Infinity", "-inf", "999999999999999999999999999999999950E6110",
      ].map { Array($0.utf8) } + [[UInt8](repeating: 0x30, count: 48)]
    }, run: { run($0) })

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    var outcome = FuzzOutcome.refused
    let text = String(decoding: input, as: UTF8.self)
    if let number = Decimal128(text) {
      outcome = .accepted
      if let wrong = wrongText(number, isCanonical: true) { return .finding(wrong) }
    }
    guard input.count >= 16 else { return outcome }
    var choices = MutantChoices(bytes: input)
    let numbers = (0..<3).map { _ in
      Decimal128(high: choices.number(8), low: choices.number(8))
    }
    if let wrong = numbers.lazy.compactMap({ wrongText($0, isCanonical: false) }).first {
      return .finding(wrong)
    }
    let (first, second) = (Int64(bitPattern: numbers[0].high), Int64(bitPattern: numbers[1].low))
    let wrong =
      wrongLaw(numbers[0], numbers[1], then: numbers[2]) ?? wrongProduct(first, second)
    return wrong.map { .finding($0) } ?? outcome
  }

  /// Products of integers have up to 38 digits, which are rounded here by themselves.
  private static func wrongProduct(_ first: Int64, _ second: Int64) -> String? {
    let exact = Int128(first) * Int128(second)
    var (digits, unit) = (exact.magnitude, 1 as UInt128)
    while digits / unit >= 10_000_000_000_000_000_000_000_000_000_000_000 { unit *= 10 }
    let (kept, rest) = digits.quotientAndRemainder(dividingBy: unit)
    let isUp = rest * 2 > unit || rest * 2 == unit && kept % 2 == 1
    digits = (isUp ? kept + 1 : kept) * unit
    let product = Decimal128(first) * Decimal128(second)
    guard let expected = Decimal128((exact < 0 ? "-" : "") + String(digits)),
      product == expected, Decimal128(exactly: digits) == product.magnitude
    else { return "\(first) × \(second) is \(product), not \(digits)" }
    return nil
  }

  private static func wrongText(_ number: Decimal128, isCanonical: Bool) -> String? {
    let text = number.description
    guard let again = Decimal128(text) else { return "\(number.bytes) is \(text): no number" }
    guard again == number, again.hashValue == number.hashValue else {
      return "\(number.bytes) is \(text), which is another number"
    }
    guard !isCanonical || again.isIdentical(to: number), again.description == text else {
      return "\(text) reads back to \(again.bytes), not \(number.bytes)"
    }
    let double = Double(number)
    guard double.isNaN == number.isNaN, Double(Decimal128(double)) == double || double.isNaN else {
      return "\(text) as a Double is \(double), and does not come back"
    }
    return nil
  }

  private static func wrongLaw(
    _ first: Decimal128, _ second: Decimal128, then third: Decimal128
  ) -> String? {
    let order = Decimal128.compare(first, second)
    guard order == -Decimal128.compare(second, first) else { return "order of \(first), \(second)" }
    if order <= 0, Decimal128.compare(second, third) <= 0, Decimal128.compare(first, third) > 0 {
      return "\(first) ≤ \(second) ≤ \(third), and not the ends"
    }
    let (sum, product) = (first + second, first * second)
    guard sum == second + first, product == second * first else {
      return "\(first) and \(second) do not commute"
    }
    guard first - second == -(second - first) || sum.isNaN else {
      return "\(first) - \(second) is not the other difference turned round"
    }
    guard first.isFinite, second.isFinite else { return nil }
    if first + 0 != first || first * 1 != first || first / 1 != first || first - first != 0 {
      return "0 or 1 changes \(first)"
    }
    // Rounding keeps order: adding the same number to both sides does not reverse it.
    if order < 0, third.isFinite, first + third > second + third {
      return "\(third) added to \(first) and \(second) turns them round"
    }
    if !first.isZero, first / first != 1 { return "\(first) divided by itself" }
    return nil
  }
}
