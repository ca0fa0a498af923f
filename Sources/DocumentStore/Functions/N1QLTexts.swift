// N1QLTexts.swift: functions of texts. Lengths are of Unicode scalars.

import Fleece

/// Functions of texts.
enum N1QLTexts {
  static let all: [SQLFunction] =
    [
      text("N1QL_length") { $0.result(Int64($1.unicodeScalars.count)) },
      text("N1QL_lower") { $0.result(text: $1.lowercased()) },
      text("N1QL_upper") { $0.result(text: $1.uppercased()) },
      SQLFunction(name: "concat", argumentCount: -1, body: concatenate),
      SQLFunction(name: "contains", argumentCount: 2, body: contains),
    ]
    + [("N1QL_trim", true, true), ("N1QL_ltrim", true, false), ("N1QL_rtrim", false, true)]
    .flatMap { name, front, back in
      ([1, 2] as [Int32]).map { count in
        SQLFunction(name: name, argumentCount: count) { trim($0, front: front, back: back) }
      }
    }

  private static func text(
    _ name: String, _ function: @escaping @Sendable (FunctionCall, String) -> Void
  ) -> SQLFunction {
    SQLFunction(name: name, argumentCount: 1) { call in
      if call.endsForAbsent() { return }
      guard let text = call.text(0) else { return call.resultNull() }
      function(call, text)
    }
  }

  /// Values as texts, concatenated; null is `null`.
  private static func concatenate(_ call: FunctionCall) throws {
    var text = ""
    for index in 0..<call.count {
      guard call.kind(index) != .null else { return call.resultMissing() }
      text += try call.json(index)
    }
    call.result(text: text)
  }

  private static func contains(_ call: FunctionCall) {
    if call.endsForAbsent() { return }
    guard let text = call.text(0), let part = call.text(1) else { return call.result(false) }
    call.result(contains(Array(text.utf8), Array(part.utf8)))
  }

  /// Whether bytes have others in them.
  /// - Complexity: O(text + part).
  static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
    guard !part.isEmpty else { return true }
    // For each prefix of the part, the length of the longest proper prefix that is also its suffix.
    var borders = [Int](repeating: 0, count: part.count)
    var length = 0
    for index in 1..<max(1, part.count) {
      while length > 0, part[index] != part[length] { length = borders[length - 1] }
      if part[index] == part[length] { length += 1 }
      borders[index] = length
    }
    length = 0
    for byte in text {
      while length > 0, byte != part[length] { length = borders[length - 1] }
      if byte == part[length] { length += 1 }
      if length == part.count { return true }
    }
    return false
  }

  /// Values other than texts are returned unchanged, as with the real library.
  private static func trim(_ call: FunctionCall, front: Bool, back: Bool) {
    if call.endsForAbsent() { return }
    guard let text = call.text(0) else { return call.result(argument: 0) }
    var isTrimmed: (Unicode.Scalar) -> Bool = { $0.properties.isWhitespace }
    if call.count == 2 {
      guard let set = call.text(1) else { return call.resultNull() }
      let scalars = Set(set.unicodeScalars)
      isTrimmed = { scalars.contains($0) }
    }
    var rest = text.unicodeScalars[...]
    while front, let first = rest.first, isTrimmed(first) { rest.removeFirst() }
    while back, let last = rest.last, isTrimmed(last) { rest.removeLast() }
    call.result(text: String(String.UnicodeScalarView(rest)))
  }
}
