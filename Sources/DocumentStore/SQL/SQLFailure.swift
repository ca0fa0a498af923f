// SQLFailure.swift [U]: SQLite's errors as errors of the store.
// Safety: SQLite's message is copied before another call on the connection.

import GRDB
import GRDBSQLite

/// From SQLite's result codes to errors.
enum SQLFailure {
  /// The error that a call has just returned.
  static func error(
    _ database: OpaquePointer, _ code: Int32, _ context: String
  ) -> DocumentStoreError {
    let extended = unsafe sqlite3_extended_errcode(database)
    let message = unsafe String(cString: sqlite3_errmsg(database))
    let isSame = extended & 0xff == code & 0xff
    return error(code: isSame ? extended : code, message, context)
  }

  /// The error of a call through GRDB.
  static func error(_ error: any Error, _ context: String) -> DocumentStoreError {
    if let error = error as? DocumentStoreError { return error }
    if let error = error as? DatabaseError {
      let code = error.extendedResultCode.rawValue
      return Self.error(code: code, error.message ?? "", context)
    }
    return DocumentStoreError(.sqlite, "\(quoted(context)): \(error)")
  }

  private static func error(
    code: Int32, _ message: String, _ context: String
  ) -> DocumentStoreError {
    let (kind, remedy) = meaning(code, message)
    return DocumentStoreError(
      kind, "\(quoted(context)): SQLite \(code), \(message)\(remedy)", sqliteCode: code)
  }

  private static func meaning(
    _ code: Int32, _ message: String
  ) -> (DocumentStoreError.Code, String) {
    switch code & 0xff {
    case SQLITE_BUSY, SQLITE_LOCKED:
      (.busy, "; try again once the other writer has ended")
    case SQLITE_NOTADB: (.notADatabaseFile, "; encrypted files cannot be read")
    case SQLITE_CORRUPT: (.corruptData, "; restore a copy")
    case SQLITE_CANTOPEN: (.cantOpenFile, "; check path and permissions")
    case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH:
      (.notWriteable, "; check permissions, or open it for writing")
    case SQLITE_FULL: (.noSpace, "; free some space")
    case SQLITE_IOERR: (.inputOutput, "; check the medium")
    case SQLITE_ERROR where isForeign(message):
      (.unsupported, "; an index needs what this store does not have")
    default: (.sqlite, "")
    }
  }

  /// Whether SQLite lacks a function, a collation or a tokenizer that indexes use.
  private static func isForeign(_ message: String) -> Bool {
    ["no such function", "unknown function", "no such collation sequence", "unknown tokenizer"]
      .contains { message.hasPrefix($0) }
  }
}
