// IndexExpression+Text.swift: expressions of an index in SQL++, in the form of JSON.

import Fleece

extension IndexExpression {
  /// Expressions of SQL++ as JSON, in the form that `translate` takes.
  /// - Parameters:
  ///   - texts: The expressions; a text may have several, with commas between them.
  ///   - condition: The condition of the index, without `WHERE`; nil for none.
  /// - Returns: An array of expressions, or `{"WHAT": […], "WHERE": …}`.
  /// - Throws: `DocumentQueryError` with line and column.
  /// - Complexity: O(bytes).
  public static func json(
    texts: [String], condition: String? = nil
  ) throws(DocumentQueryError) -> String {
    var expressions: [QueryNode] = []
    for text in texts {
      var parser = try TextParser(text)
      repeat { expressions.append(try parser.expression()) } while parser.takeSymbol(",")
      guard parser.current.kind == .end else { throw parser.unexpected("the end") }
    }
    var test: QueryNode?
    if let condition {
      var parser = try TextParser(condition)
      test = try parser.expression()
      guard parser.current.kind == .end else { throw parser.unexpected("the end") }
    }
    do throws(FleeceError) {
      var encoder = FleeceEncoder()
      if let test {
        try encoder.beginDict()
        try encoder.key("WHAT")
        try write(expressions, to: &encoder)
        try encoder.key("WHERE")
        try write(test, to: &encoder)
        try encoder.endDict()
      } else {
        try write(expressions, to: &encoder)
      }
      return try FleeceDocument(try encoder.finish()).withRoot { (root) throws(FleeceError) in
        try root.json()
      }
    } catch {
      throw DocumentQueryError(.limit, "the expressions do not encode: \(error)", at: .root)
    }
  }

  private static func write(
    _ nodes: [QueryNode], to encoder: inout FleeceEncoder
  ) throws(FleeceError) {
    try encoder.beginArray()
    for node in nodes { try write(node, to: &encoder) }
    try encoder.endArray()
  }

  // The depth is bounded by the parser.
  private static func write(
    _ node: QueryNode, to encoder: inout FleeceEncoder
  ) throws(FleeceError) {
    switch node.value {
    case .null: encoder.null()
    case .boolean(let value): encoder.boolean(value)
    case .integer(let value): try encoder.integer(value)
    case .unsigned(let value): try encoder.unsignedInteger(value)
    case .real(let value): try encoder.double(value)
    case .text(let text): try encoder.text(text)
    case .array(let nodes): try write(nodes, to: &encoder)
    case .dict(let pairs):
      try encoder.beginDict()
      for pair in pairs {
        try encoder.key(pair.key)
        try write(pair.value, to: &encoder)
      }
      try encoder.endDict()
    }
  }
}
