// SQLWriter+Properties.swift: paths, variables, metadata of a document.

import Fleece

extension SQLWriter {
  /// A path as a literal.
  func literal(_ path: [FleecePath.Component]) -> String {
    SQLNames.literal(FleecePath(path).description)
  }

  mutating func writeProperty(
    _ path: [FleecePath.Component], at place: QueryPlace
  ) throws(DocumentQueryError) {
    switch try scope.target(path, at: place) {
    case .meta(let source, let property): write(property, of: source)
    case .column(let name, let rest): try writeColumn(name, rest, at: place)
    case .property(let source, let path):
      let prefix = source.prefix
      switch source.kind {
      case .collection, .row(isUnnested: false):
        if propertyFunction == "fl_value", path.isEmpty {
          sql += "fl_root(\(prefix)body)"
        } else {
          sql += "\(propertyFunction)(\(prefix)body, \(literal(path)))"
        }
      case .arrayTable, .row(isUnnested: true):
        sql += "fl_unnested_value(\(prefix)body" + (path.isEmpty ? ")" : ", \(literal(path)))")
      case .items:
        sql += path.isEmpty ? "\(prefix)value" : "fl_nested_value(\(prefix)body, \(literal(path)))"
      }
    }
  }

  private mutating func writeColumn(
    _ name: String, _ rest: [FleecePath.Component], at place: QueryPlace
  ) throws(DocumentQueryError) {
    if !rest.isEmpty, scope.columnUse == .name {
      sql += "fl_nested_value(\(SQLNames.identifier(name)), \(literal(rest)))"
      return
    }
    guard let column = scope.columns[name] else { return }
    // A large expression could stand in many places.
    guard sql.utf8.count <= QueryLimits.sqlMaxBytes else {
      throw DocumentQueryError(
        .limit, "the SQL has more than \(QueryLimits.sqlMaxBytes) bytes", at: place)
    }
    let use = scope.columnUse
    scope.columnUse = .none
    defer { scope.columnUse = use }
    guard !rest.isEmpty else { return try write(column.expression, in: Binding.collate) }
    sql += "fl_nested_value("
    try write(column.expression, in: Binding.list)
    sql += ", \(literal(rest)))"
  }

  /// Writes a call of a function that takes a document and a path, if the expression is one.
  mutating func writePropertyCall(
    _ function: String, _ operand: QueryExpression
  ) throws(DocumentQueryError) -> Bool {
    guard case .property(let path) = operand.kind,
      case .property(let source, let rest) = try scope.target(path, at: operand.place),
      source.isDocuments, !rest.isEmpty
    else { return false }
    sql += "\(function)(\(source.prefix)body, \(literal(rest)))"
    return true
  }

  mutating func writeCount(_ operand: QueryExpression) throws(DocumentQueryError) -> Bool {
    try writePropertyCall("fl_count", operand)
  }

  mutating func writeBlob(
    _ path: [FleecePath.Component], at place: QueryPlace
  ) throws(DocumentQueryError) {
    guard case .property(let source, let rest) = try scope.target(path, at: place),
      source.isDocuments, !rest.isEmpty
    else {
      throw DocumentQueryError(.operands, "BLOB needs a property of a document", at: place)
    }
    sql += "fl_blob(\(source.prefix)body, \(literal(rest)))"
  }

  mutating func writeVariable(
    _ name: String, _ path: [FleecePath.Component], at place: QueryPlace
  ) throws(DocumentQueryError) {
    guard let variable = scope.variables.last(where: { $0.name == name }) else {
      throw DocumentQueryError(
        .noSource, "no variable is named \(shown(name))", at: place,
        nearest: nearestName(to: name, among: scope.variables.map(\.name)))
    }
    sql +=
      path.isEmpty
      ? "\(variable.alias).value" : "fl_nested_value(\(variable.alias).body, \(literal(path)))"
  }

  mutating func writeNested(
    _ value: QueryExpression, _ path: [FleecePath.Component], _ point: String,
    at place: QueryPlace
  ) throws(DocumentQueryError) {
    if case .meta(let name) = value.kind {
      let source = try documents(name, at: place)
      guard path.count == 1, case .key(let key) = path[0],
        let property = MetaProperty(rawValue: key)
      else {
        let key = FleecePath(path).description
        throw DocumentQueryError(
          .unknownName, "META() has no \(shown(key))", at: place,
          nearest: nearestName(to: key, among: MetaProperty.allCases.map(\.rawValue)))
      }
      return write(property, of: source)
    }
    sql += "fl_nested_value("
    try write(value, in: Binding.list)
    sql += ", \(SQLNames.literal(point + FleecePath(path).description)))"
  }

  /// The source of documents of a name.
  func documents(
    _ name: String?, at place: QueryPlace
  ) throws(DocumentQueryError) -> SourceScope.Source {
    let source = scope.sources[try scope.source(named: name, at: place)]
    guard source.isDocuments else {
      throw DocumentQueryError(
        .noSource, "\(shown(source.name)) has items and no documents", at: place)
    }
    return source
  }

  mutating func writeMeta(_ name: String?, at place: QueryPlace) throws(DocumentQueryError) {
    let source = try documents(name, at: place)
    sql += "dict_of("
    for (index, property) in MetaProperty.listed.enumerated() {
      sql += (index > 0 ? ", " : "") + "'\(property.rawValue)', "
      write(property, of: source)
    }
    sql += ")"
  }

  private mutating func write(_ property: MetaProperty, of source: SourceScope.Source) {
    let prefix = source.prefix
    switch property {
    case .id: sql += "\(prefix)key"
    case .sequence: sql += "\(prefix)sequence"
    case .expiration: sql += "\(prefix)expiration"
    case .revisionID: sql += "fl_version(\(prefix)version)"
    case .rowID: sql += "\(prefix)rowid"
    case .deleted:
      sql += source.documents == .dead ? "true" : "(\(prefix)flags & 1 != 0)"
    }
  }
}
