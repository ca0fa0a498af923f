// Database.swift: a database: a data file, with the listeners of its path in this process.

import DocumentStore
import Foundation
import Synchronization

/// A document database.
///
/// Any thread may use it, and everything that comes from it. Changes run one after the other; reads
/// see the last commit. Within `inBatch` the calls of its thread see and join the batch, and those
/// of others wait (changes) or see the commit before it (reads).
public final class Database: Sendable, Hashable, CustomStringConvertible {
  /// The name.
  public let name: String
  /// The configuration that it was opened with.
  public let config: DatabaseConfiguration
  let file: DataFile
  let hub: ChangeHub
  let liveQueries = LiveQueries()
  private let slot = BatchSlot()
  private let housekeeping: Task<Void, Never>

  /// Opens a database, and creates it if there is none.
  ///
  /// Documents are purged when they expire, for as long as it is open.
  /// - Parameters:
  ///   - name: The name; the database is the folder `NAME.cblite2`.
  ///   - config: Where and how it is opened.
  /// - Throws: ``DatabaseError``.
  ///
  /// Durability: a created database is durable when this returns.
  public init(name: String, config: DatabaseConfiguration = DatabaseConfiguration()) throws {
    let path = try config.path(name)
    self.name = name
    self.config = config
    let file = try DatabaseError.wrapping {
      try DataFile(path: path, options: config.options)
    }
    let hub = ChangeHub.shared(for: path)
    self.file = file
    self.hub = hub
    housekeeping = Task.detached(priority: .utility) {
      // Ends with the file.
      await Housekeeper(file).run(report: { turn in
        hub.post(turn.purged.map { ($0.collection, $0.id) })
      })
    }
  }

  deinit {
    housekeeping.cancel()
    liveQueries.end()
    try? file.close()
  }

  /// The path of the database's folder.
  public var path: String? { isOpen ? file.path + "/" : nil }

  private var isOpen: Bool { (try? file.read { _ in }) != nil }

  /// Closes it and ends its live queries; calls after that throw.
  /// - Throws: ``DatabaseError`` with code ``CBLError/busy`` while a transaction runs.
  public func close() throws {
    housekeeping.cancel()
    liveQueries.end()
    try DatabaseError.wrapping { try file.close() }
  }

  /// Closes it and removes its files.
  /// - Throws: ``DatabaseError``.
  ///
  /// Durability: the removal is durable when this returns.
  public func delete() throws {
    try close()
    _ = try DatabaseError.wrapping { try DataFile.delete(path: file.path) }
  }

  /// Removes the files of a database that nothing has open.
  /// - Parameters:
  ///   - name: The name.
  ///   - directory: Its folder; nil for the default one.
  /// - Throws: ``DatabaseError`` with code ``CBLError/notFound`` when there is none.
  ///
  /// Durability: the removal is durable when this returns.
  public static func delete(withName name: String, inDirectory directory: String? = nil) throws {
    var config = DatabaseConfiguration()
    if let directory { config.directory = directory }
    let path = try config.path(name)
    guard try DatabaseError.wrapping({ try DataFile.delete(path: path) }) else {
      throw DatabaseError(CBLError.notFound, "there is no database '\(path)'")
    }
  }

  /// Whether there is a database.
  /// - Parameters:
  ///   - name: The name.
  ///   - directory: Its folder; nil for the default one.
  /// - Returns: Whether there is one.
  public static func exists(withName name: String, inDirectory directory: String? = nil) -> Bool {
    var config = DatabaseConfiguration()
    if let directory { config.directory = directory }
    guard let path = try? config.path(name) else { return false }
    return FileManager.default.fileExists(atPath: path + "/db.sqlite3")
  }

  /// Copies a database, which may be in use.
  /// - Parameters:
  ///   - path: The folder of the database to copy.
  ///   - name: The name of the copy.
  ///   - config: The copy's folder.
  /// - Throws: ``DatabaseError``: ``CBLError/invalidParameter`` when there is a database of that
  ///   name.
  ///
  /// Durability: the copy is durable when this returns; after a crash within it there is none.
  public static func copy(
    fromPath path: String, toDatabase name: String, withConfig config: DatabaseConfiguration?
  ) throws {
    let config = DatabaseConfiguration(config: config)
    let target = try config.path(name)
    try DatabaseError.wrapping {
      try DataFile.copy(from: path, to: target, options: config.options)
    }
  }

  /// Runs changes as one transaction: all of them are made, or none when it throws.
  ///
  /// A batch within a batch takes back its own changes when it throws.
  /// - Parameter body: The changes; saves and reads of this thread in it belong to the transaction.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, and ``DatabaseError``.
  ///
  /// Durability: as a single save.
  @discardableResult
  public func inBatch<Output>(using body: () throws -> Output) throws -> Output {
    try DatabaseError.wrapping {
      guard let batch = slot.current else { return try inTransaction { _ in try body() } }
      let mark = batch.mark
      do { return try batch.transaction.nested { _ in try body() } } catch {
        batch.rollBack(to: mark)
        throw error
      }
    }
  }

  private func inTransaction<Output>(_ body: (Batch) throws -> Output) throws -> Output {
    var open: Batch?
    let output: Output
    do {
      output = try file.write { transaction in
        let batch = Batch(transaction)
        open = batch
        slot.enter(batch)
        defer { slot.leave() }
        return try body(batch)
      }
    } catch {
      if let open { open.rollBack(to: Batch.Mark(changes: 0, blobs: 0, saves: 0)) }
      throw error
    }
    if let open {
      open.finish(in: file)
      hub.post(open.changes)
    }
    return output
  }

  /// Runs a change in the batch of this thread, or as one transaction.
  func writing<Output>(_ body: (Batch) throws -> Output) throws -> Output {
    try DatabaseError.wrapping {
      if let batch = slot.current { return try body(batch) }
      return try inTransaction(body)
    }
  }

  /// Reads the batch of this thread, or the last commit.
  func reading<Output>(_ body: (Snapshot) throws -> Output) throws -> Output {
    try DatabaseError.wrapping {
      if let batch = slot.current { return try body(batch.transaction.snapshot) }
      return try file.read(body)
    }
  }

  /// What to do to the files.
  public enum MaintenanceType: Sendable, CaseIterable {
    /// Removes blobs that no document names, and returns unused space.
    case compact
    /// Rebuilds indexes.
    case reindex
    /// Checks all contents.
    case integrityCheck
    /// Collects statistics for planning queries, from a part of each index.
    case optimize
    /// Collects statistics for planning queries, from all of each index.
    case fullOptimize
  }

  /// Maintains the files.
  /// - Parameter type: What to do.
  /// - Throws: ``DatabaseError``: ``CBLError/corruptData`` with the first problem of a check,
  ///   ``CBLError/unsupported``, ``CBLError/transactionNotClosed`` within a batch.
  /// - Complexity: O(bytes).
  public func performMaintenance(type: MaintenanceType) throws {
    guard slot.current == nil else {
      throw DatabaseError(
        CBLError.transactionNotClosed, "maintenance is not possible in a batch; do it after it")
    }
    try DatabaseError.wrapping {
      switch type {
      case .compact: try file.compact()
      case .reindex: try file.reindex()
      case .integrityCheck:
        let found = try file.verify()
        guard let problem = found.problems.first else { return }
        throw DatabaseError(
          CBLError.corruptData,
          "\(found.problems.count + found.unlistedCount) problems; the first: \(problem)")
      case .optimize: try file.analyze()
      case .fullOptimize: try file.analyze(isComplete: true)
      }
    }
  }

  /// Whether both are the same object.
  /// - Parameters:
  ///   - first: A database.
  ///   - second: Another one.
  /// - Returns: Whether they are one object.
  public static func == (first: Database, second: Database) -> Bool { first === second }

  /// Hashes the identity.
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// Name and path.
  public var description: String { "Database[\(name); \(file.path)]" }
}
