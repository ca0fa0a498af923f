// Rule+Parameters.swift: at a call, values of one type are told apart by labels. Three without any
// are a riddle to readers, and the compiler sees no exchange of two.

import Foundation

/// Most parameters of one type that may stand in a declaration without labels.
private let unlabelledMax = 2

extension Rule {
  static let parameters = Rule("parameters") {
    [
      Planted("func between(_ a: Int, _ b: Int, _ c: Int) {}\n"),
      Planted(
        "init?(\n  _ a: [Int: Text], _ b: [Int: Text],\n  _ c: [Int: Text] = [:]\n) {}\n"
      ),
      Planted("func fold<T>(_ a: T, with b: (T, T) -> T, _ c: T, _ d: T) -> T {}\n"),
    ]
  } innocent: {
    [
      Planted("func between(_ a: Int, _ b: Int, and c: Int) {}\n"),
      Planted("func three(_ a: Int, _ b: Int, _ c: Int?) {}\n"),
      Planted("let call = between(_: 1, 2, 3)\n"),
    ]
  } check: { file in
    guard file.isIn(["Sources"]) else { return [] }
    return declarations(file.code.joined(separator: "\n")).compactMap { line, parameters in
      var counts: [String: Int] = [:]
      for type in parameters.compactMap(unlabelledType) { counts[type, default: 0] += 1 }
      guard let most = counts.filter({ $0.value > unlabelledMax }).keys.min() else { return nil }
      return Violation(
        path: file.path, line: line,
        message: "\(counts[most] ?? 0) parameters of type \(most) without labels; label them")
    }
  }

  /// Functions, initialisers and subscripts: the line of each, and its parameters' texts.
  private static func declarations(_ code: String) -> [(line: Int, parameters: [String])] {
    let keyword = /(?:\bfunc\s+[^\s(<]+|\binit[?!]?|\bsubscript)\s*(?:<[^>]*>)?\(/
    return code.matches(of: keyword).map { match in
      let line = code[..<match.range.lowerBound].count { $0 == "\n" } + 1
      return (line, parameters(code[match.range.upperBound...]))
    }
  }

  /// What commas part, up to the parenthesis that closes the list.
  private static func parameters(_ text: Substring) -> [String] {
    var (depth, parts, part) = (0, [String](), "")
    for character in text {
      if ")]}".contains(character) {
        if depth == 0 { break }
        depth -= 1
      }
      if "([{".contains(character) { depth += 1 }
      if character == ",", depth == 0 {
        parts.append(part)
        part = ""
      } else {
        part.append(character)
      }
    }
    return parts + [part]
  }

  /// The type of a parameter that a call gives without a label; nil of others.
  private static func unlabelledType(_ parameter: String) -> String? {
    guard let match = parameter.prefixMatch(of: /\s*_ \w+:\s*([^=]*)/) else { return nil }
    return match.1.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}
