// DocumentStoreError.swift: the errors of the store. Bad files and failing system calls are errors;
// using a handle after its transaction traps.

/// An error of the document store.
public struct DocumentStoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of error; the names are those of the real library where it has one.
  public enum Code: String, Sendable, CaseIterable {
    /// A revision ID that is none.
    case badRevisionID
    /// A body or a tree of revisions that does not decode.
    case corruptRevisionData
    /// The data file was closed.
    case notOpen
    /// No such file, record, revision, collection or blob.
    case notFound
    /// The record was changed by another writer first, or the key is taken.
    case conflict
    /// A name, an ID or an option that the store does not accept.
    case invalidParameter
    /// The system does not let the file be opened or made.
    case cantOpenFile
    /// A write to a file that is open for reading, or that refuses writes after a failed sync.
    case notWriteable
    /// The file's contents contradict each other or do not decode.
    case corruptData
    /// Another process or connection holds the file's lock.
    case busy
    /// A write outside of a write transaction.
    case notInTransaction
    /// The file is not a database.
    case notADatabaseFile
    /// The database lacks a part that every data file has.
    case wrongFormat
    /// The data file is older than any that can be read.
    case databaseTooOld
    /// The data file is newer than any that can be read.
    case databaseTooNew
    /// The file must be upgraded, and the caller does not allow it.
    case cantUpgradeDatabase
    /// A document ID that is none.
    case badDocumentID
    /// The medium is full.
    case noSpace
    /// The system reports an error of reading, writing or syncing.
    case inputOutput
    /// The file needs something that this store does not have.
    case unsupported
    /// A text that is not a query, or parameters that it does not have.
    case invalidQuery
    /// A query needs an index that is not there.
    case missingIndex
    /// A query took longer than it may.
    case timeLimit
    /// Any other error of SQLite.
    case sqlite
  }

  /// The kind of error.
  public let code: Code
  /// The failure, with values, and the remedy.
  public let message: String
  /// SQLite's extended result code, if SQLite reported the error.
  public let sqliteCode: Int32?

  init(_ code: Code, _ message: String, sqliteCode: Int32? = nil) {
    self.code = code
    self.message = message
    self.sqliteCode = sqliteCode
  }

  /// Code and message.
  public var description: String { "\(code.rawValue): \(message)" }
}

/// Texts from files in messages: shortened, and without control characters.
func quoted(_ text: String) -> String {
  let shown = text.unicodeScalars.prefix(1024).map {
    $0.value < 32 || $0.value == 127 ? "\u{fffd}" : String($0)
  }
  return "'" + shown.joined() + (text.unicodeScalars.count > 1024 ? "…'" : "'")
}
