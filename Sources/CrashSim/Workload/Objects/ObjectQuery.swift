// ObjectQuery.swift: a query of a scenario with its required result.

import LabCore

/// A query with its required result.
package struct ObjectQuery: Sendable, Hashable, Codable {
  /// The query, in the language of docs/reference/query-language.md.
  package var text: String
  /// The class.
  package var table: String
  /// The primary keys that it must find, in this order, if known.
  package var keys: [Int64]?
  /// How many objects it must find, if known.
  ///
  /// With neither, it must find what checking every object finds.
  package var count: Int?

  package init(text: String, table: String, keys: [Int64]? = nil, count: Int? = nil) {
    self.text = text
    self.table = table
    self.keys = keys
    self.count = count
  }

  /// The requirement, in words.
  var promise: String {
    if let keys { return "find \(keys) of \(table) by '\(text)'" }
    guard let count else { return "find by '\(text)' the \(table) objects that it holds for" }
    return "find \(Formatting.counted(count, "object")) of \(table) by '\(text)'"
  }
}
