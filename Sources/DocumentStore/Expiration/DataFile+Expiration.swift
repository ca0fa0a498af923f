// DataFile+Expiration.swift: the next expiration in the whole file, and the purge. Durability: a
// purge is one transaction over all collections. After a crash either all records that were due are
// gone, or none is.

/// A document that expired and was purged.
public struct ExpiredDocument: Hashable, Sendable {
  /// The collection that it was in.
  public let collection: CollectionName
  /// Its ID.
  public let id: String
}

extension Snapshot {
  /// When the first document of any collection expires, in milliseconds since 1970; nil when none
  /// does.
  /// - Throws: `DocumentStoreError`.
  /// - Complexity: O(collections · log documents).
  public func nextExpiration() throws(DocumentStoreError) -> Int64? {
    var next: Int64?
    for name in try collections() {
      guard let first = try collection(name).nextExpiration() else { continue }
      next = min(next ?? first, first)
    }
    return next
  }
}

extension DataFile {
  /// Removes all documents that have expired, of all collections, in one transaction.
  ///
  /// If none is due, nothing is written and no lock is taken.
  /// - Parameter nowMilliseconds: The time, in milliseconds since 1970.
  /// - Returns: The documents, by collection and ID.
  /// - Throws: `DocumentStoreError`: `.busy` when another writer holds the file; as `write`.
  /// - Complexity: O(collections + expired · log documents).
  ///
  /// Durability: as `write`.
  @discardableResult
  public func purgeExpired(nowMilliseconds: Int64) throws -> [ExpiredDocument] {
    try checkWritable()
    let next = try read { try $0.nextExpiration() }
    guard let next, next <= nowMilliseconds else { return [] }
    return try write { transaction in
      var purged: [ExpiredDocument] = []
      for name in try transaction.snapshot.collections() {
        let keys = try transaction.snapshot.collection(name).purgeExpired(
          nowMilliseconds: nowMilliseconds)
        purged += keys.map { ExpiredDocument(collection: name, id: $0) }
      }
      return purged
    }
  }

  /// Removes documents that expired while the file was closed.
  ///
  /// When another writer holds the file, this is left to the next purge: opening does not fail for
  /// it.
  func purgeOnOpen() throws(DocumentStoreError) {
    guard !options.isReadOnly, options.purgesExpiredOnOpen else { return }
    do { try purgeExpired(nowMilliseconds: options.nowMilliseconds) } catch {
      let error = SQLFailure.error(error, path)
      guard error.code == .busy else { throw error }
    }
  }
}

extension DataFile.Options {
  /// The time in milliseconds since 1970.
  var nowMilliseconds: Int64 { Int64(clamping: nanoseconds() / 1_000_000) }
}
