// RecordTable.swift: a table of records, and the statements that read and write its rows.
// Columns are named and never counted: upgraded files have them in other orders, and older files
// lack some.

/// A table of live or of dead records, of one connection.
final class RecordTable {
  /// A statement that is used repeatedly.
  enum Use: Int, CaseIterable {
    /// Whole rows by key.
    case get
    /// Rows by key, without the columns that may be large.
    case getHead
    /// Whole rows by sequence.
    case getSequence
    case insert
    case update
    /// Removes the row of a key that still has a sequence and subsequence.
    case deleteMatching
    case delete
    case setFlags
  }

  let name: String
  let isDead: Bool
  /// `key, sequence, flags, version, body, extra, expiration`, with NULL for those that are
  /// missing.
  let columns: String
  let hasExpiration: Bool
  private let texts: [String]
  /// The prepared statements, by use.
  private var prepared: [SQLStatement?]

  init(_ name: String, columns present: Set<String>, isDead: Bool) {
    self.name = name
    self.isDead = isDead
    hasExpiration = present.contains("expiration")
    let optional = ["extra", "expiration"].map { present.contains($0) ? $0 : "NULL" }
    columns = (["key", "sequence", "flags", "version", "body"] + optional).joined(separator: ", ")
    let table = identifier(name)
    let (all, hasExpiration) = (columns, hasExpiration)
    let matching = "WHERE key = ? AND sequence = ? AND (flags >> 16) = ?"
    texts = Use.allCases.map { use in
      switch use {
      case .get: "SELECT \(all) FROM \(table) WHERE key = ?"
      case .getHead:
        "SELECT key, sequence, flags, version, NULL, NULL, \(optional[1]) FROM \(table) "
          + "WHERE key = ?"
      case .getSequence: "SELECT \(all) FROM \(table) WHERE sequence = ?"
      case .insert:
        "INSERT INTO \(table) (version, body, extra, flags, sequence, key"
          + (hasExpiration ? ", expiration) VALUES (?, " : ") VALUES (") + "?, ?, ?, ?, ?, ?)"
      case .update:
        "UPDATE \(table) SET version = ?, body = ?, extra = ?, flags = ?, sequence = ? \(matching)"
      case .deleteMatching: "DELETE FROM \(table) \(matching)"
      case .delete: "DELETE FROM \(table) WHERE key = ?"
      case .setFlags:
        "UPDATE \(table) SET flags = ((flags + 65536) | ?) WHERE key = ? AND sequence = ?"
      }
    }
    prepared = [SQLStatement?](repeating: nil, count: texts.count)
  }

  /// A statement, prepared once; another one while the first is in use.
  func statement(
    _ use: Use, on connection: Connection
  ) throws(DocumentStoreError) -> SQLStatement {
    if let statement = prepared[use.rawValue], !statement.isInUse { return statement }
    let statement = try connection.statement(texts[use.rawValue])
    prepared[use.rawValue] = statement
    return statement
  }
}
