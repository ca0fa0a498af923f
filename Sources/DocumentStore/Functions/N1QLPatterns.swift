// N1QLPatterns.swift: functions of patterns, and LIKE. The result is null for a value that is not a
// text, and for an invalid pattern.

import Fleece

/// Functions of patterns.
enum N1QLPatterns {
  static let all: [SQLFunction] =
    ["regexp_contains", "regexp_like"].map { name in
      SQLFunction(name: name, argumentCount: 2) { call in
        guard let (text, pattern) = begin(call) else { return }
        call.result(pattern.match(text) != nil)
      }
    } + [
      SQLFunction(name: "regexp_position", argumentCount: 2) { call in
        guard let (text, pattern) = begin(call) else { return }
        call.result(Int64(pattern.match(text)?[0] ?? -1))
      },
      SQLFunction(name: "regexp_replace", argumentCount: 3, body: replace),
      SQLFunction(name: "regexp_replace", argumentCount: 4, body: replace),
    ]

  /// Limit of letters that a replacement may visit again, while it searches for the longest match.
  private static let lettersMax = 2_000_000

  /// The text and the pattern; nil when the result is given.
  private static func begin(_ call: FunctionCall) -> ([UInt32], RegularExpression)? {
    if call.endsForAbsent() { return nil }
    guard let text = call.text(0), let pattern = call.text(1),
      let expression = call.state.patterns.expression(pattern)
    else {
      call.resultNull()
      return nil
    }
    return (text.unicodeScalars.map(\.value), expression)
  }

  /// Replaces matches, all or up to the number in the fourth argument.
  ///
  /// In the new text `$1` is a group and `$&` the match.
  private static func replace(_ call: FunctionCall) {
    guard let (text, pattern) = begin(call) else { return }
    guard let replacement = call.text(2) else { return call.resultNull() }
    var left = call.count > 3 ? call.number(3).flatMap { Int64(exactly: $0) } ?? -1 : -1
    if left < 0 { left = .max }
    let template = Array(replacement.unicodeScalars.map(\.value))
    var (output, place, lettersLeft) = ([UInt32](), 0, lettersMax + text.count)
    while left > 0, place <= text.count,
      let match = pattern.match(text, from: place, left: &lettersLeft), let start = match[0],
      let end = match[1]
    {
      output += text[place..<start]
      append(template, match, text, to: &output)
      left -= 1
      if end == start {
        if start < text.count { output.append(text[start]) }
        place = end + 1
      } else {
        place = end
      }
      guard output.count <= 1 << 24, lettersLeft >= 0 else {
        return call.result(error: "regexp_replace has too much to look at")
      }
    }
    if place < text.count { output += text[place...] }
    var scalars = String.UnicodeScalarView()
    for value in output { scalars.append(Unicode.Scalar(value) ?? "\u{fffd}") }
    call.result(text: String(scalars))
  }

  private static func append(
    _ template: [UInt32], _ match: [Int?], _ text: [UInt32], to output: inout [UInt32]
  ) {
    var index = 0
    while index < template.count {
      let letter = template[index]
      index += 1
      guard letter == 0x24, index < template.count else {
        output.append(letter)
        continue
      }
      let next = template[index]
      let group: Int? = next == 0x26 ? 0 : (0x30...0x39).contains(next) ? Int(next - 0x30) : nil
      if next == 0x24 {
        output.append(next)
        index += 1
      } else if let group, 2 * group + 1 < match.count {
        index += 1
        if let start = match[2 * group], let end = match[2 * group + 1] {
          output += text[start..<end]
        }
      } else {
        output.append(letter)
      }
    }
  }
}
