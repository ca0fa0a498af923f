// QueryTranslation.swift: translates a query in JSON or SQL++ to SQL over the tables of a document
// store. This module opens no file: the caller passes the schema (`QuerySchema`) and runs the SQL
// with the required functions registered (docs/reference/document-queries.md).

import Fleece

/// What a statement is for.
package enum QueryForm: Sendable {
  /// The real library's text.
  case library
  /// What is run here: without columns that only the real library's reader uses, and without calls
  /// that return their operand.
  case own
}

/// A query as SQL.
public struct QueryTranslation: Sendable {
  /// The statement.
  public let sql: String
  /// The names of the result's columns.
  public let columnTitles: [String]
  /// The number of columns of the statement before those: with a full-text search, the row and the
  /// positions of the words.
  public let firstColumn: Int
  /// Names of parameters; in the statement they are called `$_NAME`.
  public let parameters: [String]
  /// The collections that are read.
  public let collections: [QuerySchema.Collection]
  /// The collections whose view of live and deleted documents the query reads.
  public let views: [QuerySchema.Collection]

  /// Translates a query in JSON.
  /// - Parameters:
  ///   - text: The JSON: operands of SELECT, a SELECT, or a condition.
  ///   - schema: The names that may be used.
  /// - Throws: `DocumentQueryError` with the place in the JSON.
  /// - Complexity: O(bytes).
  public init(json text: String, schema: QuerySchema) throws(DocumentQueryError) {
    try self.init(json: text, schema: schema, form: .library)
  }

  package init(
    json text: String, schema: QuerySchema, form: QueryForm
  ) throws(DocumentQueryError) {
    try self.init(QueryNode(json: text), schema: schema, form: form)
  }

  init(_ node: QueryNode, schema: QuerySchema, form: QueryForm) throws(DocumentQueryError) {
    var reader = QueryReader()
    let select = try reader.query(node)
    var writer = SQLWriter(schema: schema, form: form)
    firstColumn = try writer.write(select, as: node.dict == nil ? .operand : .outermost)
    // A condition alone is not an operand of SELECT.
    columnTitles = try ColumnTitles(scope: writer.scope).titles(of: select)
    sql = writer.sql
    parameters = writer.parameters
    collections = writer.used
    views = writer.views
  }
}
