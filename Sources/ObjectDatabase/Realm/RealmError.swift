// RealmError.swift: why a call on a realm failed.

import Engine

extension Realm {
  /// An error of the object database.
  public struct Error: Swift.Error, Sendable, CustomStringConvertible {
    /// The kind of error; `catch Realm.Error.fileAccess` matches by it.
    public enum Code: Sendable, Hashable {
      /// Anything that no other code names.
      case fail
      /// The file could not be opened, read or written.
      case fileAccess
      /// The file is not there.
      case fileNotFound
      /// The destination of a copy exists already.
      case fileExists
      /// The file was opened for reading only.
      case readOnly
      /// The file is not a database, is damaged, or the key does not open it.
      case invalidDatabase
      /// The medium is full.
      case outOfDiskSpace
      /// The file is open elsewhere and not shared.
      case alreadyOpen
      /// The file's schema is not the program's, and may not be changed to it.
      case schemaMismatch
      /// The file was written with a later schema version.
      case schemaVersion
      /// A class cannot be stored in a database.
      case unsupportedClass
      /// A value breaks a rule of the schema, such as a primary key that another object has.
      case invalidValue
      /// The call came from a thread or queue that the realm does not belong to.
      case wrongThread
      /// The realm or object is frozen.
      case frozen
      /// A write transaction is needed, or one is open already.
      case transaction
      /// Too many versions are alive.
      case tooManyVersions
    }

    /// The kind of error.
    public let code: Code
    /// The problem, and the remedy.
    public let message: String
    /// The underlying error of the engine, if there is one.
    public let engineError: EngineError?

    init(_ code: Code, _ message: String) {
      self.code = code
      self.message = message
      engineError = nil
    }

    init(_ error: EngineError) {
      code =
        switch error.code {
        case .noSpace: .outOfDiskSpace
        case .readOnly: .readOnly
        case .fileExists: .fileExists
        case .locked, .incompatible: .alreadyOpen
        case .corrupted, .notADatabase, .unsupportedFormat, .truncated, .invalidKey, .wrongKey,
          .keyNeeded, .notEncrypted, .swappedNode, .rolledBackNode, .forgedSlot:
          .invalidDatabase
        case .io: error.errno == 2 ? .fileNotFound : .fileAccess
        case .duplicateValue, .valueTooLarge: .invalidValue
        case .schemaMismatch: .schemaMismatch
        case .tooManyVersions: .tooManyVersions
        default: .fail
        }
      message = "\(error)"
      engineError = error
    }

    /// Code and message.
    public var description: String { "Realm.Error.\(code): \(message)" }

    /// See `Code.fail`.
    public static let fail = Code.fail
    /// See `Code.fileAccess`.
    public static let fileAccess = Code.fileAccess
    /// See `Code.fileNotFound`.
    public static let fileNotFound = Code.fileNotFound
    /// See `Code.fileExists`.
    public static let fileExists = Code.fileExists
    /// See `Code.readOnly`.
    public static let readOnly = Code.readOnly
    /// See `Code.invalidDatabase`.
    public static let invalidDatabase = Code.invalidDatabase
    /// See `Code.schemaMismatch`.
    public static let schemaMismatch = Code.schemaMismatch
  }
}

extension Realm.Error.Code {
  /// Whether an error has a code, for `catch`.
  public static func ~= (code: Self, error: any Error) -> Bool {
    (error as? Realm.Error)?.code == code
  }
}

/// Runs calls of the engine; their errors become those of the object database.
@discardableResult
func translating<Result>(
  _ body: () throws(EngineError) -> Result
) throws(Realm.Error) -> Result {
  do throws(EngineError) { return try body() } catch { throw Realm.Error(error) }
}
