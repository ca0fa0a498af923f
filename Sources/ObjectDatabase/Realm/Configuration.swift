// Configuration.swift: how a realm is opened.

import Engine
import FoundationEssentials
import Synchronization

/// Changes the data of a file whose schema version is lower than the configuration's.
public typealias MigrationBlock =
  @Sendable (_ migration: Migration, _ oldSchemaVersion: UInt64) -> Void

extension Realm {
  /// How a realm is opened.
  public struct Configuration: Sendable, Equatable, CustomStringConvertible {
    /// The file; nil for a realm in memory.
    ///
    /// By default `default.realm` in the working folder.
    public var fileURL: URL? {
      didSet { if fileURL != nil { inMemoryIdentifier = nil } }
    }
    /// The name of an in-memory realm, shared in this process; nil for a file.
    public var inMemoryIdentifier: String? {
      didSet { if inMemoryIdentifier != nil { fileURL = nil } }
    }
    /// The key of an encrypted file, 64 bytes.
    public var encryptionKey: Data?
    /// Whether nothing may be written.
    public var readOnly = false
    /// The version of the program's classes.
    public var schemaVersion: UInt64 = 0
    /// Changes the data when `schemaVersion` is higher than the file's.
    public var migrationBlock: MigrationBlock?
    /// Whether all data is deleted where a migration would be needed; for development.
    public var deleteRealmIfMigrationNeeded = false
    /// Called by the first opener of the file: whether to compact it, given the file's size and the
    /// bytes in use.
    public var shouldCompactOnLaunch: (@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)?
    /// The classes of the database; nil adds each class when it is first used.
    public var objectTypes: [ObjectBase.Type]?
    /// Versions that may be alive when a write transaction begins; nil for any number.
    public var maximumNumberOfActiveVersions: UInt?
    /// A file to copy to `fileURL` if that does not exist.
    public var seedFilePath: URL?
    /// Opens the database in place of the engine's own open; for the lab.
    package var engineOpener: EngineOpener?
    /// Makes recorders of changes; files that need one are not written without.
    package var recording: ChangeRecording?

    /// Makes a configuration.
    /// - Parameters:
    ///   - fileURL: The file.
    ///   - inMemoryIdentifier: The name of an in-memory realm; it replaces the file.
    ///   - encryptionKey: The key of an encrypted file, 64 bytes.
    ///   - readOnly: Whether nothing may be written.
    ///   - schemaVersion: The version of the program's classes.
    ///   - migrationBlock: Changes the data of a file of a lower version.
    ///   - deleteRealmIfMigrationNeeded: Whether all data is deleted where a migration would be
    ///     needed.
    ///   - shouldCompactOnLaunch: Whether to compact the file at the first open.
    ///   - objectTypes: The classes of the database.
    ///   - seedFilePath: A file to copy if there is none.
    public init(
      fileURL: URL? = URL(filePath: "default.realm"), inMemoryIdentifier: String? = nil,
      encryptionKey: Data? = nil, readOnly: Bool = false, schemaVersion: UInt64 = 0,
      migrationBlock: MigrationBlock? = nil, deleteRealmIfMigrationNeeded: Bool = false,
      shouldCompactOnLaunch: (@Sendable (Int, Int) -> Bool)? = nil,
      objectTypes: [ObjectBase.Type]? = nil, seedFilePath: URL? = nil
    ) {
      self.fileURL = inMemoryIdentifier == nil ? fileURL : nil
      self.inMemoryIdentifier = inMemoryIdentifier
      self.encryptionKey = encryptionKey
      self.readOnly = readOnly
      self.schemaVersion = schemaVersion
      self.migrationBlock = migrationBlock
      self.deleteRealmIfMigrationNeeded = deleteRealmIfMigrationNeeded
      self.shouldCompactOnLaunch = shouldCompactOnLaunch
      self.objectTypes = objectTypes
      self.seedFilePath = seedFilePath
    }

    /// The fields that are set, for logs; the key only as present or not.
    public var description: String {
      var fields: [String] = []
      if let fileURL { fields.append("fileURL = \(fileURL.absoluteString)") }
      if let inMemoryIdentifier { fields.append("inMemoryIdentifier = \(inMemoryIdentifier)") }
      fields.append("encryptionKey = \(encryptionKey == nil ? "(null)" : "set")")
      fields.append("readOnly = \(readOnly)")
      fields.append("schemaVersion = \(schemaVersion)")
      fields.append("migrationBlock = \(migrationBlock == nil ? "(null)" : "set")")
      fields.append("deleteRealmIfMigrationNeeded = \(deleteRealmIfMigrationNeeded)")
      fields.append("shouldCompactOnLaunch = \(shouldCompactOnLaunch == nil ? "(null)" : "set")")
      let types = objectTypes.map { $0.map { $0.className() }.joined(separator: ", ") }
      fields.append("objectTypes = \(types ?? "(null)")")
      return "Realm.Configuration {\n" + fields.map { "\t\($0);\n" }.joined() + "}"
    }

    /// Whether both open the same realm in the same way; blocks are not compared, only whether
    /// there are any.
    public static func == (left: Configuration, right: Configuration) -> Bool {
      left.fileURL == right.fileURL && left.inMemoryIdentifier == right.inMemoryIdentifier
        && left.encryptionKey == right.encryptionKey && left.readOnly == right.readOnly
        && left.schemaVersion == right.schemaVersion
        && left.seedFilePath == right.seedFilePath
        && left.maximumNumberOfActiveVersions == right.maximumNumberOfActiveVersions
        && left.deleteRealmIfMigrationNeeded == right.deleteRealmIfMigrationNeeded
        && left.objectTypes?.map { ObjectIdentifier($0) }
          == right.objectTypes?.map { ObjectIdentifier($0) }
        && (left.migrationBlock == nil) == (right.migrationBlock == nil)
        && (left.shouldCompactOnLaunch == nil) == (right.shouldCompactOnLaunch == nil)
    }

    private static let standard = Mutex(Configuration())

    /// The configuration that `Realm()` opens.
    public static var defaultConfiguration: Configuration {
      get { standard.withLock { $0 } }
      set { standard.withLock { $0 = newValue } }
    }

    /// The file's path, absolute and without `.` and `..`.
    var path: String? { fileURL?.standardizedFileURL.path }

    /// Identifies this database in the process.
    var identity: String {
      if let inMemoryIdentifier { return "memory \(inMemoryIdentifier)" }
      return "file \(path ?? "")" + (engineOpener.map { " of opener \($0.number)" } ?? "")
    }

    var engineOptions: Database.Options {
      var options = Database.Options()
      options.readOnly = readOnly
      options.createsMissing = !readOnly
      options.encryptionKey = encryptionKey.map { [UInt8]($0) }
      options.maximumNumberOfActiveVersions =
        maximumNumberOfActiveVersions.map { Int(clamping: $0) } ?? .max
      if let shouldCompactOnLaunch {
        options.shouldCompactOnLaunch = { total, used in
          shouldCompactOnLaunch(Int(clamping: total), Int(clamping: used))
        }
      }
      return options
    }

    func check() throws(Realm.Error) {
      guard fileURL != nil || inMemoryIdentifier != nil else {
        throw Realm.Error(.fileAccess, "neither fileURL nor inMemoryIdentifier is set; set one")
      }
      guard fileURL?.isFileURL ?? true else {
        throw Realm.Error(.fileAccess, "\(fileURL?.absoluteString ?? "") is not a file URL")
      }
      guard !(readOnly && deleteRealmIfMigrationNeeded) else {
        throw Realm.Error(
          .readOnly, "readOnly and deleteRealmIfMigrationNeeded are both set; choose one")
      }
      guard !readOnly || inMemoryIdentifier == nil else {
        throw Realm.Error(.readOnly, "a realm in memory cannot be opened for reading only")
      }
    }
  }
}
