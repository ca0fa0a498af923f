// KeyStore+Writing.swift: inserts, replaces and flags records. Invariant: a key is in one table
// only. A tombstone is among the dead records, any other among the live ones; a change from one to
// the other removes the row there and inserts it here.

extension KeyStore {
  /// Whether a change takes a new sequence.
  public enum Sequencing: Sendable {
    /// A new sequence, and subsequence 0.
    case new
    /// The same sequence, and the next subsequence.
    case kept
  }

  /// Stores a record: inserts one whose sequence is 0, else replaces the row that still has its
  /// sequence and subsequence.
  /// - Parameters:
  ///   - record: The record; its sequence and subsequence are updated.
  ///   - sequencing: Whether it takes a new sequence.
  /// - Throws: `DocumentStoreError` with code `.conflict`, and nothing changed, when the key is
  ///   taken or the record was changed by another writer first; `.invalidParameter` for an
  ///   insertion that keeps a sequence it does not have.
  /// - Complexity: O(log records).
  public func set(
    _ record: inout Record, _ sequencing: Sequencing = .new
  ) throws(DocumentStoreError) {
    try checkWriting()
    guard name.isCollection else {
      throw DocumentStoreError(
        .invalidParameter, "records of \(name) have no sequence; use setRaw")
    }
    guard sequencing == .new || record.sequence > 0 else {
      throw DocumentStoreError(
        .invalidParameter, "\(quoted(record.key)) is new and has no sequence to keep")
    }
    try set(&record, sequencing, isAbsent: false)
  }

  /// Stores a record; the caller can state that this transaction has found no record with its key.
  func set(
    _ record: inout Record, _ sequencing: Sequencing, isAbsent: Bool
  ) throws(DocumentStoreError) {
    do { try store(&record, sequencing, isAbsent: isAbsent) } catch {
      // The index by sequence reports a duplicate sequence: the file's counter is too low.
      guard error.sqliteCode == 2067 else { throw error }
      try repairLastSequence()
      try store(&record, sequencing, isAbsent: isAbsent)
    }
  }

  private func store(
    _ record: inout Record, _ sequencing: Sequencing, isAbsent: Bool
  ) throws(DocumentStoreError) {
    var stored = record
    switch sequencing {
    case .new:
      stored.sequence = try nextSequence()
      stored.subsequence = 0
    case .kept:
      guard record.subsequence < Int64.max >> 16 else {
        throw DocumentStoreError(
          .corruptData, "\(quoted(record.key)) has the last subsequence; save it with a new one")
      }
      stored.subsequence += 1
    }
    let isDead = record.flags.contains(.deleted)
    let target = isDead ? state.dead ?? state.live : state.live
    let other = isDead ? (state.dead == nil ? nil : state.live) : state.dead
    if record.sequence == 0 {
      if !isAbsent, let other, try exists(record.key, in: other) { throw taken(record.key) }
      try insert(stored, into: target)
    } else if try !update(stored, from: record, in: target) {
      try move(&stored, from: record, other, to: target)
    }
    if sequencing == .new {
      state.counters?.lastSequence = stored.sequence
      state.counters?.isChanged = true
    }
    record = stored
  }

  /// The sequence of the next change.
  private func nextSequence() throws(DocumentStoreError) -> Int64 {
    let last = try state.loadedCounters(on: connection).lastSequence
    guard last >= 0, last < Int64.max else {
      throw DocumentStoreError(
        .corruptData, "\(quoted(connection.context)): \(name) has last sequence \(last)")
    }
    return last + 1
  }

  private func insert(
    _ record: Record, into table: RecordTable
  ) throws(DocumentStoreError) {
    if table.isDead { state.isWithoutDead = false }
    let statement = try table.statement(.insert, on: connection)
    defer { statement.reset() }
    try bind(record, to: statement)
    try statement.bind(record.key, at: 6)
    if table.hasExpiration { statement.bind(record.expirationMilliseconds, at: 7) }
    do { try statement.run() } catch {
      // The primary key is taken.
      guard error.sqliteCode == 1555 else { throw error }
      throw taken(record.key)
    }
  }

  private func update(
    _ record: Record, from old: Record, in table: RecordTable
  ) throws(DocumentStoreError) -> Bool {
    let statement = try table.statement(.update, on: connection)
    defer { statement.reset() }
    try bind(record, to: statement)
    try match(old, in: statement, from: 6)
    try statement.run()
    return connection.changes > 0
  }

  /// Moves a record to the other table; its expiration is moved with it.
  private func move(
    _ record: inout Record, from old: Record, _ source: RecordTable?, to target: RecordTable
  ) throws(DocumentStoreError) {
    guard let source else { throw changed(old) }
    if let row = try row(of: old.key, content: .head), row.table.isDead == source.isDead {
      record.expirationMilliseconds = row.record.expirationMilliseconds
    }
    let statement = try source.statement(.deleteMatching, on: connection)
    try match(old, in: statement, from: 1)
    defer { statement.reset() }
    try statement.run()
    guard connection.changes > 0 else { throw changed(old) }
    try state.countPurge(of: source, on: connection)
    try insert(record, into: target)
  }

  private func bind(
    _ record: Record, to statement: SQLStatement
  ) throws(DocumentStoreError) {
    try statement.bind(record.version, at: 1)
    try statement.bind(record.body, at: 2)
    try statement.bind(record.extra, at: 3)
    statement.bind(record.storedFlags, at: 4)
    statement.bind(record.sequence, at: 5)
  }

  private func match(
    _ record: Record, in statement: SQLStatement, from index: Int32
  ) throws(DocumentStoreError) {
    try statement.bind(record.key, at: index)
    statement.bind(record.sequence, at: index + 1)
    statement.bind(record.subsequence, at: index + 2)
  }

  private func exists(_ key: String, in table: RecordTable) throws(DocumentStoreError) -> Bool {
    if table.isDead, try state.hasNoDead(on: connection) { return false }
    let statement = try table.statement(.getHead, on: connection)
    defer { statement.reset() }
    try statement.bind(key, at: 1)
    return try statement.step()
  }

  private func repairLastSequence() throws(DocumentStoreError) {
    var counters = try state.loadedCounters(on: connection)
    for table in tables {
      let sql = "SELECT max(sequence) FROM \(identifier(table.name))"
      counters.lastSequence = max(counters.lastSequence, try connection.number(sql) ?? 0)
    }
    state.counters = counters
  }

  func checkWriting() throws(DocumentStoreError) {
    snapshot.check()
    guard connection.transaction.kind == .writing else {
      throw DocumentStoreError(
        .notInTransaction, "\(name) is changed outside of a write transaction; use write")
    }
    try connection.checkWriting()
  }

  private func taken(_ key: String) -> DocumentStoreError {
    DocumentStoreError(.conflict, "\(name) has \(quoted(key)) already; read it, then change it")
  }

  private func changed(_ record: Record) -> DocumentStoreError {
    DocumentStoreError(
      .conflict,
      "\(quoted(record.key)) is no longer at sequence \(record.sequence), subsequence "
        + "\(record.subsequence); read it again")
  }
}
