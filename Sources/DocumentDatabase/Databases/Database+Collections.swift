// Database+Collections.swift: the scopes and collections of a database, and stored blobs.

import DocumentStore
import Foundation

extension Database {
  /// The name of the default scope.
  public static let defaultScopeName = CollectionName.defaultName
  /// The name of the default collection.
  public static let defaultCollectionName = CollectionName.defaultName

  /// The scopes that have collections, by name.
  /// - Returns: The scopes; the default one is always among them.
  /// - Throws: ``DatabaseError``.
  public func scopes() throws -> [Scope] {
    let names = try reading { try $0.collections().map(\.scope) } + [Self.defaultScopeName]
    return Set(names).sorted().map { Scope(name: $0, database: self) }
  }

  /// A scope.
  /// - Parameter name: Its name.
  /// - Returns: The scope; nil when it has no collections.
  /// - Throws: ``DatabaseError``.
  public func scope(name: String) throws -> Scope? { try scopes().first { $0.name == name } }

  /// The default scope.
  /// - Returns: The scope.
  /// - Throws: ``DatabaseError`` with code ``CBLError/notOpen``.
  public func defaultScope() throws -> Scope {
    try reading { _ in Scope(name: Self.defaultScopeName, database: self) }
  }

  /// The default collection.
  /// - Returns: The collection.
  /// - Throws: ``DatabaseError``.
  public func defaultCollection() throws -> Collection {
    try reading { snapshot in
      _ = try snapshot.collection()
      return Collection(.default, in: self)
    }
  }

  /// The collections of a scope, by name.
  /// - Parameter scope: The scope's name.
  /// - Returns: The collections.
  /// - Throws: ``DatabaseError``.
  public func collections(scope: String? = defaultScopeName) throws -> [Collection] {
    let scope = scope ?? Self.defaultScopeName
    return try reading { try $0.collections() }.filter { $0.scope == scope }
      .sorted { $0.name < $1.name }.map { Collection($0, in: self) }
  }

  /// A collection.
  /// - Parameters:
  ///   - name: Its name.
  ///   - scope: Its scope's name.
  /// - Returns: The collection; nil when there is none.
  /// - Throws: ``DatabaseError`` with code ``CBLError/invalidParameter`` for invalid names.
  public func collection(name: String, scope: String? = defaultScopeName) throws -> Collection? {
    try reading { snapshot in
      let path = try CollectionName(name, scope: scope ?? Self.defaultScopeName)
      return try snapshot.keyStore(KeyStoreName(path)).map { _ in Collection(path, in: self) }
    }
  }

  /// Creates a collection, unless there is one.
  /// - Parameters:
  ///   - name: Its name: letters, digits, `_`, `%` and `-`, the first neither `_` nor `%`.
  ///   - scope: Its scope's name, with the same rule.
  /// - Returns: The collection.
  /// - Throws: ``DatabaseError`` with code ``CBLError/invalidParameter`` for invalid names.
  ///
  /// Durability: as a save.
  @discardableResult
  public func createCollection(
    name: String, scope: String? = defaultScopeName
  ) throws -> Collection {
    try writing { batch in
      let path = try CollectionName(name, scope: scope ?? Self.defaultScopeName)
      _ = try batch.transaction.collection(path)
      return Collection(path, in: self)
    }
  }

  /// Deletes a collection with its documents and indexes.
  /// - Parameters:
  ///   - name: Its name.
  ///   - scope: Its scope's name.
  /// - Throws: ``DatabaseError`` with code ``CBLError/invalidParameter`` for the default
  ///   collection.
  ///
  /// Durability: as a save.
  public func deleteCollection(name: String, scope: String? = defaultScopeName) throws {
    try writing { batch in
      let path = try CollectionName(name, scope: scope ?? Self.defaultScopeName)
      try batch.transaction.deleteCollection(path)
    }
  }

  /// Stores a blob that no document names yet.
  ///
  /// Compacting the database removes it unless a document names it by then.
  /// - Parameter blob: The blob; it has a digest afterwards.
  /// - Throws: ``DatabaseError``.
  ///
  /// Durability: the blob is durable when this returns.
  public func saveBlob(blob: Blob) throws {
    try writing { batch in
      try blob.install(batch.transaction, in: self.file)
      batch.note([blob])
    }
  }

  /// A stored blob.
  /// - Parameter properties: Its properties, as ``Blob/properties`` gives them.
  /// - Returns: The blob; nil when the database has no such blob.
  /// - Throws: ``DatabaseError`` with code ``CBLError/invalidParameter`` for properties of none.
  public func getBlob(properties: [String: Any]) throws -> Blob? {
    guard Blob.isBlob(properties: properties),
      let blob = Blob(stored: properties.mapValues { Item(converting: $0) }, file: file)
    else {
      throw DatabaseError(CBLError.invalidParameter, "the properties are not those of a blob")
    }
    return blob.content == nil ? nil : blob
  }
}

/// The collections with one scope.
public final class Scope: Sendable, Hashable {
  /// The name of the default scope.
  public static let defaultScopeName = CollectionName.defaultName
  /// The name.
  public let name: String
  /// The database.
  public let database: Database

  init(name: String, database: Database) {
    self.name = name
    self.database = database
  }

  /// The collections, by name.
  /// - Returns: The collections.
  /// - Throws: ``DatabaseError``.
  public func collections() throws -> [Collection] { try database.collections(scope: name) }

  /// A collection.
  /// - Parameter name: Its name.
  /// - Returns: The collection; nil when there is none.
  /// - Throws: ``DatabaseError``.
  public func collection(name: String) throws -> Collection? {
    try database.collection(name: name, scope: self.name)
  }

  /// Whether both are the same scope of one database.
  /// - Parameters:
  ///   - first: A scope.
  ///   - second: Another one.
  /// - Returns: Whether they are the same.
  public static func == (first: Scope, second: Scope) -> Bool {
    first.name == second.name && first.database == second.database
  }

  /// Hashes the name.
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// A collection of documents.
///
/// Any thread may use it.
public final class Collection: Sendable, Hashable, CustomStringConvertible {
  /// The name of the default collection.
  public static let defaultCollectionName = CollectionName.defaultName
  /// The database.
  public let database: Database
  let path: CollectionName

  init(_ path: CollectionName, in database: Database) {
    self.path = path
    self.database = database
  }

  /// The name.
  public var name: String { path.name }
  /// The scope.
  public var scope: Scope { Scope(name: path.scope, database: database) }
  /// The names of scope and collection, a dot between them.
  public var fullName: String { path.description }

  /// The number of documents; 0 when the collection is deleted or the database closed.
  /// - Complexity: O(documents) rows of an index.
  public var count: UInt64 { (try? reading { store, _ in UInt64(try store.count()) }) ?? 0 }

  func reading<Output>(_ body: (KeyStore, Snapshot) throws -> Output) throws -> Output {
    try database.reading { try body(try store($0), $0) }
  }

  func writing<Output>(_ body: (KeyStore, Batch) throws -> Output) throws -> Output {
    try database.writing { try body(try store($0.transaction.snapshot), $0) }
  }

  /// The key store; not created again when the collection was deleted.
  private func store(_ snapshot: Snapshot) throws -> KeyStore {
    guard let store = try snapshot.keyStore(KeyStoreName(path)) else {
      throw DatabaseError(CBLError.notOpen, "collection \(fullName) was deleted")
    }
    return store
  }

  /// Whether both are the same collection of one database.
  /// - Parameters:
  ///   - first: A collection.
  ///   - second: Another one.
  /// - Returns: Whether they are the same.
  public static func == (first: Collection, second: Collection) -> Bool {
    first.path == second.path && first.database == second.database
  }

  /// Hashes the name.
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(path) }

  /// The full name.
  public var description: String { "Collection[\(fullName)]" }
}
