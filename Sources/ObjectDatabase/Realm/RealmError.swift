// RealmError.swift: why a call on a realm failed.

import Engine
import Foundation

extension Realm {
  /// An error of the object database.
  public struct Error: Swift.Error, Sendable, Equatable, CustomStringConvertible, LocalizedError {
    /// The kind of error; `catch Realm.Error.fileAccess` matches by it.
    public enum Code: Sendable, Hashable, CaseIterable {
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
      /// The file may not be opened or made.
      case filePermissionDenied
      /// A file operation failed in a way that no other code names.
      case fileOperationFailed
      /// The file was written by a later version of this library.
      case unsupportedFileFormatVersion
      /// RealmSwift's; never thrown: there is no older format.
      case fileFormatUpgradeRequired
      /// RealmSwift's; never thrown.
      case incompatibleLockFile
      /// RealmSwift's; never thrown: files are not mapped as a whole.
      case addressSpaceExhausted
      /// RealmSwift's; never thrown.
      case incompatibleSession
      /// RealmSwift's; never thrown.
      case incompatibleHistories
      /// RealmSwift's; never thrown.
      case incompatibleSyncedFile
      /// RealmSwift's; never thrown.
      case invalidInput
      /// RealmSwift's; never thrown.
      case multipleSyncAgents
      /// RealmSwift's; never thrown.
      case subscriptionFailed
    }

    /// The kind of error.
    public let code: Code
    /// The problem, and the remedy.
    public let message: String
    /// The underlying error of the engine, if there is one.
    public let engineError: EngineError?
    /// The file, of an error of opening a realm.
    public private(set) var fileURL: URL?

    init(_ code: Code, _ message: String) {
      self.code = code
      self.message = message
      engineError = nil
    }

    /// An error of a kind, for tests of code that handles errors.
    public init(_ code: Code) { self.init(code, "\(code)") }

    /// The same error, of a file.
    func of(_ fileURL: URL?) -> Error {
      var error = self
      if error.fileURL == nil { error.fileURL = fileURL }
      return error
    }

    /// Whether both are of one kind and about one file.
    public static func == (left: Error, right: Error) -> Bool {
      left.code == right.code && left.fileURL == right.fileURL
    }

    /// The message.
    public var errorDescription: String? { message }
    /// The message.
    public var localizedDescription: String { message }

    init(_ error: EngineError) {
      code =
        switch error.code {
        case .noSpace: .outOfDiskSpace
        case .readOnly: .readOnly
        case .fileExists: .fileExists
        case .locked, .incompatible: .alreadyOpen
        case .unsupportedFormat: .unsupportedFileFormatVersion
        case .corrupted, .notADatabase, .truncated, .invalidKey, .wrongKey,
          .keyNeeded, .notEncrypted, .swappedNode, .rolledBackNode, .forgedSlot:
          .invalidDatabase
        case .io:
          switch error.errno {
          case 2: .fileNotFound
          case 1, 13: .filePermissionDenied
          default: .fileAccess
          }
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
    /// See `Code.outOfDiskSpace`.
    public static let outOfDiskSpace = Code.outOfDiskSpace
    /// See `Code.alreadyOpen`.
    public static let alreadyOpen = Code.alreadyOpen
    /// See `Code.filePermissionDenied`.
    public static let filePermissionDenied = Code.filePermissionDenied
    /// See `Code.fileOperationFailed`.
    public static let fileOperationFailed = Code.fileOperationFailed
    /// See `Code.unsupportedFileFormatVersion`.
    public static let unsupportedFileFormatVersion = Code.unsupportedFileFormatVersion
    /// See `Code.fileFormatUpgradeRequired`.
    public static let fileFormatUpgradeRequired = Code.fileFormatUpgradeRequired
    /// See `Code.incompatibleLockFile`.
    public static let incompatibleLockFile = Code.incompatibleLockFile
    /// See `Code.addressSpaceExhausted`.
    public static let addressSpaceExhausted = Code.addressSpaceExhausted
    /// See `Code.incompatibleSession`.
    public static let incompatibleSession = Code.incompatibleSession
    /// See `Code.incompatibleHistories`.
    public static let incompatibleHistories = Code.incompatibleHistories
    /// See `Code.multipleSyncAgents`.
    public static let multipleSyncAgents = Code.multipleSyncAgents
    /// See `Code.subscriptionFailed`.
    public static let subscriptionFailed = Code.subscriptionFailed
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
