// Collection+Documents.swift: documents are read, saved, deleted and purged. Invariant: a change is
// one transaction, or part of the batch that is open on this thread.

import DocumentStore
import Fleece
import Foundation

/// What a save does when the document was changed by another writer first.
public enum ConcurrencyControl: Sendable {
  /// It replaces the other change.
  case lastWriteWins
  /// It does nothing.
  case failOnConflict
}

extension Collection {
  /// A document.
  /// - Parameter id: Its ID.
  /// - Returns: The document; nil when there is none, or it is deleted.
  /// - Throws: ``DatabaseError`` with code ``CBLError/corruptRevisionData`` for a damaged one.
  /// - Complexity: O(bytes of the document).
  public func document(id: String) throws -> Document? {
    try reading { store, snapshot in
      guard let record = try store.record(id), !record.flags.contains(.deleted) else { return nil }
      return try self.document(record, snapshot)
    }
  }

  /// A document that may not exist.
  /// - Parameter key: Its ID.
  public subscript(key: String) -> DocumentFragment {
    DocumentFragment(document: try? document(id: key))
  }

  private func document(_ record: Record, _ snapshot: Snapshot) throws -> Document {
    let body = try Self.body(of: record, snapshot.sharedKeys)
    // Damage is reported here, so that the getters need not.
    let checked = try FleeceDocument(validating: body)
    let source = FleeceSource(
      bytes: checked.bytes, keys: snapshot.sharedKeys, file: database.file)
    return Document(
      id: record.key, DictionaryContents(source),
      base: DocumentBase(version: record.version, sequence: record.sequence), in: self)
  }

  /// The current body; documents of 2.x have it in their tree.
  private static func body(of record: Record, _ keys: FleeceSharedKeys) throws -> [UInt8] {
    if record.version.first == 0 || record.extra != nil { return record.body ?? emptyBody }
    return try TreeDocument(record).current?.body ?? emptyBody
  }

  /// An empty dict of Fleece.
  private static let emptyBody: [UInt8] = [0x70, 0]

  /// Saves a document, and replaces changes that others made in the meantime.
  /// - Parameter document: The document; it becomes one of the new revision.
  /// - Throws: ``DatabaseError``.
  ///
  /// Durability: with `fullSync` the change is durable when this returns, outside of a batch;
  /// without it, a power cut may lose the last changes, in order.
  public func save(document: MutableDocument) throws {
    _ = try save(document: document, concurrencyControl: .lastWriteWins)
  }

  /// Saves a document.
  /// - Parameters:
  ///   - document: The document; it becomes one of the new revision.
  ///   - concurrencyControl: What happens if it was changed by another writer first.
  /// - Returns: Whether it was saved.
  /// - Throws: ``DatabaseError``: ``CBLError/invalidParameter`` for a document of another
  ///   collection, ``CBLError/badDocID``, ``CBLError/corruptRevisionData`` for reserved names.
  ///
  /// Durability: as `save(document:)`.
  @discardableResult
  public func save(
    document: MutableDocument, concurrencyControl: ConcurrencyControl
  ) throws -> Bool {
    try checkOwner(of: document)
    return try writing { store, batch in
      let transaction = batch.transaction
      let blobs = document.contents.blobs()
      for blob in blobs { try blob.install(transaction, in: self.database.file) }
      let body = try transaction.encode { (encoder: inout FleeceEncoder) throws(FleeceError) in
        try document.contents.write(to: &encoder)
      }
      let saved = try self.store(
        body, id: document.id, base: document.base, concurrencyControl, store, transaction)
      guard let saved else { return false }
      batch.note(blobs)
      batch.save(document, as: saved, in: self)
      return true
    }
  }

  /// Saves a document; a handler decides about changes by others.
  /// - Parameters:
  ///   - document: The document.
  ///   - conflictHandler: Called with the document, which it may change, and the one that another
  ///     writer saved, nil when that was deleted. It returns whether to save. It is called again
  ///     when the document changes again in the meantime.
  /// - Returns: Whether it was saved.
  /// - Throws: ``DatabaseError``, as `save(document:concurrencyControl:)`, and with code
  ///   ``CBLError/notFound`` when another writer purged the document.
  ///
  /// Durability: as `save(document:)`.
  @discardableResult
  public func save(
    document: MutableDocument, conflictHandler: (MutableDocument, Document?) -> Bool
  ) throws -> Bool {
    while true {
      if try save(document: document, concurrencyControl: .failOnConflict) { return true }
      let (other, base) = try reading { store, snapshot -> (Document?, DocumentBase?) in
        guard let record = try store.record(document.id) else {
          throw DatabaseError(
            CBLError.notFound, "'\(document.id)' was purged while its conflict was decided")
        }
        let base = DocumentBase(version: record.version, sequence: record.sequence)
        guard !record.flags.contains(.deleted) else { return (nil, base) }
        return (try self.document(record, snapshot), base)
      }
      guard conflictHandler(document, other) else { return false }
      document.saved(as: base, in: self)
    }
  }

  /// Deletes a document, and changes that others made in the meantime.
  ///
  /// A tombstone stays, which replicates.
  /// - Parameter document: The document.
  /// - Throws: ``DatabaseError`` with code ``CBLError/notFound`` for one that was never saved, or
  ///   was purged.
  ///
  /// Durability: as `save(document:)`.
  public func delete(document: Document) throws {
    _ = try delete(document: document, concurrencyControl: .lastWriteWins)
  }

  /// Deletes a document.
  /// - Parameters:
  ///   - document: The document.
  ///   - concurrencyControl: What happens if it was changed by another writer first.
  /// - Returns: Whether it was deleted.
  /// - Throws: ``DatabaseError``, as `delete(document:)`.
  ///
  /// Durability: as `save(document:)`.
  @discardableResult
  public func delete(document: Document, concurrencyControl: ConcurrencyControl) throws -> Bool {
    try checkOwner(of: document)
    guard let base = document.base else {
      throw DatabaseError(
        CBLError.notFound, "document '\(document.id)' was never saved and cannot be deleted")
    }
    return try writing { store, batch in
      guard let current = try store.record(document.id, content: .head) else {
        throw DatabaseError(CBLError.notFound, "\(self.fullName) has no '\(document.id)'")
      }
      if current.flags.contains(.deleted) { return true }
      if current.version != base.version, concurrencyControl == .failOnConflict { return false }
      // Two rows change: all of it, or none.
      let saved = try batch.transaction.nested { nested in
        try self.store(nil, id: document.id, base: base, concurrencyControl, store, nested)
      }
      guard let saved else { return false }
      batch.save(document, as: saved, in: self)
      return true
    }
  }

  /// Removes a document without a tombstone; nothing replicates.
  /// - Parameter document: The document.
  /// - Throws: ``DatabaseError`` with code ``CBLError/notFound`` when there is none.
  ///
  /// Durability: as `save(document:)`.
  public func purge(document: Document) throws {
    try checkOwner(of: document)
    try purge(id: document.id)
  }

  /// Removes a document without a tombstone; nothing replicates.
  /// - Parameter id: Its ID.
  /// - Throws: ``DatabaseError`` with code ``CBLError/notFound`` when there is none.
  ///
  /// Durability: as `save(document:)`.
  public func purge(id: String) throws {
    try writing { store, batch in
      guard try store.purge(id) else {
        throw DatabaseError(CBLError.notFound, "\(self.fullName) has no '\(id)'")
      }
      batch.note(id, in: self)
    }
  }

  /// Sets when a document is purged.
  /// - Parameters:
  ///   - id: Its ID.
  ///   - expiration: The time; nil for never.
  /// - Throws: ``DatabaseError`` with code ``CBLError/notFound`` when there is no such document.
  ///
  /// Durability: as `save(document:)`.
  public func setDocumentExpiration(id: String, expiration: Date?) throws {
    try writing { store, _ in
      // A time beyond all numbers is the last one; one before 1970 has passed.
      let milliseconds = expiration.map { date -> Int64 in
        let time = (date.timeIntervalSince1970 * 1000).rounded()
        return time < 1 ? 1 : Int64(exactly: time) ?? .max
      }
      guard try store.setExpiration(milliseconds, of: id) else {
        throw DatabaseError(CBLError.notFound, "\(self.fullName) has no '\(id)'")
      }
    }
  }

  /// When a document is purged.
  /// - Parameter id: Its ID.
  /// - Returns: The time; nil for never.
  /// - Throws: ``DatabaseError`` with code ``CBLError/notFound`` when there is no such document.
  public func getDocumentExpiration(id: String) throws -> Date? {
    try reading { store, _ in
      guard let record = try store.record(id, content: .head) else {
        throw DatabaseError(CBLError.notFound, "\(self.fullName) has no '\(id)'")
      }
      return record.expirationMilliseconds.map { Date(timeIntervalSince1970: Double($0) / 1000) }
    }
  }

  private func checkOwner(of document: Document) throws {
    guard let owner = document.collection, owner != self else { return }
    throw DatabaseError(
      CBLError.invalidParameter,
      "document '\(document.id)' is of collection \(owner.fullName) and not of \(fullName)")
  }

  /// Stores a revision.
  /// - Returns: The revision; nil for a conflict.
  private func store(
    _ body: [UInt8]?, id: String, base: DocumentBase?, _ control: ConcurrencyControl,
    _ store: KeyStore, _ transaction: WriteTransaction
  ) throws -> DocumentBase? {
    guard try transaction.snapshot.versioning() != .vectors else {
      return try storeVector(body, id: id, base: base, control, store)
    }
    do {
      let parent = try base.map { try RevisionID(stored: $0.version) }
      return DocumentBase(try store.save(id, body: body, parent: parent).record)
    } catch let error as DocumentStoreError where error.code == .conflict || error.code == .notFound
    {
      guard control == .lastWriteWins else { return nil }
      let current = try store.record(id, content: .head)
      let parent = try current.map { try RevisionID(stored: $0.version) }
      return DocumentBase(try store.save(id, body: body, parent: parent).record)
    }
  }

  private func storeVector(
    _ body: [UInt8]?, id: String, base: DocumentBase?, _ control: ConcurrencyControl,
    _ store: KeyStore
  ) throws -> DocumentBase? {
    var document = try store.vectorDocument(id) ?? VectorDocument(id: id)
    let isLive = document.record.sequence > 0 && !document.record.flags.contains(.deleted)
    let isBase = base.map { $0.version == document.record.version } ?? !isLive
    guard isBase || control == .lastWriteWins else { return nil }
    try store.save(&document, body: body)
    return DocumentBase(document.record)
  }
}

extension DocumentBase {
  init(_ record: Record) {
    self.init(version: record.version, sequence: record.sequence)
  }
}
