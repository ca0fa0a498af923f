// IndexExpression.swift: the expressions of an index as SQL, with the texts that the real library
// compares and that queries are written with.

import Fleece

/// The SQL of an index's expressions.
public enum IndexExpression {
  /// Which rows the expressions are about.
  public enum Rows: Sendable {
    /// Documents.
    case documents
    /// Items in the table of an array index, or predictions.
    case items
    /// Documents for a full-text index: `fl_fts_value` reads their properties.
    case texts
  }

  /// Expressions and condition of an index.
  public struct Translation: Sendable, Hashable {
    /// The SQL of each expression.
    public let expressions: [String]
    /// The path of each expression that is a property, in the form used in SQL; nil for others.
    public let paths: [String?]
    /// The SQL of the condition.
    public let condition: String?
  }

  /// Translates the expressions of an index.
  /// - Parameters:
  ///   - text: The JSON: an array of expressions, or `{"WHAT": […], "WHERE": …}`.
  ///   - rows: Which rows they are about.
  ///   - body: The column with the body; a prefix with a point is used for the other columns, too:
  ///     `body`, `new.body`.
  /// - Returns: The SQL.
  /// - Throws: `DocumentQueryError` with the place in the JSON.
  /// - Complexity: O(bytes).
  public static func translate(
    json text: String, rows: Rows = .documents, body: String = "body"
  ) throws(DocumentQueryError) -> Translation {
    let node = try QueryNode(json: text)
    var (what, condition) = (node, QueryNode?.none)
    if let pairs = node.dict {
      guard let list = pairs.first(where: { $0.key.uppercased() == "WHAT" }) else {
        throw DocumentQueryError(.operands, "an index needs WHAT", at: node.place)
      }
      what = list.value
      for pair in pairs where pair.key.uppercased() != "WHAT" {
        guard pair.key.uppercased() == "WHERE" else {
          throw DocumentQueryError(
            .unknownName, "unknown clause \(shown(pair.key)) of an index", at: pair.value.place,
            nearest: nearestName(to: pair.key, among: ["WHAT", "WHERE"]))
        }
        condition = pair.value
      }
    }
    return try translate(what, condition, rows, body)
  }

  private static func translate(
    _ what: QueryNode, _ condition: QueryNode?, _ rows: Rows, _ body: String
  ) throws(DocumentQueryError) -> Translation {
    guard let items = what.array else {
      throw DocumentQueryError(
        .operands, "an index needs an array of expressions, and not \(what.kind)", at: what.place)
    }
    // Some callers write one expression without an array around it.
    let isSingle = items.first?.text.map { $0.hasPrefix(".") || $0.hasSuffix("()") } ?? false
    var reader = QueryReader()
    let expressions = try reader.expressions(isSingle ? [what] : items, in: .list)
    var paths: [String?] = []
    for expression in expressions { paths.append(try path(of: expression)) }
    var sql: [String] = []
    for expression in expressions {
      sql.append(try self.sql(of: expression, rows, body, in: SQLWriter.Binding.list))
    }
    let test = try condition.map { (node) throws(DocumentQueryError) in
      let expression = try reader.expression(node)
      let rows = rows == .texts ? .documents : rows
      return try self.sql(of: expression, rows, body, in: SQLWriter.Binding.outermost)
    }
    return Translation(expressions: sql, paths: paths, condition: test)
  }

  private static func path(
    of expression: QueryExpression
  ) throws(DocumentQueryError) -> String? {
    guard case .property(let path) = expression.kind else { return nil }
    return FleecePath(path).description
  }

  private static func sql(
    of expression: QueryExpression, _ rows: Rows, _ body: String, in enclosing: Int
  ) throws(DocumentQueryError) -> String {
    let prefix = body.lastIndex(of: ".").map { String(body[...$0]) } ?? ""
    var writer = SQLWriter(schema: QuerySchema(databaseName: "", collections: []))
    writer.scope.sources = [
      SourceScope.Source(name: "", kind: .row(isUnnested: rows == .items), prefix: prefix)
    ]
    if rows == .texts { writer.propertyFunction = "fl_fts_value" }
    try writer.write(expression, in: enclosing)
    guard writer.parameters.isEmpty else {
      throw DocumentQueryError(.context, "an index has no parameters", at: expression.place)
    }
    return writer.sql
  }
}
