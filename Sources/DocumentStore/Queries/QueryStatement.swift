// QueryStatement.swift: [U] a query's statement: parameters by name, rows with the kinds of their
// values, and a time limit, checked every thousand steps of SQLite. Safety: the statement is
// finalized before its connection closes, and used on its queue only; the clock outlives the
// handler that points to it; views of columns are valid until the next step.

import Fleece
import GRDBSQLite

/// A prepared query.
@safe final class QueryStatement {
  private let handle: OpaquePointer
  private let database: OpaquePointer
  /// It owns this statement, if it is kept for later runs.
  private unowned let connection: Connection
  /// Whether values are bound, or it is on a row.
  private(set) var isInUse = false
  private var context: String { connection.context }

  init(_ sql: String, on connection: Connection) throws(DocumentStoreError) {
    unsafe database = unsafe connection.handle
    self.connection = connection
    var prepared: OpaquePointer?
    let code = unsafe sqlite3_prepare_v3(
      database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK, let prepared = unsafe prepared else {
      throw Self.refusal(unsafe SQLFailure.error(database, code, connection.context))
    }
    unsafe handle = unsafe prepared
  }

  deinit { unsafe sqlite3_finalize(handle) }

  /// SQLite's own limits, mainly that of nested parentheses, apply to queries.
  private static func refusal(_ error: DocumentStoreError) -> DocumentStoreError {
    guard error.code == .sqlite else { return error }
    return DocumentStoreError(.invalidQuery, error.message, sqliteCode: error.sqliteCode)
  }

  var columnCount: Int { unsafe Int(sqlite3_column_count(handle)) }

  /// Binds values to parameters; a parameter without a value is missing.
  ///
  /// The statement is in use from then on, until `reset`.
  func bind(_ parameters: [String: QueryValue], of names: [String]) throws(DocumentStoreError) {
    isInUse = true
    for name in names {
      let index = unsafe sqlite3_bind_parameter_index(handle, "$_\(name)")
      guard index > 0, let value = parameters[name] else { continue }
      try bind(value, at: index)
    }
  }

  private func bind(_ value: QueryValue, at index: Int32) throws(DocumentStoreError) {
    let copies = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    let code: Int32
    switch value {
    case .missing: code = unsafe sqlite3_bind_null(handle, index)
    case .null: code = unsafe sqlite3_bind_zeroblob(handle, index, 0)
    case .boolean(let value): code = unsafe sqlite3_bind_int64(handle, index, value ? 1 : 0)
    case .integer(let value): code = unsafe sqlite3_bind_int64(handle, index, value)
    case .unsigned(let value):
      code = unsafe sqlite3_bind_int64(handle, index, Int64(bitPattern: value))
    case .real(let value): code = unsafe sqlite3_bind_double(handle, index, value)
    case .text(var text):
      code = text.withUTF8 { buffer in
        unsafe sqlite3_bind_text64(
          handle, index,
          UnsafeRawPointer(buffer.baseAddress)?.assumingMemoryBound(to: CChar.self),
          UInt64(buffer.count), copies, UInt8(SQLITE_UTF8))
      }
    case .data(let bytes):
      // Data is Fleece too: bare bytes would be taken for a collection.
      var encoder = FleeceEncoder()
      do {
        try encoder.data(bytes)
        code = unsafe Self.bind(try encoder.finish(), handle, index, copies)
      } catch {
        throw DocumentStoreError(.invalidParameter, "a parameter does not encode: \(error)")
      }
    case .collection(let bytes):
      do { _ = try FleeceDocument(validating: bytes) } catch {
        throw DocumentStoreError(.invalidParameter, "a parameter does not decode: \(error)")
      }
      code = unsafe Self.bind(bytes, handle, index, copies)
    }
    guard code == SQLITE_OK else { throw unsafe SQLFailure.error(database, code, context) }
  }

  private static func bind(
    _ bytes: [UInt8], _ handle: OpaquePointer, _ index: Int32, _ copies: sqlite3_destructor_type
  ) -> Int32 {
    unsafe bytes.withUnsafeBytes { buffer in
      unsafe sqlite3_bind_blob64(
        handle, index, buffer.baseAddress, UInt64(buffer.count), copies)
    }
  }

  /// Ends a run, and clears bound values.
  func reset() {
    unsafe sqlite3_reset(handle)
    unsafe sqlite3_clear_bindings(handle)
    isInUse = false
  }

  /// Steps through all rows; `reset` ends the run.
  /// - Parameters:
  ///   - limit: Milliseconds that it may take.
  ///   - row: Called with each row; returns false to stop.
  /// - Throws: What `row` throws, and `DocumentStoreError`.
  func run(
    limit: Int?, _ row: () throws -> Bool
  ) throws {
    let clock = limit.map { QueryClock(milliseconds: $0) }
    if let clock {
      unsafe sqlite3_progress_handler(
        database, 1000,
        { data in
          guard let data = unsafe data else { return 0 }
          return unsafe Unmanaged<QueryClock>.fromOpaque(data).takeUnretainedValue().isOver ? 1 : 0
        }, Unmanaged.passUnretained(clock).toOpaque())
    }
    defer { if clock != nil { unsafe sqlite3_progress_handler(database, 0, nil, nil) } }
    try withExtendedLifetime(clock) {
      while true {
        let code = unsafe sqlite3_step(handle)
        if code == SQLITE_DONE { return }
        guard code == SQLITE_ROW else {
          if code == SQLITE_INTERRUPT, let limit {
            throw DocumentStoreError(
              .timeLimit, "the query ran longer than \(limit) ms; give it more, or an index")
          }
          throw unsafe SQLFailure.error(database, code, context)
        }
        if try !row() { return }
      }
    }
  }

  /// A column's value.
  func value(_ column: Int) throws(DocumentStoreError) -> QueryValue {
    let column = Int32(truncatingIfNeeded: column)
    switch unsafe sqlite3_column_type(handle, column) {
    case SQLITE_NULL: return .missing
    case SQLITE_INTEGER: return .integer(unsafe sqlite3_column_int64(handle, column))
    case SQLITE_FLOAT: return .real(unsafe sqlite3_column_double(handle, column))
    case SQLITE_TEXT: return .text(bytes(column).text)
    default:
      let view = bytes(column)
      guard view.count > 0 else { return .null }
      do throws(FleeceError) {
        let root = try FleeceValue.root(of: view)
        guard root.kind == .array || root.kind == .dict else { return QueryValue(root) }
        // A whole document has numbers for keys.
        var encoder = FleeceEncoder()
        try encoder.copy(root, keys: connection.keys)
        return .collection(try encoder.finish())
      } catch {
        throw DocumentStoreError(.corruptData, "a column of the result does not decode: \(error)")
      }
    }
  }

  /// A column's text.
  func text(_ column: Int32) -> String { bytes(column).text }

  /// A column's integer.
  func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

  private func bytes(_ column: Int32) -> FleeceBytes {
    let start = unsafe sqlite3_column_blob(handle, column)
    let count = unsafe Int(sqlite3_column_bytes(handle, column))
    return unsafe FleeceBytes(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
  }
}

/// When a query must end.
private final class QueryClock {
  private let end: ContinuousClock.Instant

  init(milliseconds: Int) {
    end = ContinuousClock.now + .milliseconds(max(0, min(milliseconds, Int(Int32.max))))
  }

  var isOver: Bool { ContinuousClock.now >= end }
}
