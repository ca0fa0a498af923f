// Snapshot+QuerySchema.swift: the names that queries may use, from the file's tables.

import DocumentQuery

extension Snapshot {
  /// The collections and the indexes with tables.
  func querySchema() throws(DocumentStoreError) -> QuerySchema {
    let tables = Set(
      try connection.texts("SELECT name FROM sqlite_master WHERE type = 'table'"))
    let indexes = try queryIndexes(tables)
    var collections: [QuerySchema.Collection] = []
    for store in try Schema.names(on: connection) {
      guard let name = store.collection else { continue }
      collections.append(
        QuerySchema.Collection(
          name: name.name, scope: name.scope, table: store.table, deadTable: store.deadTable,
          view: store.view, indexes: indexes[store.text] ?? []))
    }
    let last = file.path.split(separator: "/").last.map(String.init) ?? ""
    let name = last.hasSuffix(".cblite2") ? String(last.dropLast(8)) : last
    return QuerySchema(databaseName: name, collections: collections)
  }

  /// Indexes with tables, by key store; those whose tables are missing are omitted.
  private func queryIndexes(
    _ tables: Set<String>
  ) throws(DocumentStoreError) -> [String: [QuerySchema.Index]] {
    guard tables.contains("indexes") else { return [:] }
    let statement = try connection.statement(
      "SELECT name, type, keyStore, expression, indexTableName FROM indexes "
        + "WHERE indexTableName IS NOT NULL ORDER BY name")
    defer { statement.reset() }
    var indexes: [String: [QuerySchema.Index]] = [:]
    while try statement.step() {
      let (store, plain) = (statement.text(2), statement.text(4))
      guard let (kind, table) = Self.kind(statement, plain, tables) else { continue }
      indexes[store, default: []].append(
        QuerySchema.Index(name: statement.text(0), kind: kind, table: table))
    }
    return indexes
  }

  private static func kind(
    _ statement: SQLStatement, _ plain: String, _ tables: Set<String>
  ) -> (QuerySchema.Index.Kind, String)? {
    let expression = statement.text(3)
    let isPlain = expression.hasPrefix("=j") || expression.hasPrefix("=n")
    let text = isPlain ? String(expression.dropFirst(2)) : expression
    switch statement.int64(1) {
    case 1: return tables.contains(plain) ? (.fullText, plain) : nil
    case 2:
      // A table with the plain name is from before 3.2.1, and has no rowids to join with.
      let table = Self.digest(plain)
      guard tables.contains(table),
        let path = plain.firstRange(of: ":unnest:").map({ plain[$0.upperBound...] })
      else {
        return nil
      }
      // Only capital letters have a backslash before them that is not the path's own.
      return (.array(path: unmangled(path)), table)
    case 3: return tables.contains(plain) ? (.predictive(expressions: text), plain) : nil
    default: return nil
    }
  }

  private static func digest(_ text: String) -> String {
    SHA1.digest(Array(text.utf8))
      .map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  /// A name without the backslashes before capital letters.
  private static func unmangled(_ name: Substring) -> String {
    var output = String.UnicodeScalarView()
    var hasBackslash = false
    for scalar in name.unicodeScalars {
      if hasBackslash, !("A"..."Z").contains(scalar) { output.append("\\") }
      hasBackslash = scalar == "\\"
      if !hasBackslash { output.append(scalar) }
    }
    if hasBackslash { output.append("\\") }
    return String(output)
  }

  /// Creates the view of a collection's live and deleted documents, on this connection.
  func makeView(_ collection: QuerySchema.Collection) throws(DocumentStoreError) {
    guard let store = KeyStoreName(table: collection.table) else { return }
    // It is created with the first use of the collection.
    _ = try connection.store(store)
  }
}
