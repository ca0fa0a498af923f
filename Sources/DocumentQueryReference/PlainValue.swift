// PlainValue.swift: values of documents and of queries in the simplest form, with their comparison
// rules (docs/reference/document-queries.md). This module uses neither SQL, nor Fleece, nor the
// translator.

/// A value.
package indirect enum PlainValue: Hashable, Sendable {
  case missing
  case null
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  case text(String)
  case array([PlainValue])
  /// By key.
  case dict([String: PlainValue])

  /// A case that the language reference leaves open, so that any result is correct.
  package struct Open: Error {}

  /// The value as JSON.
  package var json: String {
    switch self {
    case .missing, .null: return "null"
    case .boolean(let value): return value ? "true" : "false"
    case .integer(let value): return "\(value)"
    case .real(let value): return "\(value)"
    case .text(let text):
      return "\""
        + text.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }
        .joined() + "\""
    case .array(let items): return "[" + items.map(\.json).joined(separator: ",") + "]"
    case .dict(let pairs):
      let keys = pairs.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      return "{"
        + keys.map { "\(PlainValue.text($0).json):\(pairs[$0]?.json ?? "null")" }
        .joined(separator: ",") + "}"
    }
  }

  /// Numbers and booleans, texts, then all else.
  private var rank: Int {
    switch self {
    case .missing: 0
    case .boolean, .integer, .real: 1
    case .text: 2
    case .null, .array, .dict: 3
    }
  }

  /// Negative, 0 or positive, as the values sort.
  package func order(_ other: PlainValue) throws -> Int {
    guard rank == other.rank else { return rank - other.rank }
    switch (self, other) {
    case (.text(let one), .text(let two)):
      let (one, two) = (Array(one.utf8), Array(two.utf8))
      return one == two ? 0 : one.lexicographicallyPrecedes(two) ? -1 : 1
    case (.null, .null): return 0
    case (.null, .array), (.null, .dict): return -1
    case (.array, .null), (.dict, .null): return 1
    case (.array, _), (.dict, _):
      // The order of two different collections is unspecified; their equality is not.
      if self == other { return 0 }
      throw Open()
    default:
      if rank == 0 { return 0 }
      if case .integer(let one) = number, case .integer(let two) = other.number {
        return one < two ? -1 : one > two ? 1 : 0
      }
      let (one, two) = (number.double, other.number.double)
      return one < two ? -1 : one > two ? 1 : 0
    }
  }

  /// Whether values are equal.
  package func equals(_ other: PlainValue) throws -> Bool {
    if self == other { return true }
    guard rank == other.rank, rank != 3 else { return false }
    return try order(other) == 0
  }

  /// The value in arithmetic: the number at the beginning of a text, 0 for null and collections.
  package var number: PlainValue {
    switch self {
    case .boolean(let value): .integer(value ? 1 : 0)
    case .integer, .real, .missing: self
    case .text(let text): Self.number(text)
    case .null, .array, .dict: .integer(0)
    }
  }

  package var double: Double {
    switch self {
    case .integer(let value): Double(value)
    case .real(let value): value
    case .boolean(let value): value ? 1 : 0
    default: 0
    }
  }

  private static func number(_ text: String) -> PlainValue {
    let letters = Array(text.drop { $0 == " " })
    var best = PlainValue.integer(0)
    for count in 1...max(1, letters.count) where count <= letters.count {
      let part = String(letters[..<count])
      if let value = Int64(part) {
        best = .integer(value)
      } else if part.allSatisfy({ $0.isNumber || $0 == "." || $0 == "-" }), part.last != ".",
        part.contains("."), let value = Double(part)
      {
        best = .real(value)
      }
    }
    return best
  }

  /// Whether a value holds as a condition; nil for a missing one.
  package var truth: Bool? {
    if case .missing = self { return nil }
    return number.double != 0
  }

  /// The target of a path.
  package func at(_ path: some Sequence<PlainValue>) -> PlainValue {
    var value = self
    for step in path {
      switch (value, step) {
      case (.dict(let pairs), .text(let key)): value = pairs[key] ?? .missing
      case (.array(let items), .integer(let index)):
        let place = Int(index) < 0 ? items.count + Int(index) : Int(index)
        value = items.indices.contains(place) ? items[place] : .missing
      default: return .missing
      }
    }
    return value
  }
}
