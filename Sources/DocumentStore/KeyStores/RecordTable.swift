// RecordTable.swift: a table of records, and the SQL that reads and writes its rows.
// Columns are named and never counted: upgraded files have them in other orders, and older files
// lack some.

/// A table of live or of dead records.
struct RecordTable {
  let name: String
  let isDead: Bool
  /// `key, sequence, flags, version, body, extra, expiration`, with NULL for those that are
  /// missing.
  let columns: String
  let hasExpiration: Bool
  /// Whole rows by key.
  let get: String
  /// Rows by key, without what may be large.
  let getHead: String
  /// Whole rows by sequence.
  let getSequence: String
  let insert: String
  let update: String
  /// Removes the row of a key that still has a sequence and subsequence.
  let deleteMatching: String
  let delete: String
  let setFlags: String

  init(_ name: String, columns present: Set<String>, isDead: Bool) {
    self.name = name
    self.isDead = isDead
    hasExpiration = present.contains("expiration")
    let optional = ["extra", "expiration"].map { present.contains($0) ? $0 : "NULL" }
    columns = (["key", "sequence", "flags", "version", "body"] + optional).joined(separator: ", ")
    let table = identifier(name)
    get = "SELECT \(columns) FROM \(table) WHERE key = ?"
    getHead =
      "SELECT key, sequence, flags, version, NULL, NULL, \(optional[1]) FROM \(table) WHERE key = ?"
    getSequence = "SELECT \(columns) FROM \(table) WHERE sequence = ?"
    insert =
      "INSERT INTO \(table) (version, body, extra, flags, sequence, key"
      + (hasExpiration ? ", expiration) VALUES (?, " : ") VALUES (") + "?, ?, ?, ?, ?, ?)"
    let matching = "WHERE key = ? AND sequence = ? AND (flags >> 16) = ?"
    update =
      "UPDATE \(table) SET version = ?, body = ?, extra = ?, flags = ?, sequence = ? \(matching)"
    deleteMatching = "DELETE FROM \(table) \(matching)"
    delete = "DELETE FROM \(table) WHERE key = ?"
    setFlags = "UPDATE \(table) SET flags = ((flags + 65536) | ?) WHERE key = ? AND sequence = ?"
  }
}
