// QueryTranslation+Text.swift: a query in SQL++.

extension QueryTranslation {
  /// Translates a query in SQL++.
  /// - Parameters:
  ///   - text: The query.
  ///   - schema: The names that may be used.
  /// - Throws: `DocumentQueryError` with line and column.
  /// - Complexity: O(bytes).
  public init(text: String, schema: QuerySchema) throws(DocumentQueryError) {
    try self.init(text: text, schema: schema, form: .library)
  }

  package init(
    text: String, schema: QuerySchema, form: QueryForm
  ) throws(DocumentQueryError) {
    var parser = try TextParser(text)
    try self.init(try parser.query(), schema: schema, form: form)
  }
}
