// StoreQuery.swift: a query as passed by a caller: a text and a time limit.

/// A query over the documents of a data file.
public struct StoreQuery: Sendable, Hashable {
  /// The language of the text.
  public enum Language: Sendable, Hashable {
    /// Couchbase Lite's JSON language.
    case json
    /// SQL++, the common part of it.
    case text
  }

  /// The query.
  public let text: String
  /// The language of the text.
  public let language: Language
  /// Milliseconds that it may run; nil for any time.
  public var timeLimitMilliseconds: Int?

  /// A query.
  /// - Parameters:
  ///   - text: The query.
  ///   - language: The language of the text.
  ///   - timeLimitMilliseconds: How long it may run.
  public init(
    _ text: String, language: Language = .json, timeLimitMilliseconds: Int? = nil
  ) {
    self.text = text
    self.language = language
    self.timeLimitMilliseconds = timeLimitMilliseconds
  }
}

/// The result of a query.
public struct QueryResult: Sendable, Hashable {
  /// The names of the columns.
  public let columnTitles: [String]
  /// How many values a row has; 0 without rows.
  package let width: Int
  /// The values, row by row.
  package let values: [QueryValue]

  /// The rows; each has a value for each column.
  /// - Complexity: O(values).
  public var rows: [[QueryValue]] {
    guard width > 0 else { return [] }
    return stride(from: 0, to: values.count, by: width).map { Array(values[$0..<$0 + width]) }
  }
}

/// How a query runs.
public struct QueryPlan: Sendable, Hashable, CustomStringConvertible {
  /// The query as SQL.
  public let sql: String
  /// SQLite's steps: the tables and indexes it uses; indented by nesting.
  public let steps: [String]

  /// The SQL and the steps, a line each.
  public var description: String { ([sql, ""] + steps).joined(separator: "\n") }
}
