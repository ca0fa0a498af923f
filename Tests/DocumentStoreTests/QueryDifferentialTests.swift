// QueryDifferentialTests.swift: drawn queries over drawn documents: the store's rows against those
// of an evaluator that knows neither SQL nor the translator. `FAULTLINE_LARGE` draws a million,
// `make query-pairs` two million.

import DocumentQueryReference
import DocumentStore
import Foundation
import Requirements
import Testing

@Suite("Queries against the naive evaluator")
struct QueryDifferentialTests {
  /// A hundred databases with 200 queries each, at most: a part that ended is not run again when
  /// `QUERY_PAIRS_FROM` starts behind it.
  struct Part: Sendable, CustomTestStringConvertible {
    let seeds: Range<UInt64>
    let hasIndexes: Bool
    var testDescription: String { "\(seeds), \(hasIndexes ? "with" : "without") indexes" }
  }

  /// What the tests run, or with `FAULTLINE_LARGE` half a million pairs without indexes and half a
  /// million with them: databases of `QUERY_PAIRS_FROM` to `QUERY_PAIRS_FROM + QUERY_PAIRS_COUNT`.
  static let parts: [Part] = {
    let first = FullSize.setting("QUERY_PAIRS_FROM", 0)
    let count = FullSize.isOn ? FullSize.setting("QUERY_PAIRS_COUNT", 2700) : 12
    let end = first + count
    return stride(from: first, to: end, by: 100).flatMap { from in
      [false, true].map { Part(seeds: from..<min(from + 100, end), hasIndexes: $0) }
    }
  }()

  @Test("drawn queries over drawn documents have equal rows", arguments: parts)
  func drawn(part: Part) throws {
    var (compared, open, failures) = (0, 0, 0)
    let folder = try TemporaryFolder()
    let file = try folder.make()
    if part.hasIndexes { try Self.makeIndexes(file) }
    for seed in part.seeds {
      var generator = PlainGenerator(seed: seed &+ 1)
      var collection = generator.documents(2 + generator.random.below(7))
      if part.hasIndexes { collection = collection.plain }
      try Self.fill(file, collection)
      try file.read { snapshot in
        for _ in 0..<200 {
          let query = generator.query()
          guard let expected = try? collection.rows(of: query) else {
            open += 1
            continue
          }
          guard failures < 5 else { return }
          let found = try snapshot.run(StoreQuery(query.json)).rows.map { try $0.map(Self.plain) }
          let isEqual = Self.isEqual(found, expected.rows, isOrdered: expected.isOrdered)
          failures += isEqual ? 0 : 1
          #expect(
            isEqual,
            "seed \(seed): \(query.json)\n\(Self.shown(found, expected.rows, collection))")
          compared += 1
        }
      }
    }
    #expect(compared > part.seeds.count * 120, "\(compared) compared, \(open) open")
    print("differential: \(part): \(compared) compared, \(open) open, \(failures) unequal")
    try file.close()
  }

  private static func makeIndexes(_ file: DataFile) throws {
    try file.write { transaction in
      let store = try transaction.collection()
      for (name, kind, json) in [
        ("n", .value, #"[[".n"]]"#), ("tm", .value, #"[[".t"],[".m"]]"#),
        ("some", .value, #"{"WHAT":[[".m"]],"WHERE":[">",[".n"],0]}"#),
        ("a", .array(path: "a"), "[]"), ("o", .array(path: "o"), #"[[".x"]]"#),
      ] as [(String, IndexSpecification.Kind, String)] {
        try store.createIndex(IndexSpecification(name, kind, json: json))
      }
    }
  }

  private static func fill(_ file: DataFile, _ collection: PlainCollection) throws {
    try file.write { transaction in
      let store = try transaction.collection()
      for index in 0..<10 { _ = try store.purge("d\(index)") }
      for document in collection.documents {
        var record = Record(
          key: document.id, body: try transaction.encode(json: document.value.json))
        try store.set(&record)
      }
    }
  }

  private static func shown(
    _ found: [[PlainValue]], _ expected: [[PlainValue]], _ collection: PlainCollection
  ) -> String {
    func text(_ rows: [[PlainValue]]) -> String {
      rows.map { $0.map { $0 == .missing ? "-" : $0.json }.joined(separator: " ") }
        .joined(separator: " | ")
    }
    let documents = collection.documents.map { "\($0.id) \($0.value.json)" }
    return ([text(found), text(expected)] + documents).joined(separator: "\n")
  }

  private static func isEqual(
    _ found: [[PlainValue]], _ expected: [[PlainValue]], isOrdered: Bool
  ) -> Bool {
    if isOrdered || found == expected { return found == expected }
    var counts: [[PlainValue]: Int] = [:]
    for row in found { counts[row, default: 0] += 1 }
    for row in expected { counts[row, default: 0] -= 1 }
    return counts.values.allSatisfy { $0 == 0 }
  }

  private static func plain(_ value: QueryValue) throws -> PlainValue {
    switch value {
    case .missing: return .missing
    case .null: return .null
    case .boolean(let value): return .boolean(value)
    case .integer(let value): return .integer(value)
    case .unsigned(let value): return .real(Double(value))
    case .real(let value): return .real(value)
    case .text(let text): return .text(text)
    case .data: return .null
    case .collection:
      let json = try #require(value.json)
      return PlainValue(json: json)
    }
  }
}

extension PlainValue {
  /// A value of JSON; an integer has no point.
  init(json: String) {
    var reader = PlainReader(letters: Array(json.unicodeScalars))
    self = reader.value()
  }
}

/// Reads JSON that is known to be right.
private struct PlainReader {
  let letters: [Unicode.Scalar]
  var place = 0

  mutating func value() -> PlainValue {
    switch letters[place] {
    case "n": return word("null", .null)
    case "t": return word("true", .boolean(true))
    case "f": return word("false", .boolean(false))
    case "\"": return .text(text())
    case "[":
      var items: [PlainValue] = []
      place += 1
      while letters[place] != "]" {
        if letters[place] == "," { place += 1 }
        items.append(value())
      }
      place += 1
      return .array(items)
    case "{":
      var pairs: [String: PlainValue] = [:]
      place += 1
      while letters[place] != "}" {
        if letters[place] == "," { place += 1 }
        let key = text()
        place += 1
        pairs[key] = value()
      }
      place += 1
      return .dict(pairs)
    default:
      var digits = ""
      while place < letters.count, "+-.0123456789eE".unicodeScalars.contains(letters[place]) {
        digits.unicodeScalars.append(letters[place])
        place += 1
      }
      return Int64(digits).map { .integer($0) } ?? .real(Double(digits) ?? .nan)
    }
  }

  private mutating func word(_ word: String, _ value: PlainValue) -> PlainValue {
    place += word.count
    return value
  }

  private mutating func text() -> String {
    var text = String.UnicodeScalarView()
    place += 1
    while letters[place] != "\"" {
      if letters[place] == "\\" { place += 1 }
      text.append(letters[place])
      place += 1
    }
    place += 1
    return String(text)
  }
}
