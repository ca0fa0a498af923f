// Realm+Files.swift: copies, deletion and versions of files.

import Engine
import FoundationEssentials

extension Realm {
  /// Writes a compact copy of the version that is read to a new file.
  ///
  /// For a synchronized file the newest version is copied without the file's identity: the copy is
  /// another client. It waits for the writer lock.
  /// - Parameters:
  ///   - fileURL: The new file; the path must not exist.
  ///   - encryptionKey: The key of the copy, 64 bytes; nil for a copy in the clear.
  /// - Throws: `Realm.Error`, with code `.fileExists` when the name is taken.
  ///
  /// Durability: when the call returns, the copy survives any crash.
  public func writeCopy(toFile fileURL: URL, encryptionKey: Data? = nil) throws {
    try core.checkOwner()
    guard core.write == nil else {
      throw Error(
        .transaction, "a copy is made of committed data; commit or cancel the transaction first")
    }
    try translating { () throws(EngineError) in
      let snapshot = try core.currentSnapshot()
      if snapshot.hasTable(ChangeRecording.markTable) {
        return try core.writeCopyOfRecorded(to: fileURL.standardizedFileURL.path, encryptionKey)
      }
      try snapshot.writeCopy(
        to: fileURL.standardizedFileURL.path, encryptionKey: encryptionKey.map { [UInt8]($0) })
    }
  }

  /// Writes a compact copy of the version that is read to the file of a configuration.
  /// - Parameter configuration: The new file and its key; its other fields play no part.
  /// - Throws: `Realm.Error`, with code `.fileExists` when the name is taken, and `.fileAccess` for
  ///   a realm in memory.
  ///
  /// Durability: when the call returns, the copy survives any crash.
  public func writeCopy(configuration: Configuration) throws {
    guard let fileURL = configuration.fileURL else {
      throw Error(.fileAccess, "a copy is a file, and the configuration is of a realm in memory")
    }
    try writeCopy(toFile: fileURL, encryptionKey: configuration.encryptionKey)
  }

  private static let companions = ["", ".lock", ".note", ".management", ".creating"]

  /// Deletes the file of a configuration and its companion files.
  /// - Parameter configuration: The configuration of the file.
  /// - Returns: Whether there was a file.
  /// - Throws: `Realm.Error` with code `.alreadyOpen` while this process has it open, or
  ///   `.fileAccess`. The caller has to make sure that no other process has it open.
  public static func deleteFiles(for configuration: Configuration) throws -> Bool {
    guard let path = configuration.path else {
      throw Error(.fileAccess, "a realm in memory has no files")
    }
    guard !Store.isOpen(configuration) else {
      throw Error(
        .alreadyOpen, "\(path) is open in this process; let go of all its realms and objects first")
    }
    let isThere = FileManager.default.fileExists(atPath: path)
    // The data file last: as long as it exists, a crash leaves a database.
    for suffix in companions.reversed() where FileManager.default.fileExists(atPath: path + suffix)
    {
      do { try FileManager.default.removeItem(atPath: path + suffix) } catch {
        throw Error(.fileAccess, "\(path + suffix) cannot be removed: \(error)")
      }
    }
    return isThere
  }

  /// Whether the file of a configuration exists.
  public static func fileExists(for configuration: Configuration) -> Bool {
    configuration.path.map { FileManager.default.fileExists(atPath: $0) } ?? false
  }

  /// Opens a realm once, so that the file is migrated.
  /// - Parameter configuration: How.
  /// - Throws: `Realm.Error`.
  public static func performMigration(for configuration: Configuration = .defaultConfiguration)
    throws
  {
    _ = try Realm(configuration: configuration)
  }
}

/// The schema version of a file.
/// - Parameters:
///   - fileURL: The file.
///   - encryptionKey: The key of an encrypted file, 64 bytes.
/// - Returns: The version; 0 for a file that no realm was opened on.
/// - Throws: `Realm.Error` with code `.fileNotFound` when there is no file.
public func schemaVersionAtURL(_ fileURL: URL, encryptionKey: Data? = nil) throws -> UInt64 {
  var configuration = Realm.Configuration(fileURL: fileURL, encryptionKey: encryptionKey)
  configuration.readOnly = true
  return try translating { () throws(EngineError) in
    let database = try Database.open(
      path: configuration.path ?? "", options: configuration.engineOptions)
    return try FileSchema(try database.snapshot()).version ?? 0
  }
}
