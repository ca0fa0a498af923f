// Snapshot.swift: the view of a reader: the contents of one commit.

import Fleece

/// The contents of a data file as of one commit, or as a write transaction sees them.
///
/// It is valid during the closure that it is given to; using it later is an error of the program.
public struct Snapshot {
  let connection: Connection
  let file: DataFile
  private let number: UInt64

  init(connection: Connection, file: DataFile) {
    self.connection = connection
    self.file = file
    number = connection.transaction.number
  }

  /// Traps when the transaction is over.
  func check() {
    precondition(
      connection.transaction.number == number, "a snapshot is used after its transaction")
  }

  /// The shared keys that bodies are read with.
  public var sharedKeys: FleeceSharedKeys {
    check()
    return connection.keys
  }

  /// The UUID that other programs may see.
  /// - Throws: `DocumentStoreError`.
  public func publicUUID() throws(DocumentStoreError) -> [UInt8] { try uuid(.publicUUID) }

  /// The UUID that stays here.
  /// - Throws: `DocumentStoreError`.
  public func privateUUID() throws(DocumentStoreError) -> [UInt8] { try uuid(.privateUUID) }

  private func uuid(_ key: StoreInfo.Key) throws(DocumentStoreError) -> [UInt8] {
    check()
    guard let body = try StoreInfo(connection: connection).body(key), body.count == 16 else {
      throw DocumentStoreError(
        .corruptData, "\(quoted(connection.context)) has no \(key.rawValue) of 16 bytes")
    }
    return body
  }

  /// How revisions are identified.
  /// - Throws: `DocumentStoreError` with code `.wrongFormat` for an unknown number.
  public func versioning() throws(DocumentStoreError) -> DataFile.Versioning {
    check()
    if let versioning = connection.transaction.versioning { return versioning }
    let number = try StoreInfo(connection: connection).number(.versioning)
    guard let number, let versioning = Int(exactly: number).flatMap(DataFile.Versioning.init)
    else {
      throw DocumentStoreError(
        .wrongFormat,
        "\(quoted(connection.context)): versioning is \(number.map(String.init) ?? "missing")")
    }
    connection.transaction.versioning = versioning
    return versioning
  }

  /// Maximum length of a branch of a revision tree; older revisions are pruned.
  /// - Throws: `DocumentStoreError`.
  public func revisionDepthMax() throws(DocumentStoreError) -> Int {
    check()
    if let depth = connection.transaction.revisionDepthMax { return depth }
    let stored = try StoreInfo(connection: connection).number(.maxRevTreeDepth) ?? 50
    let depth = Int(clamping: max(stored, 1))
    connection.transaction.revisionDepthMax = depth
    return depth
  }

  /// The collections, by name.
  /// - Throws: `DocumentStoreError`.
  public func collections() throws(DocumentStoreError) -> [CollectionName] {
    check()
    return try Schema.names(on: connection).compactMap(\.collection)
  }

  /// The key stores, by name.
  /// - Throws: `DocumentStoreError`.
  public func keyStores() throws(DocumentStoreError) -> [KeyStoreName] {
    check()
    return try Schema.names(on: connection)
  }

  /// A key store.
  /// - Parameter name: Its name.
  /// - Returns: The key store; nil when there is none.
  /// - Throws: `DocumentStoreError`.
  public func keyStore(_ name: KeyStoreName) throws(DocumentStoreError) -> KeyStore? {
    check()
    guard let state = try connection.store(name) else { return nil }
    return KeyStore(snapshot: self, state: state)
  }

  /// A collection's key store.
  /// - Parameter name: The collection.
  /// - Returns: The key store.
  /// - Throws: `DocumentStoreError` with code `.notFound` when there is no such collection.
  public func collection(
    _ name: CollectionName = .default
  ) throws(DocumentStoreError) -> KeyStore {
    if let store = try keyStore(KeyStoreName(name)) { return store }
    throw DocumentStoreError(
      .notFound, "\(quoted(connection.context)) has no collection \(name); make it first")
  }

  /// A body as JSON.
  /// - Parameter body: A body.
  /// - Returns: The text.
  /// - Throws: `DocumentStoreError` with code `.corruptRevisionData` when the bytes do not decode.
  public func json(of body: [UInt8]) throws(DocumentStoreError) -> String {
    check()
    do {
      return try FleeceDocument(body).withRoot { (root) throws(FleeceError) in
        try root.json(keys: connection.keys)
      }
    } catch {
      throw DocumentStoreError(.corruptRevisionData, "a body does not decode: \(error)")
    }
  }
}
