// ObjectQuery.swift: a query of a scenario with the answer that it must have.

import LabCore

/// A query with what it must find.
package struct ObjectQuery: Sendable, Hashable, Codable {
  /// The query, in the language of docs/reference/query-language.md.
  package var text: String
  /// The class.
  package var table: String
  /// The primary keys that it must find, in this order, when they are known.
  package var keys: [Int64]?
  /// How many it must find, when that is known.
  ///
  /// With neither, it must find what asking every object finds.
  package var count: Int?

  package init(text: String, table: String, keys: [Int64]? = nil, count: Int? = nil) {
    self.text = text
    self.table = table
    self.keys = keys
    self.count = count
  }

  /// What it must do, in words.
  var promise: String {
    if let keys { return "find \(keys) of \(table) by '\(text)'" }
    guard let count else { return "find by '\(text)' the \(table) objects that it holds for" }
    return "find \(Formatting.counted(count, "object")) of \(table) by '\(text)'"
  }
}
