// EachTable.swift [U]: the callbacks of the table `fl_each` (EachRows.swift). Hidden columns are
// the arguments, as usual for SQLite's table-valued functions. Safety: the first field of both
// structs is SQLite's, and SQLite passes their addresses back until `disconnect` and `close` free
// them. A cursor's rows keep a copy of their bytes.

import Fleece
import GRDBSQLite

@unsafe private struct EachTable {
  var base = unsafe sqlite3_vtab()
  var state: Unmanaged<FunctionState>
}

@unsafe private struct EachCursor {
  var base = unsafe sqlite3_vtab_cursor()
  var rows: Unmanaged<EachRows>
}

extension Connection {
  /// Registers the table.
  func registerEach() throws(DocumentStoreError) {
    let code = unsafe sqlite3_create_module_v2(
      handle, "fl_each", EachModule.module, Unmanaged.passRetained(functionState).toOpaque(),
      { data in
        if let data = unsafe data { unsafe Unmanaged<FunctionState>.fromOpaque(data).release() }
      })
    guard code == SQLITE_OK else { throw unsafe SQLFailure.error(handle, code, context) }
  }
}

/// The callbacks of the table.
private enum EachModule {
  /// One for all connections, never freed.
  nonisolated(unsafe) static let module: UnsafePointer<sqlite3_module> = {
    var module = sqlite3_module()
    unsafe module.xConnect = connect
    unsafe module.xBestIndex = bestIndex
    unsafe module.xDisconnect = disconnect
    unsafe module.xOpen = open
    unsafe module.xClose = close
    unsafe module.xFilter = filter
    unsafe module.xNext = { cursor in unsafe rows(cursor) { $0.row += 1 } }
    unsafe module.xEof = { cursor in
      var isAtEnd = true
      _ = unsafe rows(cursor) { isAtEnd = $0.row >= $0.count }
      return isAtEnd ? 1 : 0
    }
    unsafe module.xColumn = column
    unsafe module.xRowid = { cursor, row in
      unsafe rows(cursor) { unsafe row?.pointee = Int64($0.row) }
    }
    let memory = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
    unsafe memory.initialize(to: module)
    return unsafe UnsafePointer(memory)
  }()

  private static let connect:
    @convention(c) (
      OpaquePointer?, UnsafeMutableRawPointer?, Int32,
      UnsafePointer<UnsafePointer<CChar>?>?,
      UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?,
      UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    ) -> Int32 = { database, data, _, _, table, _ in
      let code = unsafe sqlite3_declare_vtab(
        database,
        "CREATE TABLE x(key, value, type, data, body, root_data HIDDEN, root_path HIDDEN)")
      guard code == SQLITE_OK, let data = unsafe data else { return code }
      let memory = UnsafeMutablePointer<EachTable>.allocate(capacity: 1)
      unsafe memory.initialize(to: EachTable(state: .fromOpaque(data)))
      unsafe table?.pointee = UnsafeMutableRawPointer(memory).assumingMemoryBound(
        to: sqlite3_vtab.self)
      return SQLITE_OK
    }

  private static let disconnect: @convention(c) (UnsafeMutablePointer<sqlite3_vtab>?) -> Int32 = {
    table in
    unsafe UnsafeMutableRawPointer(table)?.assumingMemoryBound(to: EachTable.self).deallocate()
    return SQLITE_OK
  }

  /// Arguments are equalities of the hidden columns; without the first there are no rows.
  private static let bestIndex:
    @convention(c) (
      UnsafeMutablePointer<sqlite3_vtab>?, UnsafeMutablePointer<sqlite3_index_info>?
    ) -> Int32 = { _, info in
      guard let info = unsafe info else { return SQLITE_ERROR }
      var places: [EachColumn: Int] = [:]
      for index in 0..<(unsafe Int(info.pointee.nConstraint)) {
        guard let constraint = unsafe info.pointee.aConstraint?[index],
          constraint.op == UInt8(SQLITE_INDEX_CONSTRAINT_EQ),
          let column = EachColumn(rawValue: constraint.iColumn),
          column == .rootData || column == .rootPath
        else { continue }
        // An argument that is not known yet: SQLite has to choose another order of the tables.
        guard constraint.usable != 0 else { return SQLITE_CONSTRAINT }
        places[column] = index
      }
      guard let data = places[.rootData] else {
        unsafe info.pointee.estimatedCost = 1e99
        return SQLITE_OK
      }
      unsafe info.pointee.estimatedCost = 1
      unsafe info.pointee.estimatedRows = 10
      unsafe use(data, as: 1, info)
      unsafe info.pointee.idxNum = 1
      if let path = places[.rootPath] {
        unsafe use(path, as: 2, info)
        unsafe info.pointee.idxNum = 2
      }
      return SQLITE_OK
    }

  private static func use(
    _ constraint: Int, as argument: Int32, _ info: UnsafeMutablePointer<sqlite3_index_info>
  ) {
    unsafe info.pointee.aConstraintUsage?[constraint].argvIndex = argument
    unsafe info.pointee.aConstraintUsage?[constraint].omit = 1
  }

  private static let open:
    @convention(c) (
      UnsafeMutablePointer<sqlite3_vtab>?,
      UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab_cursor>?>?
    ) -> Int32 = { table, cursor in
      guard let table = UnsafeMutableRawPointer(table) else { return SQLITE_ERROR }
      let state = unsafe table.assumingMemoryBound(to: EachTable.self).pointee.state
      let rows = unsafe EachRows(state.takeUnretainedValue())
      let memory = UnsafeMutablePointer<EachCursor>.allocate(capacity: 1)
      unsafe memory.initialize(to: EachCursor(rows: .passRetained(rows)))
      unsafe cursor?.pointee = UnsafeMutableRawPointer(memory).assumingMemoryBound(
        to: sqlite3_vtab_cursor.self)
      return SQLITE_OK
    }

  private static let close: @convention(c) (UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> Int32 = {
    cursor in
    guard let cursor = UnsafeMutableRawPointer(cursor) else { return SQLITE_ERROR }
    let memory = unsafe cursor.assumingMemoryBound(to: EachCursor.self)
    unsafe memory.pointee.rows.release()
    unsafe memory.deallocate()
    return SQLITE_OK
  }

  private static let filter:
    @convention(c) (
      UnsafeMutablePointer<sqlite3_vtab_cursor>?, Int32, UnsafePointer<CChar>?, Int32,
      UnsafeMutablePointer<OpaquePointer?>?
    ) -> Int32 = { cursor, number, _, count, arguments in
      unsafe rows(cursor) { rows in
        guard number > 0 else { return rows.reset() }
        // Only arguments are read here: a call without a context for results.
        let call = unsafe FunctionCall(arguments: arguments, count: Int(count), state: rows.state)
        try rows.begin(call)
      }
    }

  private static let column:
    @convention(c) (
      UnsafeMutablePointer<sqlite3_vtab_cursor>?, OpaquePointer?, Int32
    ) -> Int32 = { cursor, context, column in
      guard let context = unsafe context, let column = EachColumn(rawValue: column) else {
        return SQLITE_ERROR
      }
      return unsafe rows(cursor) { rows in
        let call = unsafe FunctionCall(
          context: context, arguments: nil, count: 0, state: rows.state)
        try rows.result(column, call)
      }
    }

  /// Does something with a cursor's rows.
  private static func rows(
    _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, _ body: (EachRows) throws -> Void
  ) -> Int32 {
    guard let cursor = UnsafeMutableRawPointer(cursor) else { return SQLITE_ERROR }
    let rows = unsafe cursor.assumingMemoryBound(to: EachCursor.self).pointee.rows
      .takeUnretainedValue()
    do { try body(rows) } catch { return SQLITE_MISMATCH }
    return SQLITE_OK
  }
}
