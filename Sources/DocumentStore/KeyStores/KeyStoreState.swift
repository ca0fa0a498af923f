// KeyStoreState.swift: the state of a key store in a connection: its tables, their SQL, and the
// counters of the transaction that is open.

/// A key store's counters within a transaction.
struct KeyStoreCounters {
  var lastSequence: Int64
  var purgeCount: Int64
  /// Nil without a table of dead records.
  var deadPurgeCount: Int64?
  var isChanged = false
  var isDeadChanged = false
}

/// A key store of one connection.
final class KeyStoreState {
  let name: KeyStoreName
  let live: RecordTable
  /// Dead records; nil for stores that have none, and in old files.
  let dead: RecordTable?
  /// Both, live records first.
  let tables: [RecordTable]
  /// Read when a transaction first needs one.
  var counters: KeyStoreCounters?
  /// Whether there are no dead records, once the transaction has checked.
  var isWithoutDead: Bool?

  init(name: KeyStoreName, live: RecordTable, dead: RecordTable?) {
    self.name = name
    self.live = live
    self.dead = dead
    tables = [live] + (dead.map { [$0] } ?? [])
  }

  /// Whether looking up dead records can be skipped: checked only in write transactions, which may
  /// look up many.
  func hasNoDead(on connection: Connection) throws(DocumentStoreError) -> Bool {
    guard let dead, connection.transaction.kind == .writing else { return false }
    if let isWithoutDead { return isWithoutDead }
    let isEmpty = try connection.number("SELECT 1 FROM \(identifier(dead.name)) LIMIT 1") == nil
    isWithoutDead = isEmpty
    return isEmpty
  }

  /// Drops the cached state of the records.
  func forget() {
    counters = nil
    isWithoutDead = nil
  }

  /// The counters, from `kvmeta` or 0.
  func loadedCounters(on connection: Connection) throws(DocumentStoreError) -> KeyStoreCounters {
    if let counters { return counters }
    let row = try read(name.text, connection)
    var loaded = KeyStoreCounters(lastSequence: row.sequence, purgeCount: row.purges)
    if dead != nil { loaded.deadPurgeCount = try read("del_" + name.text, connection).purges }
    counters = loaded
    return loaded
  }

  private func read(
    _ name: String, _ connection: Connection
  ) throws(DocumentStoreError) -> (sequence: Int64, purges: Int64) {
    let hasPurges = try connection.hasPurgeCounts()
    let statement = try connection.statement(
      "SELECT lastSeq, \(hasPurges ? "purgeCnt" : "0") FROM kvmeta WHERE name = ?")
    defer { statement.reset() }
    try statement.bind(name, at: 1)
    guard try statement.step() else { return (0, 0) }
    return (statement.int64(0), statement.int64(1))
  }

  /// Counts a removed row.
  func countPurge(
    of table: RecordTable, on connection: Connection
  ) throws(DocumentStoreError) {
    var counters = try loadedCounters(on: connection)
    if table.isDead {
      counters.deadPurgeCount = (counters.deadPurgeCount ?? 0) &+ 1
      counters.isDeadChanged = true
    } else {
      counters.purgeCount &+= 1
    }
    counters.isChanged = true
    self.counters = counters
  }

  /// Creates the index by sequence, of live and dead records.
  func makeSequenceIndex(on connection: Connection) throws(DocumentStoreError) {
    for table in tables {
      try connection.execute(Schema.sequences(table.name))
    }
  }
}

extension Connection {
  /// Whether `kvmeta` counts purges: files from before 2.7 that are not upgraded do not.
  func hasPurgeCounts() throws(DocumentStoreError) -> Bool {
    if let knownPurgeCounts { return knownPurgeCounts }
    let found = try Schema.columns("kvmeta", on: self).contains("purgeCnt")
    knownPurgeCounts = found
    return found
  }

  /// A key store; nil when the file has no table for it.
  func store(_ name: KeyStoreName) throws(DocumentStoreError) -> KeyStoreState? {
    if let store = stores[name] { return store }
    let columns = try Schema.columns(name.table, on: self)
    guard !columns.isEmpty else { return nil }
    for column in ["key", "sequence", "flags", "version", "body"]
    where !columns.contains(column) {
      throw DocumentStoreError(
        .corruptData, "\(quoted(context)): table \(quoted(name.table)) lacks column \(column)")
    }
    let live = RecordTable(name.table, columns: columns, isDead: false)
    var dead: RecordTable?
    if name.isCollection {
      let columns = try Schema.columns(name.deadTable, on: self)
      if !columns.isEmpty { dead = RecordTable(name.deadTable, columns: columns, isDead: true) }
    }
    let store = KeyStoreState(name: name, live: live, dead: dead)
    transaction.opened.append(name)
    stores[name] = store
    if let dead { try makeView(name, live, dead) }
    return store
  }

  /// The view of live and dead records, with the name used in the real library's queries.
  private func makeView(
    _ name: KeyStoreName, _ live: RecordTable, _ dead: RecordTable
  ) throws(DocumentStoreError) {
    try execute(
      "CREATE TEMP VIEW IF NOT EXISTS \(identifier(name.view)) "
        + "(key,sequence,flags,version,body,extra,expiration) AS "
        + "SELECT \(live.columns) FROM main.\(identifier(live.name)) UNION ALL "
        + "SELECT \(dead.columns) FROM main.\(identifier(dead.name))")
  }
}
