// IndexInfo.swift: the rows of the table `indexes`, the list of indexes.

/// An index of a data file.
public struct IndexInfo: Hashable, Sendable {
  /// The kind of index; the numbers are those in the file.
  public enum Kind: Int64, Sendable, CaseIterable {
    case value = 0
    case fullText = 1
    case array = 2
    case predictive = 3
    /// Of the real library's extension; it is listed, and neither used nor dropped here.
    case vector = 4
  }

  /// The language of its expressions.
  public enum Language: String, Sendable, CaseIterable {
    /// JSON.
    case json = "=j"
    /// SQL++, which the real library writes on demand.
    case sql = "=n"
  }

  /// The name.
  public let name: String
  /// The kind of index.
  public let kind: Kind
  /// The key store of its collection; it may be missing in files in which the real library deleted
  /// it.
  public let keyStore: KeyStoreName
  /// The expressions.
  public let expressions: String
  /// The language of the expressions.
  public let language: Language
  /// A condition separate from the expressions.
  public let condition: String?
  /// The table that stores it, with its name in the list; nil for value indexes.
  public let listedTable: String?
  /// That table's name in SQL: array indexes of 3.2.1 and later have a hash of the listed one.
  public let table: String?

  /// The columns that `init` reads.
  static let columns = "name, type, keyStore, expression, indexTableName"

  init(
    _ row: SQLStatement, hasCondition: Bool, on connection: Connection
  ) throws(DocumentStoreError) {
    name = row.text(0)
    let (kind, store) = (row.int64(1), row.text(2))
    guard let kind = Kind(rawValue: kind), let keyStore = KeyStoreName(stored: store) else {
      throw DocumentStoreError(
        .corruptData,
        "\(quoted(connection.context)): index \(quoted(name)) has kind \(kind) and key store "
          + quoted(store))
    }
    self.kind = kind
    self.keyStore = keyStore
    let text = row.isNull(3) ? "" : row.text(3)
    if let language = Language(rawValue: String(text.prefix(2))) {
      self.language = language
      expressions = String(text.dropFirst(2))
    } else {
      language = text.isEmpty || text.hasPrefix("[") || text.hasPrefix("{") ? .json : .sql
      expressions = text
    }
    condition = hasCondition && !row.isNull(5) ? row.text(5) : nil
    listedTable = row.isNull(4) ? nil : row.text(4)
    guard let listedTable, kind == .array else {
      table = listedTable
      return
    }
    let hashed = IndexNames.hashed(listedTable)
    table = try Schema.has(hashed, on: connection) ? hashed : listedTable
  }
}

extension Snapshot {
  /// The indexes of the file, by name.
  /// - Throws: `DocumentStoreError` with code `.corruptData` for a row that is none.
  public func indexes() throws(DocumentStoreError) -> [IndexInfo] {
    check()
    return try connection.indexes(where: nil)
  }
}

extension KeyStore {
  /// The collection's indexes, by name.
  /// - Throws: `DocumentStoreError` with code `.corruptData` for a row that is none.
  public func indexes() throws(DocumentStoreError) -> [IndexInfo] {
    snapshot.check()
    return try connection.indexes(where: "keyStore = \(literal(name.text))")
  }
}

extension Connection {
  /// The indexes that a condition holds for, by name.
  func indexes(where condition: String?) throws(DocumentStoreError) -> [IndexInfo] {
    let columns = try Schema.columns("indexes", on: self)
    guard !columns.isEmpty else { return [] }
    let hasCondition = columns.contains("whereClause")
    let statement = try statement(
      "SELECT \(IndexInfo.columns)\(hasCondition ? ", whereClause" : "") FROM indexes"
        + (condition.map { " WHERE \($0)" } ?? "") + " ORDER BY name")
    defer { statement.reset() }
    var indexes: [IndexInfo] = []
    while try statement.step() {
      indexes.append(try IndexInfo(statement, hasCondition: hasCondition, on: self))
    }
    return indexes
  }
}
