// ObjectQuery.swift: a query of a scenario with the answer that it must have.

/// A query with what it must find.
package struct ObjectQuery: Sendable, Hashable, Codable {
  /// The query, in the language of docs/query-language.md.
  package var text: String
  /// The class.
  package var table: String
  /// The primary keys that it must find, in this order; nil when only their number is known.
  package var keys: [Int64]?
  /// How many it must find.
  package var count: Int

  package init(text: String, table: String, keys: [Int64]? = nil, count: Int) {
    self.text = text
    self.table = table
    self.keys = keys
    self.count = count
  }
}
