// SQLWriter+Sources.swift: FROM: which tables the sources are, and how they are joined.

import Fleece

extension SQLWriter {
  /// The name of a single source that has none.
  static let defaultAlias = "_doc"

  /// Finds the sources of a SELECT, so that names can be looked up.
  mutating func enterSources(_ select: QuerySelect) throws(DocumentQueryError) {
    scope.isNamed = !select.sources.isEmpty
    if select.sources.isEmpty {
      let collection = try schema.collection("_", scope: nil, at: select.place)
      try add(Self.defaultAlias, .collection(collection), at: select.place)
    }
    for source in select.sources {
      switch source.kind {
      case .first, .join:
        try add(
          source.alias ?? Self.alias(source), .collection(try collection(source)),
          at: source.place)
      case .unnest(let expression):
        guard let alias = source.alias else {
          throw DocumentQueryError(.operands, "UNNEST needs a name in AS", at: source.place)
        }
        try add(alias, try arrayTable(expression) ?? .items, at: source.place)
      }
    }
    for column in select.columns {
      // A column that is called as one of the tables' would be taken for that in an expression.
      guard let name = column.name, !Self.tableColumns.contains(name.lowercased()) else { continue }
      scope.columns[name] = column
    }
  }

  private static let tableColumns: Set<String> = [
    "key", "sequence", "flags", "version", "body", "extra", "expiration", "rowid", "oid",
    "_rowid_", "docid", "i", "value", "type", "data", "rank", "pointer", "root_data",
  ]

  private static func alias(_ source: QuerySelect.Source) -> String {
    switch (source.scope, source.collection) {
    case (let scope?, let name?): "\(scope).\(name)"
    case (_, let name?): name
    default: defaultAlias
    }
  }

  private mutating func collection(
    _ source: QuerySelect.Source
  ) throws(DocumentQueryError) -> QuerySchema.Collection {
    if let name = source.collection {
      return try schema.collection(name, scope: source.scope, at: source.place)
    }
    guard source.alias != nil, source.scope == nil else {
      throw DocumentQueryError(
        .operands, "an item of FROM needs AS or COLLECTION", at: source.place)
    }
    // Without a collection it is the first one's.
    if case .collection(let first)? = scope.sources.first?.kind { return first }
    return try schema.collection("_", scope: nil, at: source.place)
  }

  private mutating func add(
    _ name: String, _ kind: SourceScope.Source.Kind, at place: QueryPlace
  ) throws(DocumentQueryError) {
    guard !scope.sources.contains(where: { $0.name.lowercased() == name.lowercased() }) else {
      throw DocumentQueryError(
        .operands, "two sources are named \(shown(name)); give one another name in AS", at: place)
    }
    scope.sources.append(
      SourceScope.Source(
        name: name, kind: kind, prefix: SQLNames.identifier(name) + "."))
  }

  /// The array index that has the items of an UNNEST, if there is one.
  private func arrayTable(
    _ expression: QueryExpression
  ) throws(DocumentQueryError) -> SourceScope.Source.Kind? {
    guard case .property(let path) = expression.kind,
      case .property(let source, let rest) = try scope.target(path, at: expression.place),
      !rest.isEmpty
    else { return nil }
    let plain = FleecePath(rest).description
    switch source.kind {
    case .collection(let collection):
      return Self.index(of: collection, path: plain) == nil
        ? nil : .arrayTable(collection, path: plain)
    case .arrayTable(let collection, let outer):
      let path = "\(outer)[].\(plain)"
      return Self.index(of: collection, path: path) == nil
        ? nil : .arrayTable(collection, path: path)
    default: return nil
    }
  }

  private static func index(of collection: QuerySchema.Collection, path: String) -> String? {
    collection.indexes.first { $0.kind == .array(path: path) }?.table
  }

  /// Writes FROM.
  mutating func writeSources(_ select: QuerySelect) throws(DocumentQueryError) {
    for (index, source) in scope.sources.enumerated() {
      let join = select.sources.isEmpty ? .first : select.sources[index].kind
      switch join {
      case .first: sql += " FROM " + table(of: source) + " AS " + SQLNames.identifier(source.name)
      case .join(let type, let condition):
        sql += " \(type) JOIN " + table(of: source) + " AS " + SQLNames.identifier(source.name)
        try writeJoin(source, condition)
      case .unnest(let expression): try writeUnnest(source, expression)
      }
    }
    for index in scope.fullText + scope.predictions {
      sql += " JOIN \(quoted(index.table)) AS \(index.alias) ON \(index.alias).docid = "
      sql += scope.sources[index.source].prefix + "rowid"
    }
  }

  private mutating func table(of source: SourceScope.Source) -> String {
    guard case .collection(let collection) = source.kind else { return "" }
    if !used.contains(where: { $0.table == collection.table }) { used.append(collection) }
    switch source.documents {
    case .live: return SQLNames.identifier(collection.table)
    case .dead: return SQLNames.identifier(collection.deadTable)
    case .all:
      if !views.contains(where: { $0.table == collection.table }) { views.append(collection) }
      return SQLNames.identifier(collection.view)
    }
  }

  private mutating func writeJoin(
    _ source: SourceScope.Source, _ condition: QueryExpression?
  ) throws(DocumentQueryError) {
    var mayHoldDead = false
    if case .collection(let collection) = source.kind, source.documents == .live {
      mayHoldDead = collection.mayHoldDead
    }
    guard condition != nil || mayHoldDead else { return }
    sql += " ON "
    if let condition {
      sql += "("
      try write(condition, in: Binding.outermost)
      sql += ")"
    }
    if mayHoldDead {
      sql += (condition == nil ? "" : " AND ") + "(\(source.prefix)flags & 1 = 0)"
    }
  }

  private mutating func writeUnnest(
    _ source: SourceScope.Source, _ expression: QueryExpression
  ) throws(DocumentQueryError) {
    let alias = SQLNames.identifier(source.name)
    if case .arrayTable(let collection, let path) = source.kind,
      let table = Self.index(of: collection, path: path),
      case .property(let steps) = expression.kind,
      case .property(let outer, _) = try scope.target(steps, at: expression.place)
    {
      sql += " JOIN \(SQLNames.identifier(table)) AS \(alias) ON \(alias).docid="
      sql += outer.prefix + "rowid"
      return
    }
    sql += " JOIN "
    try writeItems(expression)
    sql += " AS \(alias)"
  }

  private mutating func writeItems(_ expression: QueryExpression) throws(DocumentQueryError) {
    if try writePropertyCall("fl_each", expression) { return }
    if case .property(let path) = expression.kind,
      case .property(let outer, let rest) = try scope.target(path, at: expression.place),
      case .items = outer.kind, !rest.isEmpty
    {
      sql += "fl_each(\(outer.prefix)value, \(literal(rest)))"
      return
    }
    try writeCall("fl_each", [expression])
  }
}
