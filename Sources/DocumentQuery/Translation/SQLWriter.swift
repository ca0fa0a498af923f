// SQLWriter.swift: translates expressions to SQL, with the same texts as the real library
// (LITECORE.md, part 10), because indexes are found by their SQL. Where the library's text would
// not mean the same as the query, ours differs (docs/reference/document-queries.md lists where).

import Fleece

/// Writes SQL.
struct SQLWriter {
  /// The precedence required by the place of an expression.
  enum Binding {
    static let list = -2
    static let outermost = -1
    static let select = 1
    static let unary = 9
    static let collate = 10
  }

  let schema: QuerySchema
  let form: QueryForm
  var sql = ""
  var scope = SourceScope()
  /// The collation that comparisons have here.
  var collation: QueryCollation?
  /// Whether aggregates are allowed here.
  var allowsAggregates = false
  /// The function that reads a property of a document: a full-text index has its own one.
  var propertyFunction = "fl_value"
  /// Operands on the way from the outermost expression to here.
  var chain = 0
  /// Parameters, by name, in the order of their first use.
  var parameters: [String] = []
  /// Tables of collections that were named.
  var used: [QuerySchema.Collection] = []
  /// Views of live and dead documents that the query uses.
  var views: [QuerySchema.Collection] = []
  /// The number of the next index table's alias, per kind.
  var fullTextCount = 0
  var predictionCount = 0

  init(schema: QuerySchema, form: QueryForm = .library) {
    self.schema = schema
    self.form = form
  }

  /// Writes an expression into a place.
  mutating func write(
    _ expression: QueryExpression, in enclosing: Int
  ) throws(DocumentQueryError) {
    let needs = precedence(of: expression, in: enclosing) <= enclosing
    if needs { sql += "(" }
    try writeBare(expression, in: enclosing)
    if needs { sql += ")" }
  }

  private func precedence(of expression: QueryExpression, in enclosing: Int) -> Int {
    switch expression.kind {
    case .operation(.subtract, let operands) where operands.count == 1: 9
    // NOT binds its operand tightly and is itself loose in SQL.
    case .operation(.not, _): enclosing >= 3 ? 0 : 9
    case .operation(let found, _): found.precedence
    case .choice: 2
    case .quantified: 1
    case .match: 3
    case .collated(_, let inner): inner.hasCollatable ? precedence(of: inner, in: enclosing) : 99
    case .integer(let number): number < 0 && enclosing >= Binding.unary ? 0 : 99
    case .real(let number): number.sign == .minus && enclosing >= Binding.unary ? 0 : 99
    default: 99
    }
  }

  private mutating func writeBare(
    _ expression: QueryExpression, in enclosing: Int
  ) throws(DocumentQueryError) {
    let place = expression.place
    switch expression.kind {
    case .null: sql += "fl_null()"
    case .boolean(let value): sql += value ? "fl_bool(1)" : "fl_bool(0)"
    case .integer(let value): sql += "\(value)"
    case .unsigned(let value): sql += "\(value)"
    case .real(let value): sql += SQLNames.literal(value)
    case .text(let text): sql += SQLNames.literal(text)
    case .missing: sql += "NULL"
    case .array(let items): try writeCall("array_of", items)
    case .dict(let pairs): try writeDict(pairs)
    case .property(let path): try writeProperty(path, at: place)
    case .variable(let name, let path): try writeVariable(name, path, at: place)
    case .parameter(let name): writeParameter(name)
    case .nested(let value, let path, let hasPoint):
      try writeNested(value, path, hasPoint ? "." : "", at: place)
    case .meta(let source): try writeMeta(source, at: place)
    case .blob(let path): try writeBlob(path, at: place)
    case .operation(let found, let operands): try write(found, operands, at: place)
    case .choice(let subject, let branches, let otherwise):
      try writeChoice(subject, branches, otherwise)
    case .quantified(let quantifier, let parts): try write(quantifier, parts, at: place)
    case .collated(let collation, let inner): try write(inner, with: collation, in: enclosing)
    case .call(let function, let operands): try write(function, operands, at: place)
    case .match(let index, let pattern): try writeMatch(index, pattern, at: place)
    case .rank(let index): try writeRank(index, at: place)
    case .prediction(let prediction): try write(prediction)
    case .select(let select): try writeNested(select, as: .value)
    }
  }

  private mutating func writeParameter(_ name: String) {
    if !parameters.contains(name) { parameters.append(name) }
    sql += "$_\(name)"
  }

  private mutating func writeDict(
    _ pairs: [(key: String, value: QueryExpression)]
  ) throws(DocumentQueryError) {
    sql += "dict_of("
    for (index, pair) in pairs.enumerated() {
      sql += (index > 0 ? ", " : "") + SQLNames.literal(pair.key) + ", "
      try write(pair.value, in: Binding.list)
    }
    sql += ")"
  }

  /// Writes a call of a function in SQL.
  mutating func writeCall(
    _ name: String, _ operands: [QueryExpression]
  ) throws(DocumentQueryError) {
    sql += name + "("
    try writeList(operands)
    sql += ")"
  }

  /// Writes expressions with commas between them.
  mutating func writeList(_ operands: [QueryExpression]) throws(DocumentQueryError) {
    for (index, operand) in operands.enumerated() {
      if index > 0 { sql += ", " }
      try write(operand, in: Binding.list)
    }
  }

  private mutating func writeChoice(
    _ subject: QueryExpression?, _ branches: [QueryExpression.Branch],
    _ otherwise: QueryExpression?
  ) throws(DocumentQueryError) {
    sql += "CASE"
    if let subject {
      sql += " "
      try write(subject, in: 2)
    }
    for branch in branches {
      sql += " WHEN "
      try write(branch.when, in: 2)
      sql += " THEN "
      try write(branch.then, in: 2)
    }
    sql += " ELSE "
    if let otherwise {
      try write(otherwise, in: 2)
    } else {
      sql += "fl_null()"
    }
    sql += " END"
  }

  private mutating func write(
    _ function: QueryFunction, _ operands: [QueryExpression], at place: QueryPlace
  ) throws(DocumentQueryError) {
    let allowed = allowsAggregates
    defer { allowsAggregates = allowed }
    if function.isAggregate {
      guard allowed else {
        throw DocumentQueryError(
          .context,
          "\(function.name)() takes the values of many rows; it stands in WHAT, HAVING and "
            + "ORDER_BY only, and not in another such function", at: place)
      }
      allowsAggregates = false
    }
    if function.name == "array_count", try writeCount(operands[0]) { return }
    // With one operand SQL's max and min are of many rows.
    let isSingle = (function.name == "greatest" || function.name == "least") && operands.count == 1
    try writeCall(function.sqlName, isSingle ? [operands[0], operands[0]] : operands)
  }
}
