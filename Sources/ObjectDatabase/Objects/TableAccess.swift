// TableAccess.swift [U]: a realm's access to the rows of one class. Objects hold only it and a key.
// Invariants: reads go to the open write transaction, through the writer that the realm keeps for
// the class, else to the realm's snapshot, through its cursor (TableCursor.swift). `columns` and
// `cursor` are those of the version that the realm reads, and are updated when that changes. There
// are no weak references to an access: they would make its reference counting three times as slow.

import Engine

/// The rows of a class in a realm.
@safe public final class _TableAccess: @unchecked Sendable {
  // Safety: the realm's owner is checked at each use; a frozen realm does not change after init.
  let core: _RealmCore
  let info: ClassInfo
  let table: TableCursor
  // Safety: used while `cursorStamp` is the realm's, and during that time `table` retains it.
  @safe @exclusivity(unchecked) private var cursor: Unmanaged<RowCursor>?
  @safe @exclusivity(unchecked) private var cursorStamp: UInt64?
  /// The column of each property in the cursor's table; -1 for properties without one.
  @safe @exclusivity(unchecked) private var columns: [Int] = []

  init(_ core: _RealmCore, _ table: TableCursor) {
    self.core = core
    self.table = table
    info = table.info
    prototype = info.prototype
    // A frozen realm's accesses are shared by threads, so the cursor is made now; an error recurs
    // at each read.
    if core.isFrozen { _ = try? makeCursor() }
  }

  var name: String { info.name }
  var isInvalidated: Bool { table.isCutOff }
  /// The prototype of `info`.
  @usableFromInline let prototype: ObjectBase

  /// The object of a row, which need not exist.
  func makeObject(_ key: Int64) -> ObjectBase {
    let object = info.type.init()
    object.tableAccess = self
    object.rowKey = key
    if info.isEncodable { info.markManaged(object) }
    return object
  }

  // MARK: reading

  @inline(__always)
  func currentCursor() throws(EngineError) -> RowCursor? {
    if cursorStamp == core.snapshotStamp {
      return unsafe cursor.map { unsafe $0.takeUnretainedValue() }
    }
    return try makeCursor()
  }

  /// The cursor without a count, for one read; nil in a write transaction, and without a table.
  @inline(__always)
  private func borrowedCursor() -> Unmanaged<RowCursor>? {
    guard core.openWrite == nil else { return nil }
    if cursorStamp != core.snapshotStamp {
      _ = Misuse.unthrowing { () throws(EngineError) in try makeCursor() }
    }
    return cursor
  }

  private func makeCursor() throws(EngineError) -> RowCursor? {
    guard !isInvalidated else { return nil }
    let made = try table.current(core)
    columns = table.columns
    unsafe cursor = made.map { unsafe Unmanaged.passUnretained($0) }
    cursorStamp = core.snapshotStamp
    return made
  }

  /// The property of each column; -1 for columns without one.
  func propertyOrder(_ schema: TableSchema) -> [Int] { table.propertyOrder(schema) }

  /// A value of a row; a missing row stops the process.
  func value(_ key: Int64, _ property: Int) -> Value {
    Misuse.unthrowing { () throws(EngineError) in try readValue(key, property) }
  }

  /// A value of a row; a missing row stops the process.
  func readValue(_ key: Int64, _ property: Int) throws(EngineError) -> Value {
    let found = try reading(property) { rows, column throws(EngineError) in
      try rows.value(key, column)
    }
    guard let found else { gone(key) }
    return found
  }

  /// Calls `body` with the rows to read, and a property's column: those of the open transaction,
  /// including pending ones, else those of the version; nil without a table.
  @inline(__always)
  private func reading<Answer>(
    _ property: Int? = nil, _ body: (any RowReading, Int) throws(EngineError) -> Answer?
  ) throws(EngineError) -> Answer? {
    core.checkThread()
    if let write = core.write {
      guard let writer = try table.writer(write, core) else { return nil }
      return try body(writer, property.map { known(table.columns[$0], $0) } ?? -1)
    }
    guard let cursor = try currentCursor() else { return nil }
    return try body(cursor, property.map { column($0) } ?? -1)
  }

  @inline(__always)
  func column(_ property: Int) -> Int { known(columns[property], property) }

  @inline(__always)
  private func known(_ column: Int, _ property: Int) -> Int {
    guard column >= 0 else {
      Misuse.stop(
        "\(info.properties[property].words) of \(name) has no column in the version that is read; "
          + "another program migrated the file: open it again")
    }
    return column
  }

  @usableFromInline
  func int(_ key: Int64, _ property: Int) -> Int64 {
    core.checkThread()
    if let cursor = unsafe borrowedCursor() {
      // Safety: the called code does not change the access, which retains its cursor.
      let found = unsafe cursor._withUnsafeGuaranteedRef { cursor in
        Misuse.unthrowing { () throws(EngineError) -> Int64? in
          try cursor.int(key, column(property))
        }
      }
      if let found { return found }
    }
    guard case .int(let number) = value(key, property) else { misfit(property) }
    return number
  }

  @usableFromInline
  func double(_ key: Int64, _ property: Int) -> Double {
    core.checkThread()
    if let cursor = unsafe borrowedCursor() {
      // Safety: the called code does not change the access, which retains its cursor.
      let found = unsafe cursor._withUnsafeGuaranteedRef { cursor in
        Misuse.unthrowing { () throws(EngineError) -> Double? in
          try cursor.double(key, column(property))
        }
      }
      if let found { return found }
    }
    guard case .double(let number) = value(key, property) else { misfit(property) }
    return number
  }

  @usableFromInline
  func bool(_ key: Int64, _ property: Int) -> Bool {
    core.checkThread()
    if let cursor = unsafe borrowedCursor() {
      // Safety: the called code does not change the access, which retains its cursor.
      let found = unsafe cursor._withUnsafeGuaranteedRef { cursor in
        Misuse.unthrowing { () throws(EngineError) -> Bool? in
          try cursor.bool(key, column(property))
        }
      }
      if let found { return found }
    }
    guard case .bool(let isTrue) = value(key, property) else { misfit(property) }
    return isTrue
  }

  /// A text; nil when it has to be read as any value.
  func text(_ key: Int64, _ property: Int) -> String? {
    core.checkThread()
    guard let cursor = unsafe borrowedCursor() else { return nil }
    // Safety: the called code does not change the access, which retains its cursor.
    return unsafe cursor._withUnsafeGuaranteedRef { cursor in
      Misuse.unthrowing { () throws(EngineError) -> String? in
        try cursor.text(key, column(property))
      }
    }
  }

  private func misfit(_ property: Int) -> Never {
    Misuse.stop("\(name).\(info.properties[property].words) holds another type in the file")
  }

  func gone(_ key: Int64) -> Never {
    Misuse.stop(
      "\(name) (key \(key)) was deleted, or its realm was invalidated; check isInvalidated before "
        + "you use it")
  }

  /// Whether there is a row.
  func contains(_ key: Int64) -> Bool {
    Misuse.unthrowing { () throws(EngineError) in
      try reading { rows, _ throws(EngineError) in try rows.contains(key) } ?? false
    }
  }

  /// The number of rows.
  var count: Int {
    Misuse.unthrowing { () throws(EngineError) in try reading { rows, _ in rows.rowCount } ?? 0 }
  }

  /// The keys of all rows, ascending.
  var keys: [Int64] {
    Misuse.unthrowing { () throws(EngineError) in try readKeys() }
  }

  /// The keys of all rows, ascending.
  func readKeys() throws(EngineError) -> [Int64] {
    try reading { rows, _ throws(EngineError) in try rows.keys() } ?? []
  }

  /// The smallest key, or nil.
  var firstKey: Int64? {
    Misuse.unthrowing { () throws(EngineError) in
      try reading { rows, _ throws(EngineError) in try rows.smallestKey() }
    }
  }

  /// The row with a value of the primary key, or nil.
  func firstKey(_ property: Int, equalTo value: Value) -> Int64? {
    // A frozen realm's table is shared by threads, and learns nothing.
    guard case .int(let number) = value, !core.isFrozen, !info.properties[property].isOptional
    else { return indexedKey(property, value) }
    core.checkThread()
    if let cursor = unsafe borrowedCursor() {
      // Safety: the called code does not change the access, which retains its cursor.
      let found = unsafe cursor._withUnsafeGuaranteedRef { cursor in
        Misuse.unthrowing { () throws(EngineError) -> Int64? in
          try table.guess(number, column(property), cursor)
        }
      }
      if let found {
        table.learn(number, found)
        return found
      }
    }
    let found = indexedKey(property, value)
    if let found { table.learn(number, found) }
    return found
  }

  private func indexedKey(_ property: Int, _ value: Value) -> Int64? {
    Misuse.unthrowing { () throws(EngineError) in
      try reading(property) { rows, column throws(EngineError) in
        try rows.firstKey(column, equalTo: value)
      }
    }
  }

  /// The keys of the rows of another class that link to a row, as often as they do.
  func backlinks(
    to key: Int64, from origin: ClassInfo, _ property: Int
  ) throws(EngineError) -> [Int64] {
    core.checkThread()
    let column = origin.properties[property].columnName
    let version = try core.currentVersion()
    guard version.hasTable(name), version.hasTable(origin.name) else { return [] }
    let links = try version.backlinks(to: key, in: name, from: origin.name, column: column)
    return links.flatMap { Array(repeating: $0.key, count: Int(clamping: $0.count)) }
  }

  // MARK: writing

  /// Stops a caller without a write transaction.
  func checkWritable() { core.checkWritable() }

  /// Changes a property.
  ///
  /// Not in the caller's module: it costs far more than the call.
  @usableFromInline
  func assign<Value: _Persistable>(_ value: Value, _ key: Int64, _ property: Int) {
    checkAssignable(property)
    Value._write(value, to: _Row(access: self, key: key, property: property))
  }

  /// Stops a caller without a write transaction, and one that changes a primary key.
  func checkAssignable(_ property: Int) {
    checkWritable()
    guard !info.properties[property].isPrimaryKey || core.isMigrating else {
      Misuse.stop(
        "\(name).\(info.properties[property].name) is the primary key of a managed object and "
          + "cannot change; make a new object")
    }
    guard info.properties[property].type != .linkingObjects else {
      Misuse.stop(
        "\(name).\(info.properties[property].name) is what links here, and cannot be set")
    }
  }

  /// Changes a value; an embedded object, or a collection of a mixed value, that it replaces is
  /// deleted.
  func set(_ value: Value, _ key: Int64, _ property: Int) {
    core.change { write throws(EngineError) in
      guard let writer = try table.writer(write, core) else { return missing(key) }
      let column = table.columns[property]
      guard column >= 0 else {
        throw EngineError(
          code: .noSuchColumn,
          message: "table \(name) has no column \"\(info.properties[property].columnName)\"")
      }
      guard core.recorder == nil else {
        return try setRecorded(value, key, property, writer)
      }
      try set(value, key, column, of: property, writer)
    }
  }

  @inline(__always)
  private func set(
    _ value: Value, _ key: Int64, _ column: Int, of property: Int, _ writer: RowWriter
  ) throws(EngineError) {
    if let embedded = core.embeddedTarget(info, property) {
      try set(value, key, column, replacing: embedded, writer)
    } else if info.properties[property].type == .any, MixedCollections.are(in: writer.transaction) {
      let old = try writer.value(key, column) ?? .null
      try set(value, key, column, writer)
      try MixedCollections.release([old], writer.transaction)
    } else {
      try set(value, key, column, writer)
    }
  }

  /// Changes a value, and notifies the recorder.
  @inline(never)
  private func setRecorded(
    _ value: Value, _ key: Int64, _ property: Int, _ writer: RowWriter
  ) throws(EngineError) {
    guard let recorder = core.recorder else { return }
    let (row, column) = (_Row(access: self, key: key, property: property), table.columns[property])
    guard !info.properties[property].isCollection else {
      try recorder.willAssign(row.place)
      try set(value, key, column, of: property, writer)
      return try recorder.didAssign(row.place)
    }
    try set(value, key, column, of: property, writer)
    if try recorder.didSet(value, at: column, of: key, writer) { return }
    try recorder.didSet(value, row.place)
  }

  /// Adds to an integer, wrapping around.
  func increment(_ key: Int64, _ property: Int, by amount: Int64) {
    let old = int(key, property)
    core.change { write throws(EngineError) in
      guard let writer = try table.writer(write, core) else { return missing(key) }
      try set(.int(old &+ amount), key, known(table.columns[property], property), writer)
      try core.recorder?.didIncrement(
        _Row(access: self, key: key, property: property).place, by: amount)
    }
  }

  @inline(__always)
  private func set(
    _ value: Value, _ key: Int64, _ column: Int, _ writer: RowWriter
  ) throws(EngineError) {
    do throws(EngineError) {
      if try !writer.set(value, key, column) { missing(key) }
    } catch {
      // A value is checked before its row is looked up.
      guard error.code == .schemaMismatch || error.code == .valueTooLarge,
        try !writer.contains(key)
      else { throw error }
      missing(key)
    }
  }

  private func set(
    _ value: Value, _ key: Int64, _ column: Int, replacing embedded: ClassInfo,
    _ writer: RowWriter
  ) throws(EngineError) {
    let old = try writer.value(key, column) ?? .null
    try set(value, key, column, writer)
    for child in old.linkedKeys where !value.linkedKeys.contains(child) {
      try core.release(child, of: embedded, writer.transaction)
    }
  }

  /// Stops a change of a missing row.
  private func missing(_ key: Int64) {
    // The row may be one that could not be created; the transaction will be cancelled anyway.
    if core.firstFailure == nil { gone(key) }
  }
}

extension Value {
  /// The keys that a link or a collection of links leads to.
  var linkedKeys: [Int64] {
    switch self {
    case .link(let key): [key]
    case .list(let values), .set(let values): values.flatMap(\.linkedKeys)
    case .dictionary(let entries): entries.flatMap { $0.value.linkedKeys }
    default: []
    }
  }
}
