// Connection+Nesting.swift: transactions inside transactions: each rolls back its own changes, and
// only the outermost makes changes durable.

extension Connection {
  /// Begins a transaction inside the one that is open.
  func beginNested() throws(DocumentStoreError) -> TransactionMark {
    try checkWriting()
    try execute("SAVEPOINT nested\(transaction.depth)")
    transaction.depth += 1
    return TransactionMark(
      openedCount: transaction.opened.count, keys: keys, hasNewKeys: transaction.hasNewKeys,
      counters: stores.compactMapValues { $0.counters })
  }

  func endNested() throws(DocumentStoreError) {
    try checkWriting()
    try execute("RELEASE nested\(transaction.depth - 1)")
    transaction.depth -= 1
  }

  /// Rolls back the changes since the mark.
  ///
  /// If SQLite has ended the whole transaction meanwhile, as it does when the medium is full, the
  /// outer one fails when it commits.
  func rollBackNested(to mark: TransactionMark) {
    transaction.depth -= 1
    let name = "nested\(transaction.depth)"
    if isInTransaction { try? execute("ROLLBACK TO \(name); RELEASE \(name)") }
    for name in transaction.opened[mark.openedCount...] { stores[name] = nil }
    transaction.opened.removeSubrange(mark.openedCount...)
    queries.removeAll()
    keys = mark.keys
    transaction.hasNewKeys = mark.hasNewKeys
    transaction.revisionDepthMax = nil
    for (name, store) in stores {
      store.forget()
      store.counters = mark.counters[name]
    }
  }
}
