// Connection+Transactions.swift: begin, commit and rollback, together with the store's state in
// memory: shared keys, last sequences and purge counts change with the file or not at all.

import Fleece

extension Connection {
  /// Begins a read transaction, which sees the content of one commit.
  func beginReading() throws(DocumentStoreError) {
    try execute("BEGIN")
    started(.reading)
    do { try loadKeys() } catch {
      endReading()
      throw error
    }
  }

  func endReading() {
    // Not a rollback: that would take back temporary views.
    do { try execute("COMMIT") } catch {
      try? execute("ROLLBACK")
      stores.removeAll()
    }
    ended()
  }

  /// Begins a write transaction, after all other writers have finished.
  func beginWriting() throws(DocumentStoreError) {
    try execute("BEGIN IMMEDIATE")
    started(.writing)
    do { try loadKeys() } catch {
      rollBack()
      throw error
    }
  }

  /// Makes the transaction's changes the file's.
  func commit(_ bundle: Bundle) throws(DocumentStoreError) {
    try checkWriting()
    try saveState()
    // Durable before: the blobs' contents. After: their names, so that the commit may name them.
    if transaction.hasNewBlobs { try FileCalls.sync(bundle.blobsPath) }
    try execute("COMMIT")
    ended()
  }

  /// Errors such as a full medium make SQLite end a transaction by itself; each later statement
  /// would then be a separate transaction.
  func checkWriting() throws(DocumentStoreError) {
    guard isInTransaction else {
      throw DocumentStoreError(
        .notInTransaction,
        "\(quoted(context)): an earlier error ended the transaction; let it out of write")
    }
  }

  /// Takes back everything, in memory too.
  func rollBack() {
    // SQLite ends a transaction itself after some errors.
    if isInTransaction { try? execute("ROLLBACK") }
    for name in transaction.opened { stores[name] = nil }
    queries.removeAll()
    // The keys are read again: some may have been added.
    keysVersion = nil
    ended()
  }

  private func started(_ kind: TransactionState.Kind) {
    let number = transaction.number + 1
    transaction = TransactionState(kind: kind, number: number, depth: 1)
    for store in stores.values { store.forget() }
  }

  private func ended() {
    let number = transaction.number + 1
    transaction = TransactionState(number: number)
  }

  /// Reads the shared keys unless there was no other commit since.
  private func loadKeys() throws(DocumentStoreError) {
    let version = try number("PRAGMA data_version")
    if let keysVersion, keysVersion == version { return }
    // Another process may have made, dropped or upgraded tables.
    stores.removeAll()
    knownPurgeCounts = nil
    guard let bytes = try StoreInfo(connection: self).body(.sharedKeys) else {
      keys = FleeceSharedKeys()
      keysVersion = version
      return
    }
    do {
      keys = try FleeceSharedKeys(reading: bytes)
      keysVersion = version
    } catch {
      throw DocumentStoreError(
        .corruptData, "\(quoted(context)): the shared keys do not decode: \(error)")
    }
  }

  /// Writes shared keys, last sequences and purge counts that changed.
  private func saveState() throws(DocumentStoreError) {
    if transaction.hasNewKeys {
      let bytes: [UInt8]
      do { bytes = try keys.encoded() } catch {
        throw DocumentStoreError(.corruptData, "the shared keys do not encode: \(error)")
      }
      try StoreInfo(connection: self).set(.sharedKeys, bytes)
    }
    for name in stores.keys.sorted() {
      guard let counters = stores[name]?.counters, counters.isChanged else { continue }
      try save(name.text, counters.lastSequence, counters.purgeCount)
      if let dead = counters.deadPurgeCount, counters.isDeadChanged {
        try save("del_" + name.text, 0, dead)
      }
    }
  }

  private func save(
    _ name: String, _ sequence: Int64, _ purgeCount: Int64
  ) throws(DocumentStoreError) {
    let statement = try statement(
      "INSERT INTO kvmeta (name, lastSeq, purgeCnt) VALUES (?, ?, ?) "
        + "ON CONFLICT (name) DO UPDATE SET lastSeq = excluded.lastSeq, "
        + "purgeCnt = excluded.purgeCnt")
    defer { statement.reset() }
    try statement.bind(name, at: 1)
    statement.bind(sequence, at: 2)
    statement.bind(purgeCount, at: 3)
    try statement.run()
  }
}
