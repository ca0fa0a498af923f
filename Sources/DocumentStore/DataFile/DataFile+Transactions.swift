// DataFile+Transactions.swift: how a caller reads and writes.

import Fleece

extension DataFile {
  /// Reads the contents of one commit.
  ///
  /// - Parameter body: What is read; the snapshot and what comes from it must not leave it.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, and `DocumentStoreError`.
  @discardableResult
  public func read<Result>(_ body: (Snapshot) throws -> Result) throws -> Result {
    try withReader { (reader) throws in
      try reader.run { () throws in
        try reader.beginReading()
        defer { reader.endReading() }
        return try body(Snapshot(connection: reader, file: self))
      }
    } open: {
      $0
    }
  }

  /// Changes the file in one transaction: all of it happens when `body` returns, or nothing when it
  /// throws.
  ///
  /// Writers wait for each other, in all processes.
  ///
  /// Inside another `write` of the same thread it is a transaction in that one: what it throws
  /// takes back its own changes, and only the outermost makes any durable.
  /// - Parameter body: The changes; the transaction and what comes from it must not leave it.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, and `DocumentStoreError`: `.busy` when another writer holds the
  ///   file for longer than it may be waited for, `.notWriteable`, `.noSpace`, `.inputOutput`.
  ///
  /// Durability: with `Sync.full` the changes are durable when this returns; with `.normal` a power
  /// cut may take the last commits, in order. Blobs are durable before the commit in both. After an
  /// error of the medium within the commit itself, whether it is there shows at the next open, and
  /// the data file takes no more writes until then.
  @discardableResult
  public func write<Result>(_ body: (WriteTransaction) throws -> Result) throws -> Result {
    try checkWritable()
    return try writer.run { () throws in
      if writer.transaction.kind == .writing { return try nested(body) }
      try writer.beginWriting()
      let transaction = WriteTransaction(Snapshot(connection: writer, file: self))
      let result: Result
      do {
        try makeWantedIndexes()
        result = try body(transaction)
      } catch {
        writer.rollBack()
        throw error
      }
      try commit()
      return result
    }
  }

  func nested<Result>(_ body: (WriteTransaction) throws -> Result) throws -> Result {
    let mark = try writer.beginNested()
    do {
      let result = try body(WriteTransaction(Snapshot(connection: writer, file: self)))
      try writer.endNested()
      return result
    } catch {
      writer.rollBackNested(to: mark)
      throw error
    }
  }

  private func commit() throws(DocumentStoreError) {
    do { try writer.commit(Bundle(path: path)) } catch {
      writer.rollBack()
      if error.code == .inputOutput { refuseWrites(after: error) }
      throw error
    }
  }

  /// Makes indexes that readers would have used.
  private func makeWantedIndexes() throws(DocumentStoreError) {
    let names = wantsSequences.withLock { wanted in
      defer { wanted = [] }
      return wanted
    }
    for name in names.sorted() where try Schema.has(name.table, on: writer) {
      try writer.store(name)?.makeSequenceIndex(on: writer)
    }
  }
}
