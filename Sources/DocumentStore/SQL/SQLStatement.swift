// SQLStatement.swift [U]: a prepared statement: values are bound, rows are read in SQLite's memory.
// Safety: views of columns are valid until the next step or reset; `withBytes` does not let them
// escape. A statement is used on its connection's queue only, and finalized before the connection
// closes.

import Fleece
import GRDBSQLite

/// A prepared statement of one connection.
@safe final class SQLStatement {
  private let handle: OpaquePointer
  private let database: OpaquePointer
  private let context: String
  /// Whether it is on a row, or was stepped and not reset.
  private(set) var isInUse = false

  // `context` is the data file's path, for messages.
  init(_ sql: String, on database: OpaquePointer, context: String) throws(DocumentStoreError) {
    var prepared: OpaquePointer?
    let code = unsafe sqlite3_prepare_v3(
      database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK, let prepared = unsafe prepared else {
      throw unsafe SQLFailure.error(database, code, context)
    }
    unsafe handle = unsafe prepared
    unsafe self.database = unsafe database
    self.context = context
  }

  deinit { unsafe sqlite3_finalize(handle) }

  func bind(_ value: Int64?, at index: Int32) {
    if let value {
      unsafe sqlite3_bind_int64(handle, index, value)
    } else {
      unsafe sqlite3_bind_null(handle, index)
    }
  }

  func bind(_ value: String, at index: Int32) throws(DocumentStoreError) {
    var value = value
    let code = value.withUTF8 { buffer in
      unsafe sqlite3_bind_text64(
        handle, index, UnsafeRawPointer(buffer.baseAddress)?.assumingMemoryBound(to: CChar.self),
        UInt64(buffer.count), Self.copies, UInt8(SQLITE_UTF8))
    }
    try check(code)
  }

  func bind(_ value: [UInt8]?, at index: Int32) throws(DocumentStoreError) {
    guard let value else {
      unsafe sqlite3_bind_null(handle, index)
      return
    }
    let code = unsafe value.withUnsafeBytes { buffer in
      buffer.count == 0
        ? unsafe sqlite3_bind_zeroblob(handle, index, 0)
        : unsafe sqlite3_bind_blob64(
          handle, index, buffer.baseAddress, UInt64(buffer.count), Self.copies)
    }
    try check(code)
  }

  /// Advances to the next row.
  /// - Returns: Whether there is one.
  func step() throws(DocumentStoreError) -> Bool {
    isInUse = true
    let code = unsafe sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    guard code == SQLITE_DONE else {
      let error = unsafe SQLFailure.error(database, code, context)
      reset()
      throw error
    }
    return false
  }

  /// Runs to the end; rows are passed over.
  func run() throws(DocumentStoreError) {
    while try step() {}
    reset()
  }

  /// Ends a run and clears bound values.
  func reset() {
    unsafe sqlite3_reset(handle)
    unsafe sqlite3_clear_bindings(handle)
    isInUse = false
  }

  var columnCount: Int32 { unsafe sqlite3_column_count(handle) }

  func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }

  func int64(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

  func text(_ column: Int32) -> String { withBytes(column) { $0?.text ?? "" } }

  /// A copy of a column's bytes; nil for NULL.
  func bytes(_ column: Int32) -> [UInt8]? { withBytes(column) { $0?.array } }

  /// Runs a closure with a column's bytes; nil for NULL.
  @inline(__always)
  func withBytes<Result, Failure: Error>(
    _ column: Int32, _ body: (FleeceBytes?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard !isNull(column) else { return try body(nil) }
    let start = unsafe sqlite3_column_blob(handle, column)
    let count = unsafe Int(sqlite3_column_bytes(handle, column))
    return try body(unsafe FleeceBytes(UnsafeRawBufferPointer(start: start, count: count)))
  }

  /// Makes SQLite copy bound bytes at once.
  private static var copies: sqlite3_destructor_type {
    unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
  }

  private func check(_ code: Int32) throws(DocumentStoreError) {
    guard code == SQLITE_OK else { throw unsafe SQLFailure.error(database, code, context) }
  }
}
