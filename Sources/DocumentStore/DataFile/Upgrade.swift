// Upgrade.swift: upgrades older files to the current format in the real library's steps. Invariant:
// each step is one transaction that ends by writing its format number, and checks before it adds:
// so an upgrade interrupted by a crash continues at the next open, and two processes may both try.
// Order: as fixed in 3.4 and 4.1, with 500 before 501; 3.2's own order skips 500.

/// The upgrade of a file.
struct Upgrade {
  let connection: Connection
  let options: DataFile.Options
  let path: String

  /// The format number after each step, in order.
  private static let formats = [
    Schema.withPurgeCount, Schema.withExtra, Schema.withDeadTables, Schema.withIndexSequences,
    Schema.withExpirations, Schema.current,
  ]

  func run() throws(DocumentStoreError) {
    try checkTables()
    for format in Self.formats {
      guard try isBelow(format) else { continue }
      guard options.allowsUpgrade else {
        throw DocumentStoreError(
          .cantUpgradeDatabase,
          "\(quoted(path)) has a format below \(Schema.current); allow its upgrade, or open it "
            + "with isReadOnly")
      }
      try transaction { () throws(DocumentStoreError) in
        guard try isBelow(format) else { return }
        try takeStep(to: format)
        try connection.execute("PRAGMA user_version = \(format)")
      }
    }
    guard options.allowsUpgrade else { return }
    try Opening.useWAL(connection, options)
    if try isUnfinished() { try transaction { () throws(DocumentStoreError) in try finish() } }
  }

  private func takeStep(to format: Int64) throws(DocumentStoreError) {
    switch format {
    case Schema.withPurgeCount: try addPurgeCount()
    case Schema.withExtra: try addExtra()
    case Schema.withDeadTables: try addDeadTables()
    case Schema.withIndexSequences: try addToIndexes("lastSeq TEXT")
    case Schema.withExpirations: try addExpirations()
    default: try addToIndexes("whereClause TEXT")
    }
  }

  private func isBelow(_ format: Int64) throws(DocumentStoreError) -> Bool {
    try connection.number("PRAGMA user_version") ?? 0 < format
  }

  private func transaction(
    _ body: () throws(DocumentStoreError) -> Void
  ) throws(DocumentStoreError) {
    try connection.execute("BEGIN IMMEDIATE")
    do throws(DocumentStoreError) {
      try body()
      try connection.execute("COMMIT")
    } catch {
      try? connection.execute("ROLLBACK")
      throw error
    }
  }

  /// Objects that every data file has, or may get.
  private func checkTables() throws(DocumentStoreError) {
    let hasMeta = try Schema.has("kvmeta", on: connection)
    let hasInfo = try Schema.has("kv_info", on: connection)
    let versioning = hasInfo ? try StoreInfo(connection: connection).body(.versioning) : nil
    guard hasMeta, versioning != nil || options.creates else {
      let lacks = !hasMeta ? "kvmeta" : !hasInfo ? "kv_info" : "its versioning"
      throw DocumentStoreError(
        .wrongFormat,
        "\(quoted(path)) lacks \(lacks); if it was never finished, open it with `creates`")
    }
  }

  /// 302: how many records were purged.
  private func addPurgeCount() throws(DocumentStoreError) {
    try add("purgeCnt INTEGER DEFAULT 0", to: "kvmeta")
  }

  /// 400: revisions that are not the current one.
  private func addExtra() throws(DocumentStoreError) {
    for table in try tables() { try add("extra BLOB", to: table) }
  }

  /// 500: dead records in their own tables.
  ///
  /// Dead records of the default collection stay in place until they are written again, as with the
  /// real library.
  private func addDeadTables() throws(DocumentStoreError) {
    for name in try Schema.names(on: connection) where name.isCollection {
      guard try !Schema.has(name.deadTable, on: connection) else { continue }
      try connection.execute(Schema.records(name.deadTable))
      try connection.execute(Schema.expirations(name.deadTable))
      if name != .defaultCollection { try moveDead(name) }
    }
  }

  private func moveDead(_ name: KeyStoreName) throws(DocumentStoreError) {
    let has = try Schema.columns(name.table, on: connection).contains("expiration")
    let columns = "key, sequence, flags, version, body, extra" + (has ? ", expiration" : "")
    let (live, dead) = (identifier(name.table), identifier(name.deadTable))
    try connection.execute(
      "INSERT INTO \(dead) (\(columns)) SELECT \(columns) FROM \(live) WHERE flags & 1 != 0")
    try connection.execute("DELETE FROM \(live) WHERE flags & 1 != 0")
  }

  /// 502: expirations in every key store.
  private func addExpirations() throws(DocumentStoreError) {
    for table in try tables() {
      try add("expiration INTEGER", to: table)
      let index = literal(table + "_expiration")
      let sql = "SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = \(index)"
      if try connection.number(sql) == nil { try connection.execute(Schema.expirations(table)) }
    }
  }

  /// 501 and 503: columns of the list of indexes, which is created with the first index.
  private func addToIndexes(_ column: String) throws(DocumentStoreError) {
    if try Schema.has("indexes", on: connection) { try add(column, to: "indexes") }
  }

  private func add(_ column: String, to table: String) throws(DocumentStoreError) {
    let name = String(column.prefix { $0 != " " })
    guard try !Schema.columns(table, on: connection).contains(name) else { return }
    try connection.execute("ALTER TABLE \(identifier(table)) ADD COLUMN \(column)")
  }

  /// The tables of live and dead records.
  private func tables() throws(DocumentStoreError) -> [String] {
    var tables: [String] = []
    for name in try Schema.names(on: connection) {
      tables.append(name.table)
      if try Schema.has(name.deadTable, on: connection) { tables.append(name.deadTable) }
    }
    return tables
  }

  /// Whether a table or a record is missing because another program has not created it yet: the
  /// real library creates a file in several commits, and tables of dead records when it opens a
  /// collection.
  private func isUnfinished() throws(DocumentStoreError) -> Bool {
    guard try Schema.has("kv_info", on: connection) else { return true }
    let names = try Schema.names(on: connection) + [.defaultCollection]
    for name in names where name.isCollection {
      guard try Schema.has(name.table, on: connection) else { return true }
      guard try Schema.has(name.deadTable, on: connection) else { return true }
    }
    let info = StoreInfo(connection: connection)
    guard let versioning = try info.number(.versioning), versioning != 0 else { return true }
    guard try info.body(.publicUUID) != nil else { return true }
    return try info.body(.privateUUID) == nil
  }

  private func finish() throws(DocumentStoreError) {
    try makeMissing([KeyStoreName.info.table, KeyStoreName.defaultCollection.table])
    let collections = try Schema.names(on: connection).filter(\.isCollection)
    try makeMissing(collections.map(\.deadTable))
    let info = StoreInfo(connection: connection)
    if try info.number(.versioning) ?? 0 == 0 { try info.set(.versioning, StoreInfo.number(1)) }
    for key in [StoreInfo.Key.publicUUID, .privateUUID] {
      guard try info.body(key) == nil else { continue }
      try info.set(key, StoreInfo.uuid(options.entropy(16)))
    }
  }

  private func makeMissing(_ tables: [String]) throws(DocumentStoreError) {
    for table in tables {
      guard try !Schema.has(table, on: connection) else { continue }
      try Schema.make(table, on: connection)
    }
  }
}
