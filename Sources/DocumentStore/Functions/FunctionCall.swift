// FunctionCall.swift [U]: one call of an SQL function: its arguments in SQLite's memory, and its
// result. Functions over it need no pointers. Safety: `context` and `arguments` are SQLite's during
// the call, and a `FunctionCall` is passed to the function for no longer; views of arguments are
// valid until it returns. SQLite copies results at once.

import Fleece
import GRDBSQLite

/// A call of an SQL function.
@safe struct FunctionCall {
  /// Nil where only arguments are read.
  private let context: OpaquePointer?
  private let arguments: UnsafeMutablePointer<OpaquePointer?>?
  /// How many arguments there are.
  let count: Int
  /// The connection's state for its functions.
  let state: FunctionState

  init(
    context: OpaquePointer? = nil, arguments: UnsafeMutablePointer<OpaquePointer?>?, count: Int,
    state: FunctionState
  ) {
    unsafe self.context = unsafe context
    unsafe self.arguments = unsafe arguments
    self.count = count
    self.state = state
  }

  private func argument(_ index: Int) -> OpaquePointer? {
    precondition(index >= 0 && index < count)
    return unsafe arguments?[index]
  }

  func kind(_ index: Int) -> SQLKind {
    switch unsafe sqlite3_value_type(argument(index)) {
    case SQLITE_INTEGER: .integer
    case SQLITE_FLOAT: .real
    case SQLITE_TEXT: .text
    case SQLITE_BLOB: .blob
    default: .null
    }
  }

  func subtype(_ index: Int) -> UInt32 { unsafe sqlite3_value_subtype(argument(index)) }

  func integer(_ index: Int) -> Int64 { unsafe sqlite3_value_int64(argument(index)) }

  func real(_ index: Int) -> Double { unsafe sqlite3_value_double(argument(index)) }

  /// The bytes of a text or a blob; other values become a text.
  func bytes(_ index: Int) -> FleeceBytes {
    let value = unsafe argument(index)
    let isText = kind(index) != .blob
    let start: UnsafeRawPointer? =
      isText
      ? unsafe UnsafeRawPointer(sqlite3_value_text(value)) : unsafe sqlite3_value_blob(value)
    let size = unsafe Int(sqlite3_value_bytes(value))
    return unsafe FleeceBytes(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : size))
  }

  /// An argument as a path.
  ///
  /// It is read once for each place of a statement that calls the function.
  func path(_ index: Int) throws -> PathBox {
    if let known = unsafe sqlite3_get_auxdata(context, Int32(index)) {
      return unsafe Unmanaged<PathBox>.fromOpaque(known).takeUnretainedValue()
    }
    let box = PathBox(try FleecePath(parsing: bytes(index).text))
    unsafe sqlite3_set_auxdata(context, Int32(index), Unmanaged.passRetained(box).toOpaque()) {
      if let known = unsafe $0 { unsafe Unmanaged<PathBox>.fromOpaque(known).release() }
    }
    return box
  }

  func resultMissing() { unsafe sqlite3_result_null(context) }

  func resultNull() {
    unsafe sqlite3_result_zeroblob(context, 0)
    unsafe sqlite3_result_subtype(context, SQLSubtype.null)
  }

  func result(_ value: Bool) {
    unsafe sqlite3_result_int(context, value ? 1 : 0)
    unsafe sqlite3_result_subtype(context, SQLSubtype.boolean)
  }

  func result(_ value: Int64) { unsafe sqlite3_result_int64(context, value) }

  func result(unsigned value: UInt64) {
    unsafe sqlite3_result_int64(context, Int64(bitPattern: value))
    unsafe sqlite3_result_subtype(context, SQLSubtype.unsigned)
  }

  func result(_ value: Double) { unsafe sqlite3_result_double(context, value) }

  func result(text: FleeceBytes) {
    unsafe text.withUnsafeBytes { buffer in
      unsafe sqlite3_result_text64(
        context, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), UInt64(buffer.count),
        Self.copies, UInt8(SQLITE_UTF8))
    }
  }

  func result(blob: FleeceBytes, subtype: UInt32 = 0) {
    unsafe blob.withUnsafeBytes { buffer in
      unsafe sqlite3_result_blob64(
        context, buffer.baseAddress, UInt64(buffer.count), Self.copies)
    }
    if subtype != 0 { unsafe sqlite3_result_subtype(context, subtype) }
  }

  /// Returns an argument unchanged.
  func result(argument index: Int) { unsafe sqlite3_result_value(context, argument(index)) }

  func result(error message: String) {
    unsafe sqlite3_result_error(context, message, -1)
  }

  /// Makes SQLite copy a result at once.
  private static var copies: sqlite3_destructor_type {
    unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
  }
}

/// A path of a statement, and the numbers that its keys have.
final class PathBox {
  private var path: FleecePath

  init(_ path: FleecePath) { self.path = path }

  /// The value that the path leads to; nil when there is none.
  func value(
    in root: FleeceValue, keys: FleeceSharedKeys
  ) throws -> FleeceValue? {
    path.resolve(in: keys)
    return try path.value(in: root)
  }
}
