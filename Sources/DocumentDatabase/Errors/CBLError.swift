// CBLError.swift: the errors of this module: one type with Couchbase Lite's domain and codes, so
// that a program's checks of `domain` and `code` keep their meaning.

import DocumentQuery
import DocumentStore
import Fleece
import Foundation

/// The domain and the codes of errors, with Couchbase Lite's numbers.
public enum CBLError {
  /// The domain of all errors.
  public static let domain = "CouchbaseLite"

  /// A revision ID that is none.
  public static let badRevisionID = 4
  /// A body or a revision that does not decode.
  public static let corruptRevisionData = 5
  /// The database is closed, or the collection deleted.
  public static let notOpen = 6
  /// No such document, collection or file.
  public static let notFound = 7
  /// The document was changed by another writer first.
  public static let conflict = 8
  /// A name, an ID or an option that is not accepted.
  public static let invalidParameter = 9
  /// An error without a code of its own.
  public static let unexpectedError = 10
  /// The file cannot be opened.
  public static let cantOpenFile = 11
  /// Reading, writing or syncing failed, or the medium is full.
  public static let ioError = 12
  /// The database accepts no changes.
  public static let notWriteable = 14
  /// The file's contents contradict each other or do not decode.
  public static let corruptData = 15
  /// Another process holds the lock.
  public static let busy = 16
  /// A change outside of a transaction.
  public static let notInTransaction = 17
  /// The operation is not possible while a transaction is open.
  public static let transactionNotClosed = 18
  /// The operation is not supported.
  public static let unsupported = 19
  /// The file is not a database.
  public static let notADatabaseFile = 20
  /// The database lacks a part that every database has.
  public static let wrongFormat = 21
  /// The text is not a query.
  public static let invalidQuery = 23
  /// A query needs an index that does not exist.
  public static let missingIndex = 24
  /// The database is too old to be read.
  public static let databaseTooOld = 27
  /// The database is too new to be read.
  public static let databaseTooNew = 28
  /// An invalid document ID.
  public static let badDocID = 29
  /// The database must be upgraded and may not be.
  public static let cantUpgradeDatabase = 30
}

/// An error of a database.
///
/// Cast to `NSError`, it has the domain ``CBLError/domain`` and the code.
public struct DatabaseError: CustomNSError, LocalizedError, CustomStringConvertible, Sendable {
  /// The domain of all errors.
  public static var errorDomain: String { CBLError.domain }
  /// The code: a number of ``CBLError``.
  public let code: Int
  /// The failure, with values, and the remedy.
  public let message: String

  init(_ code: Int, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The code.
  public var errorCode: Int { code }
  /// The message.
  public var errorDescription: String? { message }
  /// The message, for `NSError`.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: message] }
  /// Domain, code and message.
  public var description: String { "\(CBLError.domain) \(code): \(message)" }

  init(_ error: DocumentStoreError) {
    let code =
      switch error.code {
      case .badRevisionID: CBLError.badRevisionID
      case .corruptRevisionData: CBLError.corruptRevisionData
      case .notOpen: CBLError.notOpen
      case .notFound: CBLError.notFound
      case .conflict: CBLError.conflict
      case .invalidParameter: CBLError.invalidParameter
      case .cantOpenFile: CBLError.cantOpenFile
      case .notWriteable: CBLError.notWriteable
      case .corruptData: CBLError.corruptData
      case .busy: CBLError.busy
      case .notInTransaction: CBLError.notInTransaction
      case .notADatabaseFile: CBLError.notADatabaseFile
      case .wrongFormat: CBLError.wrongFormat
      case .databaseTooOld: CBLError.databaseTooOld
      case .databaseTooNew: CBLError.databaseTooNew
      case .cantUpgradeDatabase: CBLError.cantUpgradeDatabase
      case .badDocumentID: CBLError.badDocID
      case .noSpace, .inputOutput: CBLError.ioError
      case .unsupported: CBLError.unsupported
      case .invalidQuery: CBLError.invalidQuery
      case .missingIndex: CBLError.missingIndex
      case .timeLimit, .sqlite: CBLError.unexpectedError
      }
    self.init(code, error.message)
  }

  /// Errors of the layers below as errors of this module; a caller's own errors stay as they are.
  static func from(_ error: any Error) -> any Error {
    switch error {
    case let error as DocumentStoreError: DatabaseError(error)
    case let error as DocumentQueryError:
      DatabaseError(
        error.code == .missingIndex ? CBLError.missingIndex : CBLError.invalidQuery,
        error.description)
    case let error as FleeceError:
      DatabaseError(
        error.code == .json ? CBLError.invalidParameter : CBLError.corruptRevisionData,
        error.description)
    default: error
    }
  }

  static func wrapping<Output>(_ body: () throws -> Output) throws -> Output {
    do { return try body() } catch { throw from(error) }
  }
}
