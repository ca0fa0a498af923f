// Connection+QueryFunctions.swift: [U] the parts that queries need besides functions: collations,
// which are created when SQLite first uses their names, and `array_agg`. Safety: boxes are retained
// for SQLite, which releases them when the connection closes; an aggregate's memory holds a
// retained object from its first step to its end, which always comes.

import DocumentQuery
import Fleece
import GRDBSQLite

/// A collation of a connection.
private final class CollationBox {
  let collator: UnicodeCollator

  init(_ collator: UnicodeCollator) { self.collator = collator }
}

/// The items of an `array_agg`.
private final class ArrayItems {
  var encoder = FleeceEncoder()
  var error: (any Error)?

  init() throws { try encoder.beginArray() }
}

extension Connection {
  /// Registers functions, collations and aggregates of queries.
  func registerQueryFunctions() throws(DocumentStoreError) {
    try register(N1QLFunctions.all)
    let state = unsafe Unmanaged.passRetained(functionState)
    var code = unsafe sqlite3_create_function_v2(
      handle, "array_agg", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, state.toOpaque(), nil,
      { context, count, arguments in
        unsafe Connection.step(context, arguments, Int(count))
      }, { context in unsafe Connection.finish(context) },
      { data in
        if let data = unsafe data { unsafe Unmanaged<FunctionState>.fromOpaque(data).release() }
      })
    guard code == SQLITE_OK else { throw unsafe SQLFailure.error(handle, code, context) }
    code = unsafe sqlite3_collation_needed(handle, nil) { _, database, _, name in
      guard let database = unsafe database, let name = unsafe name else { return }
      unsafe Connection.makeCollation(String(cString: name), database)
    }
    guard code == SQLITE_OK else { throw unsafe SQLFailure.error(handle, code, context) }
  }

  private static func makeCollation(_ name: String, _ database: OpaquePointer) {
    guard let collation = QueryCollation(sqlName: name),
      let collator = UnicodeCollator(
        isCaseSensitive: collation.isCaseSensitive,
        isDiacriticSensitive: collation.isDiacriticSensitive, locale: collation.locale)
    else { return }
    let box = unsafe Unmanaged.passRetained(CollationBox(collator))
    unsafe sqlite3_create_collation_v2(
      database, name, SQLITE_UTF8, box.toOpaque(),
      { data, firstCount, first, secondCount, second in
        guard let data = unsafe data else { return 0 }
        let box = unsafe Unmanaged<CollationBox>.fromOpaque(data).takeUnretainedValue()
        return unsafe box.collator.order(
          UnsafeRawBufferPointer(start: first, count: Int(firstCount)),
          UnsafeRawBufferPointer(start: second, count: Int(secondCount)))
      },
      { data in
        if let data = unsafe data { unsafe Unmanaged<CollationBox>.fromOpaque(data).release() }
      })
  }

  /// The items of an aggregate, whose pointer is stored in SQLite's aggregate memory.
  private static func items(
    _ context: OpaquePointer?, makes: Bool
  ) -> UnsafeMutablePointer<UnsafeMutableRawPointer?>? {
    let size = Int32(makes ? unsafe MemoryLayout<UnsafeMutableRawPointer?>.size : 0)
    return unsafe sqlite3_aggregate_context(context, size)?
      .assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
  }

  private static func step(
    _ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?, _ count: Int
  ) {
    guard let slot = unsafe items(context, makes: true),
      let data = unsafe sqlite3_user_data(context)
    else { return }
    if unsafe slot.pointee == nil {
      guard let made = try? ArrayItems() else { return }
      unsafe slot.pointee = unsafe Unmanaged.passRetained(made).toOpaque()
    }
    guard let known = unsafe slot.pointee else { return }
    let items = unsafe Unmanaged<ArrayItems>.fromOpaque(known).takeUnretainedValue()
    let state = unsafe Unmanaged<FunctionState>.fromOpaque(data).takeUnretainedValue()
    let call = unsafe FunctionCall(
      context: context, arguments: arguments, count: count, state: state)
    guard items.error == nil else { return }
    do { _ = try call.write(argument: 0, to: &items.encoder) } catch { items.error = error }
  }

  private static func finish(_ context: OpaquePointer?) {
    guard let slot = unsafe items(context, makes: false), let known = unsafe slot.pointee else {
      unsafe sqlite3_result_null(context)
      return
    }
    unsafe slot.pointee = nil
    let items = unsafe Unmanaged<ArrayItems>.fromOpaque(known).takeRetainedValue()
    do {
      if let error = items.error { throw error }
      try items.encoder.endArray()
      let bytes = try items.encoder.finish()
      let copies = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      unsafe bytes.withUnsafeBytes { buffer in
        unsafe sqlite3_result_blob64(
          context, buffer.baseAddress, UInt64(buffer.count), copies)
      }
    } catch {
      unsafe sqlite3_result_error(context, "array_agg: \(error)", -1)
    }
  }
}
