// DecimalCasesTests.swift: two thousand nine hundred results of another implementation of the
// standard, Python's `decimal` (libmpdec), in Tests/DecimalCases; the script there made them.

import Testing

@testable import Engine

/// One line of the file.
private struct DecimalCase {
  let line: Int
  let operation: Substring
  let operands: [Substring]
  let result: Substring
  /// The bits of the result, when it is a decimal number.
  let bits: Substring?

  private static let path =
    #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
    + "/DecimalCases/decimal-cases.txt"

  static func all() throws -> [DecimalCase] {
    let text = String(
      decoding: try fileBytes(path), as: UTF8.self)
    return try text.split(separator: "\n").enumerated().map { index, line in
      let words = line.split(separator: " ")
      let hasBits = words[0] != "compare" && words[0] != "toDouble"
      try #require(words.count == (operandCounts[words[0]] ?? 0) + (hasBits ? 3 : 2), "\(line)")
      let end = words.count - (hasBits ? 2 : 1)
      return DecimalCase(
        line: index + 1, operation: words[0], operands: Array(words[1..<end]), result: words[end],
        bits: hasBits ? words[end + 1] : nil)
    }
  }

  private static let operandCounts: [Substring: Int] = [
    "text": 1, "add": 2, "subtract": 2, "multiply": 2, "divide": 2, "compare": 2,
    "fromDouble": 1, "toDouble": 1,
  ]
}

@Suite("Decimal numbers, as another implementation computes them")
struct DecimalCasesTests {
  private typealias Arithmetic =
    [Substring: @Sendable (Decimal128, Decimal128) -> Decimal128]

  private static let arithmetic: Arithmetic = [
    "add": { $0 + $1 }, "subtract": { $0 - $1 }, "multiply": { $0 * $1 }, "divide": { $0 / $1 },
  ]

  /// What our arithmetic gives: the text, and the bits where there are some.
  private func answer(_ item: DecimalCase, _ arithmetic: Arithmetic) throws -> (String, String?) {
    func shown(_ number: Decimal128) -> (String, String?) {
      (number.description, FixedBytes.hexadecimal(number.bytes))
    }
    if item.operation == "fromDouble" {
      let pattern = try #require(UInt64(item.operands[0], radix: 16))
      return shown(Decimal128(Double(bitPattern: pattern)))
    }
    let numbers = try item.operands.map { try #require(Decimal128(String($0)), "\($0)") }
    switch item.operation {
    case "text": return shown(numbers[0])
    case "compare": return ("\(Decimal128.compare(numbers[0], numbers[1]))", nil)
    case "toDouble":
      let pattern = String(Double(numbers[0]).bitPattern, radix: 16)
      return (String(repeating: "0", count: 16 - pattern.count) + pattern, nil)
    default:
      let operation = try #require(arithmetic[item.operation])
      return shown(operation(numbers[0], numbers[1]))
    }
  }

  /// The numbers of the lines that say something else than we do.
  private func differences(_ arithmetic: Arithmetic = arithmetic) throws -> [Int] {
    try DecimalCase.all().filter { item in
      let (text, bits) = try answer(item, arithmetic)
      return text != item.result || bits != item.bits.map(String.init)
    }.map(\.line)
  }

  @Test("every case has the same digits, the same exponent and the same bits")
  func cases() throws {
    let all = try DecimalCase.all()
    #expect(all.count == 2894)
    let different = try differences()
    for line in different.prefix(10) {
      let item = all[line - 1]
      let (text, _) = try answer(item, Self.arithmetic)
      Issue.record(
        "line \(line): \(item.operation) \(item.operands) is \(item.result), we say \(text)")
    }
    #expect(different.isEmpty)
  }

  /// The sentinel: arithmetic that is wrong in the last digit only is noticed.
  @Test("a number wrong by one in its last place is a difference")
  func wrongArithmetic() throws {
    var wrong = Self.arithmetic
    wrong["divide"] = { left, right in
      let quotient = left / right
      guard quotient.isFinite, quotient.coefficient % 1000 == 333 else { return quotient }
      return Decimal128(high: quotient.high, low: quotient.low + 1)
    }
    #expect(try !differences(wrong).isEmpty)
    wrong = Self.arithmetic
    wrong["add"] = { Double($0) + Double($1) == 0 ? .zero : $0 + $1 }
    #expect(try !differences(wrong).isEmpty)
  }
}
