// DataFile+Transactions.swift: how a caller reads and writes.

import Fleece

extension DataFile {
  /// Reads the contents of one commit.
  ///
  /// - Parameter body: Reads the snapshot; neither the snapshot nor objects from it may escape.
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

  /// Changes the file in one transaction: all changes are made when `body` returns, none when it
  /// throws.
  ///
  /// Writers wait for each other, in all processes.
  ///
  /// Inside another `write` of the same thread it is a nested transaction: an error rolls back only
  /// its own changes, and only the outermost makes changes durable.
  /// - Parameter body: The changes; neither the transaction nor objects from it may escape.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, and `DocumentStoreError`: `.busy` when another writer holds the
  ///   file for longer than the timeout, `.notWriteable`, `.noSpace`, `.inputOutput`.
  ///
  /// Durability: with `Sync.full` the changes are durable when this returns; with `.normal` a power
  /// cut may lose the last commits, in order. Blobs are durable before the commit in both. After an
  /// error of the medium within the commit itself, the next open shows whether the commit exists,
  /// and the data file accepts no more writes until then.
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
