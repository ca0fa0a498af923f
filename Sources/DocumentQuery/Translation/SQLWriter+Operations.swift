// SQLWriter+Operations.swift: operators, and the collations that they compare with.

extension SQLWriter {
  mutating func write(
    _ found: QueryOperator, _ operands: [QueryExpression], at place: QueryPlace
  ) throws(DocumentQueryError) {
    chain += operands.count
    defer { chain -= operands.count }
    guard chain <= QueryLimits.chainMax else {
      throw DocumentQueryError(
        .limit, "more than \(QueryLimits.chainMax) operands in each other", at: place)
    }
    let (inherited, precedence) = (collation, found.precedence)
    defer { collation = inherited }
    switch found {
    case .and, .or: break
    case .not: break
    default:
      if !found.isComparison { collation = nil }
    }
    switch found {
    case .not:
      sql += "NOT "
      try write(operands[0], in: precedence)
    case .subtract where operands.count == 1:
      sql += "-"
      try write(operands[0], in: Binding.unary)
    case .exists: try writeExists(operands[0])
    case .isValued: try writeCall("isvalued", operands)
    case .concatenate: try writeCall("concat", operands)
    case .isIn, .notIn: try writeIn(found, operands, at: place)
    case .like: try writeLike(operands)
    case .between:
      try writeCompared(operands[0], in: precedence)
      sql += " BETWEEN "
      try write(operands[1], in: precedence)
      sql += " AND "
      try write(operands[2], in: precedence)
    case .isSame, .isNot: try writeIs(found, operands)
    default:
      for (index, operand) in operands.enumerated() {
        if index > 0 { sql += " \(found.rawValue) " }
        if index == 0, found.isComparison {
          try writeCompared(operand, in: precedence)
        } else {
          try write(operand, in: precedence)
        }
      }
    }
  }

  /// The first operand of a comparison, followed by the collation.
  private mutating func writeCompared(
    _ operand: QueryExpression, in enclosing: Int
  ) throws(DocumentQueryError) {
    guard let collation else { return try write(operand, in: enclosing) }
    self.collation = nil
    try write(operand, in: Binding.collate)
    sql += " COLLATE " + SQLNames.identifier(collation.sqlName)
  }

  /// An expression with a collation: applied to the comparisons in it, else to itself.
  mutating func write(
    _ inner: QueryExpression, with collation: QueryCollation, in enclosing: Int
  ) throws(DocumentQueryError) {
    let inherited = self.collation
    defer { self.collation = inherited }
    if inner.hasCollatable {
      self.collation = collation
      // The caller has already written the parentheses.
      return try write(inner, in: Binding.list - 1)
    }
    self.collation = nil
    try write(inner, in: Binding.collate)
    sql += " COLLATE " + SQLNames.identifier(collation.sqlName)
  }

  private mutating func writeIs(
    _ found: QueryOperator, _ operands: [QueryExpression]
  ) throws(DocumentQueryError) {
    try writeCompared(operands[0], in: found.precedence)
    switch operands[1].kind {
    case .missing: sql += found == .isSame ? " IS NULL" : " IS NOT NULL"
    case .null: sql += found == .isSame ? " = fl_null()" : " != fl_null()"
    default:
      sql += " \(found.rawValue) "
      try write(operands[1], in: found.precedence)
    }
  }

  private mutating func writeIn(
    _ found: QueryOperator, _ operands: [QueryExpression], at place: QueryPlace
  ) throws(DocumentQueryError) {
    var items: [QueryExpression]? = operands.count > 2 ? Array(operands.dropFirst()) : nil
    if case .array(let literal) = operands[1].kind, operands.count == 2 { items = literal }
    if let items {
      try writeCompared(operands[0], in: found.precedence)
      sql += " \(found.rawValue) ("
      collation = nil
      try writeList(items)
      sql += ")"
      return
    }
    if case .select = operands[1].kind {
      try writeCompared(operands[0], in: found.precedence)
      sql += " \(found.rawValue) "
      return try write(operands[1], in: Binding.list)
    }
    collation = nil
    sql += found == .notIn ? "(NOT " : ""
    try writeCall("array_contains", [operands[1], operands[0]])
    sql += found == .notIn ? ")" : ""
  }

  private mutating func writeLike(_ operands: [QueryExpression]) throws(DocumentQueryError) {
    var escape = "\\"
    if operands.count == 3 {
      guard case .text(let text) = operands[2].kind, text.unicodeScalars.count == 1 else {
        throw DocumentQueryError(
          .operands, "the third operand of LIKE is one character", at: operands[2].place)
      }
      escape = text
    }
    if let collation, collation.sqlName != "BINARY" {
      self.collation = nil
      guard operands.count == 2 else {
        throw DocumentQueryError(
          .context, "LIKE with a collation has no character of its own", at: operands[2].place)
      }
      sql += "fl_like("
      try writeList(operands)
      sql += ", " + SQLNames.literal(collation.sqlName) + ")"
      return
    }
    try writeCompared(operands[0], in: QueryOperator.like.precedence)
    sql += " LIKE "
    try write(operands[1], in: QueryOperator.like.precedence)
    sql += " ESCAPE " + SQLNames.literal(escape)
  }

  private mutating func writeExists(_ operand: QueryExpression) throws(DocumentQueryError) {
    if case .select(let select) = operand.kind {
      sql += "EXISTS "
      return try writeNested(select, as: .nested)
    }
    if try writePropertyCall("fl_exists", operand) { return }
    sql += "fl_bool("
    try write(operand, in: QueryOperator.isSame.precedence)
    sql += " IS NOT NULL)"
  }
}

extension QueryExpression {
  /// Whether a comparison in it can have a collation from outside.
  var hasCollatable: Bool {
    switch kind {
    case .operation(let found, let operands):
      switch found {
      case .isIn, .notIn:
        if case .array = operands[1].kind { return true }
        if case .select = operands[1].kind { return true }
        return operands.count > 2
      case .and, .or, .not: return operands.contains(where: \.hasCollatable)
      default: return found.isComparison
      }
    case .collated(_, let inner): return inner.hasCollatable
    default: return false
    }
  }
}
