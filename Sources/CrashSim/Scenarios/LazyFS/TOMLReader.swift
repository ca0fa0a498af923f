// TOMLReader.swift: the part of TOML that LazyFS's configurations use: tables, arrays of tables,
// keys with strings, whole and other numbers, truth values, and arrays of these (decision 1132).
// What it does not know is refused with its place, never passed over.

import LabCore

/// A value of a key.
package enum TOMLValue: Hashable, Sendable {
  case string(String)
  case integer(Int)
  case number(String)
  case boolean(Bool)
  case array([TOMLValue])
}

/// A table with its keys in order; keys before the first header are in a table without a name.
package struct TOMLTable: Hashable, Sendable {
  /// The name in the header, its parts joined by dots.
  package let name: String
  /// True for a header in double brackets, of which there may be several with one name.
  package let isElement: Bool
  /// Line of the header, from 1.
  package let line: Int
  package var values: [String: TOMLValue] = [:]
}

/// Reads a text line by line; an array may go over several.
package struct TOMLReader {
  private let file: String
  private var rest: Substring
  private var line = 1

  /// The tables of a text.
  /// - Throws: `LabError` with code `.usage`, file and line, for what is not understood.
  package static func read(_ text: String, file: String) throws(LabError) -> [TOMLTable] {
    var reader = TOMLReader(file: file, rest: text[...])
    return try reader.tables()
  }

  private init(file: String, rest: Substring) {
    self.file = file
    self.rest = rest
  }

  private func refuse(_ words: String) -> LabError { .usage("\(file):\(line):1: \(words)") }

  private mutating func tables() throws(LabError) -> [TOMLTable] {
    var tables = [TOMLTable(name: "", isElement: false, line: 1)]
    while true {
      skip(linesToo: true)
      guard let first = rest.first else { return tables }
      if first == "[" {
        let table = try header()
        if !table.isElement, tables.contains(where: { $0.name == table.name }) {
          throw refuse("the table [\(table.name)] is there twice")
        }
        tables.append(table)
      } else {
        let key = try word()
        skip()
        guard take("=") else { throw refuse("there is no '=' behind the key '\(key)'") }
        let value = try self.value()
        let last = tables.count - 1
        guard tables[last].values.updateValue(value, forKey: key) == nil else {
          throw refuse("the key '\(key)' is there twice")
        }
      }
      skip()
      guard rest.isEmpty || rest.first?.isNewline == true else {
        throw refuse("'\(rest.prefix { !$0.isNewline }.prefix(40))' is left over on the line")
      }
    }
  }

  private mutating func header() throws(LabError) -> TOMLTable {
    let begin = line
    let isElement = rest.hasPrefix("[[")
    rest = rest.dropFirst(isElement ? 2 : 1)
    let text = rest.prefix { $0 != "]" && !$0.isNewline }
    rest = rest.dropFirst(text.count)
    guard take("]"), !isElement || take("]") else { throw refuse("a header without its ']'") }
    let name = text.split(separator: ".", omittingEmptySubsequences: false)
      .map { Self.trimmed($0) }.joined(separator: ".")
    guard !name.isEmpty else { throw refuse("a header without a name") }
    return TOMLTable(name: name, isElement: isElement, line: begin)
  }

  /// Without blanks and quotes around it.
  private static func trimmed(_ text: Substring) -> String {
    let inner = text.drop { $0 == " " || $0 == "\t" }
    let trimmed = inner.reversed().drop { $0 == " " || $0 == "\t" }.reversed()
    return String(trimmed.filter { $0 != "\"" })
  }

  private mutating func word() throws(LabError) -> String {
    if rest.first == "\"" || rest.first == "'" { return try string() }
    let word = rest.prefix { $0.isLetter || $0.isNumber || "_-.".contains($0) }
    guard !word.isEmpty else { throw refuse("a key was expected, not '\(rest.prefix(10))'") }
    rest = rest.dropFirst(word.count)
    return String(word)
  }

  private mutating func value() throws(LabError) -> TOMLValue {
    skip()
    guard let first = rest.first else { throw refuse("a value is missing") }
    if first == "\"" || first == "'" { return .string(try string()) }
    if first == "[" { return .array(try array()) }
    let text = rest.prefix { !$0.isWhitespace && !",]#".contains($0) }
    rest = rest.dropFirst(text.count)
    if text == "true" { return .boolean(true) }
    if text == "false" { return .boolean(false) }
    let digits = text.filter { $0 != "_" }
    if let number = Int(digits) { return .integer(number) }
    if Double(digits) != nil { return .number(digits) }
    throw refuse("'\(text.prefix(40))' is no string in quotes, number, truth value or array")
  }

  private mutating func array() throws(LabError) -> [TOMLValue] {
    _ = take("[")
    var values: [TOMLValue] = []
    while true {
      skip(linesToo: true)
      if take("]") { return values }
      guard values.count < 1000 else { throw refuse("an array of more than 1000 values") }
      guard rest.first != "[" else { throw refuse("arrays in arrays are not read") }
      values.append(try value())
      skip(linesToo: true)
      if take(",") { continue }
      guard take("]") else { throw refuse("an array without its ']'") }
      return values
    }
  }

  private mutating func string() throws(LabError) -> String {
    guard let quote = rest.popFirst(), !rest.hasPrefix("\(quote)\(quote)") else {
      throw refuse("strings of several lines are not read")
    }
    var text = ""
    while let character = rest.popFirst(), !character.isNewline {
      if character == quote { return text }
      guard character == "\\", quote == "\"" else {
        text.append(character)
        continue
      }
      switch rest.popFirst() {
      case "n": text.append("\n")
      case "t": text.append("\t")
      case "\\": text.append("\\")
      case "\"": text.append("\"")
      case let other: throw refuse("'\\\(other.map(String.init) ?? "")' in a string is not read")
      }
    }
    throw refuse("a string without its end")
  }

  private mutating func take(_ character: Character) -> Bool {
    guard rest.first == character else { return false }
    rest = rest.dropFirst()
    return true
  }

  /// Passes over blanks and comments.
  private mutating func skip(linesToo: Bool = false) {
    while let first = rest.first {
      if first == "#" {
        rest = rest.drop { !$0.isNewline }
      } else if first.isNewline {
        guard linesToo else { return }
        line += 1
        rest = rest.dropFirst()
      } else if first.isWhitespace {
        rest = rest.dropFirst()
      } else {
        return
      }
    }
  }
}
