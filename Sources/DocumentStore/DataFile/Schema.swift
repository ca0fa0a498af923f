// Schema.swift: the SQL of the file's tables, letter by letter as the real library's: both compare
// SQL texts.

/// The meaning of the format numbers, and the SQL of tables.
enum Schema {
  /// The oldest format that is read: 2.0's.
  static let oldest: Int64 = 201
  /// The first with purge counts in `kvmeta`.
  static let withPurgeCount: Int64 = 302
  /// The first with the column `extra`.
  static let withExtra: Int64 = 400
  /// The first with tables of dead records.
  static let withDeadTables: Int64 = 500
  /// The first with `lastSeq` in `indexes`.
  static let withIndexSequences: Int64 = 501
  /// The first with expirations in every key store.
  static let withExpirations: Int64 = 502
  /// The first with `whereClause` in `indexes`; the format that is written.
  static let current: Int64 = 503
  /// The newest that can be read.
  static let newest: Int64 = 599

  static let kvmeta =
    "CREATE TABLE kvmeta (name TEXT PRIMARY KEY, lastSeq INTEGER DEFAULT 0, "
    + "purgeCnt INTEGER DEFAULT 0) WITHOUT ROWID"

  /// The list of indexes, which is created with the first index.
  static let indexes =
    "CREATE TABLE indexes (name TEXT PRIMARY KEY, type INTEGER NOT NULL, keyStore TEXT NOT NULL, "
    + "expression TEXT, whereClause TEXT, indexTableName TEXT, lastSeq TEXT)"

  /// A table of records.
  static func records(_ table: String) -> String {
    "CREATE TABLE \(identifier(table)) (  key TEXT PRIMARY KEY,  sequence INTEGER,  "
      + "flags INTEGER DEFAULT 0,  version BLOB,  body BLOB,  expiration INTEGER,  extra BLOB)"
  }

  /// The index of records that expire.
  static func expirations(_ table: String) -> String {
    "CREATE INDEX \(identifier(table + "_expiration")) ON \(identifier(table)) (expiration) "
      + "WHERE expiration not null"
  }

  /// The index of records by sequence.
  static func sequences(_ table: String) -> String {
    "CREATE UNIQUE INDEX IF NOT EXISTS \(identifier(table + "_seqs")) "
      + "ON \(identifier(table)) (sequence)"
  }

  /// The index of records with a flag: `conflicts` of 2, `blobs` of 4.
  static func flagged(_ table: String, _ name: String, flag: Int64) -> String {
    "CREATE INDEX IF NOT EXISTS \(identifier("\(table)_\(name)")) "
      + "ON \(identifier(table)) (flags) WHERE (flags & \(flag)) != 0"
  }

  /// A table of records with its index.
  static func make(_ table: String, on connection: Connection) throws(DocumentStoreError) {
    try connection.execute(records(table))
    try connection.execute(expirations(table))
  }

  /// The columns of a table; none when there is no such table.
  static func columns(
    _ table: String, on connection: Connection
  ) throws(DocumentStoreError) -> Set<String> {
    Set(try connection.texts("SELECT name FROM pragma_table_info(\(literal(table)))"))
  }

  /// Whether there is a table.
  static func has(
    _ table: String, on connection: Connection
  ) throws(DocumentStoreError) -> Bool {
    let sql =
      "SELECT 1 FROM sqlite_master WHERE type = 'table' AND lower(name) = lower("
      + "\(literal(table)))"
    return try connection.number(sql) != nil
  }

  /// The key stores of the file, by name.
  static func names(on connection: Connection) throws(DocumentStoreError) -> [KeyStoreName] {
    let tables = try connection.texts(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'kv_*' "
        + "AND NOT name GLOB 'kv_del_*' AND NOT name GLOB '*:*'")
    return tables.compactMap { KeyStoreName(table: $0) }.sorted()
  }
}
