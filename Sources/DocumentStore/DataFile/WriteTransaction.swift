// WriteTransaction.swift: the operations of a writer beyond reading.

import Fleece

/// A transaction that changes a data file.
///
/// It is valid during the closure that it is given to; using it later is an error of the program.
public struct WriteTransaction {
  /// The content that the transaction sees.
  public let snapshot: Snapshot
  var connection: Connection { snapshot.connection }

  init(_ snapshot: Snapshot) { self.snapshot = snapshot }

  /// Runs changes that can be taken back alone: when they throw, those before them stay.
  /// - Parameter body: The changes.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, and `DocumentStoreError`.
  @discardableResult
  public func nested<Result>(_ body: (WriteTransaction) throws -> Result) throws -> Result {
    snapshot.check()
    return try snapshot.file.nested(body)
  }

  /// A key store; created if it does not exist.
  /// - Parameter name: Its name.
  /// - Returns: The key store.
  /// - Throws: `DocumentStoreError`.
  public func keyStore(_ name: KeyStoreName) throws(DocumentStoreError) -> KeyStore {
    if let store = try snapshot.keyStore(name) { return store }
    try connection.checkWriting()
    connection.transaction.opened.append(name)
    // The real library leaves indexes of deleted collections behind.
    try dropIndexes(of: name)
    try Schema.make(name.table, on: connection)
    if name.isCollection { try Schema.make(name.deadTable, on: connection) }
    guard let store = try snapshot.keyStore(name) else {
      throw DocumentStoreError(.corruptData, "table \(quoted(name.table)) was made and is gone")
    }
    return store
  }

  /// A collection's key store; the collection is created if it does not exist.
  /// - Parameter name: The collection.
  /// - Returns: The key store.
  /// - Throws: `DocumentStoreError` with code `.invalidParameter` for the default collection of a
  ///   file that has lost it.
  public func collection(
    _ name: CollectionName = .default
  ) throws(DocumentStoreError) -> KeyStore {
    try keyStore(KeyStoreName(name))
  }

  /// Deletes a collection with its records and indexes.
  ///
  /// A collection created again under its name continues the sequences of the old one.
  /// - Parameter name: The collection, not the default one.
  /// - Returns: Whether there was one.
  /// - Throws: `DocumentStoreError` with code `.invalidParameter` for the default collection, and
  ///   `.unsupported` for one with an index of vectors.
  @discardableResult
  public func deleteCollection(_ name: CollectionName) throws(DocumentStoreError) -> Bool {
    snapshot.check()
    try connection.checkWriting()
    guard name != .default else {
      throw DocumentStoreError(.invalidParameter, "the default collection cannot be deleted")
    }
    let store = KeyStoreName(name)
    guard try Schema.has(store.table, on: connection) else { return false }
    if let state = connection.stores[store], state.counters?.isChanged == true {
      throw DocumentStoreError(
        .invalidParameter,
        "\(name) was changed in this transaction; delete it in one of its own")
    }
    try dropIndexes(of: store)
    connection.stores[store] = nil
    connection.transaction.opened.append(store)
    try connection.execute("DROP VIEW IF EXISTS temp.\(identifier(store.view))")
    try connection.execute("DROP TABLE \(identifier(store.table))")
    try connection.execute("DROP TABLE IF EXISTS \(identifier(store.deadTable))")
    return true
  }

  private func dropIndexes(of store: KeyStoreName) throws(DocumentStoreError) {
    for index in try connection.indexes(where: "keyStore = \(literal(store.text))") {
      try connection.drop(index)
    }
  }

  /// Writes a body with the file's shared keys; new keys become the file's with this transaction.
  /// - Parameter body: The calls that write it.
  /// - Returns: The bytes.
  /// - Throws: What `body` throws.
  /// - Complexity: O(bytes).
  public func encode(
    _ body: (inout FleeceEncoder) throws(FleeceError) -> Void
  ) throws(FleeceError) -> [UInt8] {
    snapshot.check()
    let count = connection.keys.count
    // Its memory is used again; a body that calls this once more gets another one.
    var encoder = connection.encoder.take() ?? FleeceEncoder()
    encoder.sharedKeys = connection.keys
    do {
      try body(&encoder)
      let bytes = try encoder.finish()
      if let keys = encoder.sharedKeys, keys.count > count {
        connection.keys = keys
        connection.transaction.hasNewKeys = true
      }
      connection.keep(encoder)
      return bytes
    } catch {
      encoder.reset()
      connection.keep(encoder)
      throw error
    }
  }

  /// Writes a body of JSON.
  /// - Parameter text: The text of a dict.
  /// - Returns: The bytes.
  /// - Throws: `FleeceError` with code `.json`.
  /// - Complexity: O(bytes).
  public func encode(json text: String) throws(FleeceError) -> [UInt8] {
    try encode { (encoder: inout FleeceEncoder) throws(FleeceError) in
      try FleeceBytes.over(text) { (view: FleeceBytes) throws(FleeceError) in
        try encoder.json(view)
      }
    }
  }

  /// Sets the maximum length of a branch of revision trees.
  /// - Parameter depth: At least 1.
  /// - Throws: `DocumentStoreError`.
  public func setRevisionDepthMax(_ depth: Int) throws(DocumentStoreError) {
    snapshot.check()
    try connection.checkWriting()
    guard depth >= 1 else {
      throw DocumentStoreError(.invalidParameter, "a depth of \(depth) < 1 keeps no revision")
    }
    connection.transaction.revisionDepthMax = nil
    let info = StoreInfo(connection: connection)
    try info.set(.maxRevTreeDepth, StoreInfo.number(UInt64(depth)))
  }
}
