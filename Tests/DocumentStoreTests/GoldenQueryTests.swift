// GoldenQueryTests.swift [U]: queries of the real library over its own files: the rows are equal,
// but for where the real library does not do what the language's documents say.
// Safety: a number's type is read from the text that NSNumber keeps for it.

import DocumentStore
import Foundation
import TestFiles
import Testing

@Suite("Queries of the real library")
struct GoldenQueryTests {
  /// Queries whose rows differ, by a part of them, and why.
  private static let differing: [(part: String, reason: String)] = [
    ("array_max()", "the largest of numbers below 0 is that of them"),
    ("toarray()", "integers are not cut to 32 bits, and booleans stay"),
    ("to_array()", "integers are not cut to 32 bits, and booleans stay"),
    ("array_agg()\",[\".v", "integers are not cut to 32 bits, and booleans stay"),
    (
      "\"CASE\": false}, [\"LIKE\"", "NOCASE is not told from other collations: cases do not matter"
    ),
  ]

  @Test("rows are the real library's")
  func rows() throws {
    let folder = try TemporaryFolder()
    var files: [String: DataFile] = [:]
    var (compared, answered) = (0, 0)
    for query in try StoredQueries.all() {
      let file =
        try files[query.database]
        ?? DataFile(path: try Golden.unpack(query.database, into: folder))
      files[query.database] = file
      file.setModel(TextModel.model, named: "textinfo")
      if Self.differing.contains(where: { query.json.contains($0.part) }) { continue }
      let found: QueryResult
      do {
        found = try file.read { try $0.run(StoreQuery(query.json), query.parameters) }
      } catch {
        #expect(!query.error.isEmpty, "\(query.json): \(error)")
        continue
      }
      answered += 1
      // What the real library ends with an error of SQL is answered here.
      guard query.error.isEmpty else { continue }
      #expect(found.columnTitles == query.titles)
      var (rows, expected) = (found.rows.map { $0.map(Shown.init) }, query.rows)
      if !query.json.contains("ORDER_BY") {
        rows.sort { "\($0)" < "\($1)" }
        expected.sort { "\($0)" < "\($1)" }
      }
      // The real library's dates wrap around after some hundred thousand years.
      if query.json.contains("millis") {
        rows.removeAll { $0.first == .text("big") }
        expected.removeAll { $0.first == .text("big") }
      }
      let place = zip(rows, expected).enumerated().first { $1.0 != $1.1 }
      #expect(rows.count == expected.count, "\(query.json)")
      #expect(place == nil, "\(query.json)")
      compared += 1
    }
    #expect(compared > 200, "\(compared)")
    for file in files.values { try file.close() }
  }
}

/// The real library's queries, with their rows.
struct StoredQueries {
  let database: String
  let json: String
  let parameters: [String: QueryValue]
  let titles: [String]
  let rows: [[Shown]]
  let error: String

  static func all() throws -> [StoredQueries] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "DocumentQueryTests/Golden")
    return try read(folder.appending(path: "queries.tsv"))
      + read(folder.appending(path: "queries-values.tsv.gz"))
  }

  private static func read(_ url: URL) throws -> [StoredQueries] {
    let data = try PackedFile.contents(url)
    let lines = String(decoding: data, as: UTF8.self).split(separator: "\n").dropFirst()
    return try lines.map { line in
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      let titles = try JSONSerialization.jsonObject(with: Data(fields[4].utf8)) as? [String]
      let rows = try JSONSerialization.jsonObject(with: Data(fields[5].utf8)) as? [[Any]]
      return StoredQueries(
        database: fields[0], json: fields[1],
        parameters: fields[2].isEmpty ? [:] : ["num": .integer(3)], titles: titles ?? [],
        rows: (rows ?? []).map { $0.map(Shown.init) }, error: fields.count > 6 ? fields[6] : "")
    }
  }
}

/// A value as it is compared: doubles to twelve digits, since functions of angles differ in the
/// last ones.
enum Shown: Hashable {
  case missing
  case null
  case boolean(Bool)
  case number(String)
  case text(String)
  case array([Shown])
  case dict([String: Shown])

  init(_ value: QueryValue) {
    switch value {
    case .missing: self = .missing
    case .null: self = .null
    case .boolean(let value): self = .boolean(value)
    case .integer(let value): self = .number("\(value)")
    case .unsigned(let value): self = .number("\(value)")
    case .real(let value): self.init(NSNumber(value: value))
    case .text(let text): self = .text(text)
    case .data, .collection:
      let object = value.json.flatMap {
        try? JSONSerialization.jsonObject(with: Data($0.utf8), options: .fragmentsAllowed)
      }
      self.init(object as Any)
    }
  }

  init(_ object: Any) {
    switch object {
    case let text as String: self = text == "\0MISSING" ? .missing : .text(text)
    case let number as NSNumber:
      let type = unsafe String(cString: number.objCType)
      if type == "c" || type == "B" {
        self = .boolean(number.boolValue)
      } else if number.doubleValue == number.doubleValue.rounded(), abs(number.doubleValue) < 1e15 {
        self = .number("\(number.int64Value)")
      } else if type == "d" {
        self = .number(String(format: "%.12g", number.doubleValue))
      } else {
        self = .number(number.stringValue)
      }
    case let items as [Any]: self = .array(items.map { Shown($0) })
    case let pairs as [String: Any]: self = .dict(pairs.mapValues { Shown($0) })
    default: self = .null
    }
  }
}
