// IndexPlan.swift: the SQL objects of an index, in order of creation. The SQL texts are exactly
// those of the real library: both libraries compare them to determine whether an index exists
// already, and triggers are found by their names.

import DocumentQuery
import Fleece

/// The parts of an index.
struct IndexPlan {
  /// A table of an index, with the SQL that fills and maintains it.
  struct Table {
    var name: String
    let sql: String
    /// The columns that are filled.
    let columns: String
    /// The query that computes its rows from the existing documents.
    let rows: String
    var triggers: [(name: String, sql: String)] = []

    /// Fills it.
    var fill: String { "INSERT INTO \(IndexNames.sql(name)) (\(columns)) \(rows)" }
  }

  /// Tables, outermost arrays first; other indexes may have them too.
  var tables: [Table] = []
  /// SQLite's index; nil for full text, and for predictions without a property.
  var index: String?
  /// The table as the list names it.
  var listedTable: String?

  /// The plan of an index.
  /// - Throws: `DocumentStoreError` with code `.invalidParameter` for expressions that none can
  ///   have.
  init(_ wanted: IndexSpecification, for store: KeyStoreName) throws(DocumentStoreError) {
    switch wanted.kind {
    case .value: try planValue(wanted, store)
    case .fullText(let options): try planFullText(wanted, options, store)
    case .array(let path): try planArray(wanted, path: path, store)
    case .predictive: try planPrediction(wanted, store)
    }
  }

  /// A trigger.
  static func trigger(
    _ table: String, _ suffix: String, at event: String, on parent: String, when condition: String,
    do statement: String
  ) -> (name: String, sql: String) {
    let name = "\(table)::\(suffix)"
    let test = condition.isEmpty ? "" : "WHEN \(condition)"
    let sql =
      "CREATE TRIGGER \(identifier(name)) \(event) ON \(parent) \(test)  "
      + "BEGIN \(statement); END"
    return (name, sql)
  }

  /// Translates expressions, with errors of this module.
  static func translate(
    _ wanted: IndexSpecification, json: String? = nil, rows: IndexExpression.Rows = .documents,
    body: String = "body"
  ) throws(DocumentStoreError) -> IndexExpression.Translation {
    do {
      return try IndexExpression.translate(
        json: json ?? wanted.expressions, rows: rows, body: body)
    } catch {
      throw Self.invalid(wanted, error.description)
    }
  }

  static func invalid(_ wanted: IndexSpecification, _ reason: String) -> DocumentStoreError {
    DocumentStoreError(.invalidParameter, "index \(quoted(wanted.name)): \(reason)")
  }

  /// The condition of an index; in the default collection tombstones from before 3.1 are excluded.
  static func condition(_ condition: String?, prefix: String, _ store: KeyStoreName) -> String {
    guard store == .defaultCollection else { return condition ?? "" }
    let isLive = "(\(prefix)flags & 1 = 0)"
    return condition.map { "(\($0)) AND \(isLive)" } ?? isLive
  }

  private mutating func planValue(
    _ wanted: IndexSpecification, _ store: KeyStoreName
  ) throws(DocumentStoreError) {
    let found = try Self.translate(wanted)
    guard !found.expressions.isEmpty else {
      throw Self.invalid(wanted, "a value index needs an expression")
    }
    let test = found.condition.map { " WHERE " + Self.condition($0, prefix: "", store) } ?? ""
    index =
      "CREATE INDEX \(IndexNames.sql(wanted.name)) ON \(IndexNames.sql(store.table)) "
      + "(\(found.expressions.joined(separator: ", ")))\(test)"
  }
}
