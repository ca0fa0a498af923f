// ObjectBatch.swift [U]: adds objects of one class one after the other, with no other use of the
// transaction in between: their values are written to the engine's columns straight from the
// objects, and the rows are inserted into the transaction together. Invariants: every access to the
// realm's transaction inserts the rows first (`_RealmCore.write`), which ends the batch. The first
// object in a sequence of one class is added without a batch, so that alternating adds and reads
// makes no buffers.

import Engine

/// Rows of a class to be inserted into the transaction.
@safe final class ObjectBatch {
  /// The access of the rows' objects.
  let access: _TableAccess
  /// The class of the objects.
  fileprivate let type: ObjectBase.Type
  /// Whether an object may replace one with its primary key.
  fileprivate let isKeyed: Bool
  fileprivate let rows: RowBatch
  // Safety: as for `rows`.
  private let row: UnsafeMutablePointer<RowBuilder>
  /// Where the wrapper of each column of the table is.
  private let places: [PersistedField.Place]
  private let fields: [PersistedField?]
  /// The value of each column without a wrapper.
  private let empties: [Value]
  fileprivate var nextKey: Int64
  /// The recorder of each row, if there is one.
  private let recorder: (any ChangeRecorder)?
  /// The rows for the recorder since the first one.
  private var recorded: RecordedRows?
  /// The values recorded for columns that are not read in place: a default may differ when it is
  /// computed again, as the current date does.
  private var told: [Value]
  /// The column of the primary key.
  private let keyColumn: Int?
  /// Whether code of the program is running to get a value, such as `persistableValue`: the rows
  /// are being changed then, and no other code may change them.
  private var isAsking = false

  fileprivate init(
    _ access: _TableAccess, _ write: WriteTransaction, nextKey: Int64
  ) throws(EngineError) {
    self.access = access
    self.nextKey = nextKey
    let schema = try write.schema(of: access.name)
    type = access.info.type
    isKeyed = access.info.primaryKey != nil
    fields = access.propertyOrder(schema).map { $0 >= 0 ? access.info.fields[$0] : nil }
    places = fields.map { $0?.place ?? .nowhere }
    empties = schema.columns.map { DynamicValue.empty($0) }
    recorder = access.core.recorder
    told = empties
    keyColumn = access.info.primaryKey.flatMap { access.propertyOrder(schema).firstIndex(of: $0) }
    rows = try RowBatch(write, access.name)
    unsafe row = rows.row
  }

  /// Adds the row of an object.
  @inline(__always)
  fileprivate func add(_ object: ObjectBase) throws(EngineError) -> Int64 {
    let key = nextKey
    do throws(EngineError) {
      if let recorder { try record(object, recorder) }
      for column in places.indices {
        if try unsafe places[column].append(from: object, to: &row.pointee) { continue }
        try append(column, from: object)
      }
      try rows.endRow(key)
    } catch {
      try rows.dropRow()
      throw error
    }
    nextKey = key + 1
    return key
  }

  /// Records the values of an object, those of the first one by a call of the recorder.
  @inline(never)
  private func record(_ object: ObjectBase, _ recorder: any ChangeRecorder) throws(EngineError) {
    for column in places.indices {
      guard places[column].isOther, let field = fields[column] else { continue }
      isAsking = true
      told[column] = field.plainValue(of: object) ?? .null
      isAsking = false
    }
    guard let recorded else {
      try recorder.didInsert(
        nextKey, into: access.name,
        places.indices.map { places[$0].value(in: object) ?? told[$0] },
        isDefault: places.indices.map { !places[$0].isSet(in: object) })
      recorded = RecordedRows(try recorder.rowForm(of: access.name))
      return
    }
    if keyColumn.map({ !places[$0].beginRow(object, recorded) }) ?? true {
      let key = keyColumn.map { told[$0] }
      recorded.beginRow(key ?? .null, try recorder.encoded(key: key, of: access.name))
    }
    for column in places.indices where column != keyColumn {
      if places[column].record(object, column, recorded) { continue }
      recorded.add(
        recorder.encoded(told[column]), to: column, isDefault: !places[column].isSet(in: object))
    }
    if recorded.isFull { passRecorded() }
  }

  /// Passes the rows recorded since the first one to the recorder.
  fileprivate func passRecorded() {
    guard let recorder, let recorded, recorded.rowCount > 0 else { return }
    let (rowCount, valueCount) = (recorded.rowCount, recorded.valueCount)
    recorder.didInsert(
      rows: recorded.take(), into: access.name, rowCount, valueCount: valueCount,
      lastKey: recorded.lastKey)
  }

  /// Adds the row of an object, whose properties are unset then.
  @inline(__always)
  fileprivate func take(_ object: ObjectBase) throws(EngineError) {
    if isKeyed {
      // The error handler reads the object's key.
      _ = try add(object)
      return clear(object)
    }
    let key = nextKey
    do throws(EngineError) {
      if let recorder { try record(object, recorder) }
      for column in places.indices {
        if try unsafe places[column].move(from: object, to: &row.pointee) { continue }
        try append(column, from: object)
        places[column].clear(object)
      }
      try rows.endRow(key)
    } catch {
      try rows.dropRow()
      throw error
    }
    nextKey = key + 1
  }

  fileprivate func clear(_ object: ObjectBase) {
    for place in places { place.clear(object) }
  }

  /// A column without a wrapper, or with one of a type that is not read in place.
  @inline(never)
  private func append(_ column: Int, from object: ObjectBase) throws(EngineError) {
    guard let field = fields[column] else { return try unsafe row.pointee.append(empties[column]) }
    if recorder != nil { return try unsafe row.pointee.append(told[column]) }
    isAsking = true
    let value = field.plainValue(of: object)
    isAsking = false
    try unsafe row.pointee.append(value ?? .null)
  }

  /// Stops a program in which computing a value uses the realm while an object is added.
  @inline(__always)
  func checkIdle() {
    if isAsking { stopAsking() }
  }

  @inline(never)
  private func stopAsking() -> Never {
    Misuse.stop(
      "a value of \(access.name) uses the realm that it is added to; a persistableValue or "
        + "rawValue is to be made of nothing but what it belongs to")
  }

  /// Stops the transaction's growing where keys end.
  @inline(__always)
  fileprivate func checkKey() throws(EngineError) {
    if nextKey == .max { throw noKeyLeft }
  }

  @inline(never)
  private var noKeyLeft: EngineError { FileSchema.noKeyLeft(access.name) }
}

extension ClassInfo {
  /// Whether an object's row is all that it adds, so that it can wait for others.
  var isPlain: Bool {
    !fields.isEmpty
      && properties.allSatisfy { property in
        !property.isCollection && property.type != .object && property.type != .any
      }
  }
}

extension _RealmCore {
  /// Adds an unmanaged object to the batch that is open.
  /// - Returns: Whether it has the batch's class and is new; otherwise nothing was done.
  @inline(__always)
  func addToOpenBatch(_ object: ObjectBase, _ policy: Realm.UpdatePolicy) -> Bool {
    guard let batch = openBatch(of: Swift.type(of: object), policy) else { return false }
    _ = add(object, to: batch)
    return true
  }

  /// The open batch, not retained: it exists as long as it is open.
  @inline(__always)
  private var borrowedBatch: Unmanaged<ObjectBatch>? {
    unsafe adding.batch.map { unsafe Unmanaged.passUnretained($0) }
  }

  /// Adds the row of an object, whose properties are unset afterwards, to the batch that is open.
  /// - Returns: Whether it has the batch's class and is new; otherwise nothing was done.
  @inline(never)
  func takeRow(
    of object: ObjectBase, _ type: ObjectBase.Type, _ policy: Realm.UpdatePolicy
  ) -> Bool {
    guard let borrowed = unsafe borrowedBatch else { return false }
    // Safety: code that sets a row's values cannot end the batch: `flushBatch` and `reset` prevent
    // it.
    return unsafe borrowed._withUnsafeGuaranteedRef { batch in
      guard batch.type == type, policy == .error || !batch.isKeyed else { return false }
      batch.checkIdle()
      noteChange()
      do throws(EngineError) {
        try batch.checkKey()
        try batch.take(object)
      } catch {
        failBatch(object, batch, error)
        batch.clear(object)
      }
      return true
    }
  }

  /// The class of new objects that can be added in a batch; nil when they are more than a row, or
  /// when a recorder needs to know which values were given.
  func batchedClass(_ type: ObjectBase.Type) -> ClassInfo? {
    guard recorder == nil else { return nil }
    if let batch = adding.batch, batch.type == type { return batch.access.info }
    let info = access(to: type).info
    return info.type == type && info.isPlain ? info : nil
  }

  /// The open batch, if it accepts objects of a class.
  @inline(__always)
  private func openBatch(
    of type: ObjectBase.Type, _ policy: Realm.UpdatePolicy
  ) -> ObjectBatch? {
    guard let batch = adding.batch, batch.type == type, policy == .error || !batch.isKeyed else {
      return nil
    }
    return batch
  }

  /// Adds an object to the batch of its class.
  /// - Returns: Its key; nil when it has to be added by itself.
  func addToBatch(_ object: ObjectBase, _ policy: Realm.UpdatePolicy) -> Int64? {
    let type = Swift.type(of: object)
    if let batch = adding.batch {
      guard batch.type == type else {
        flushBatch()
        return nil
      }
      guard policy == .error || !batch.isKeyed else { return nil }
      return add(object, to: batch)
    }
    guard adding.lastType == type, firstFailure == nil, let write = openWrite else { return nil }
    let access = access(to: type)
    guard access.info.type == type, access.info.isPlain,
      policy == .error || access.info.primaryKey == nil
    else { return nil }
    do throws(EngineError) {
      let nextKey = try nextKey(of: access.name, write)
      let batch = try ObjectBatch(access, write, nextKey: nextKey)
      adding.batch = batch
      return add(object, to: batch)
    } catch {
      fail(Realm.Error(error))
      return nil
    }
  }

  private func add(_ object: ObjectBase, to batch: ObjectBatch) -> Int64 {
    if object.rowKey == ObjectBase.incompleteKey { object.completeValues() }
    guard let key = addRow(of: object, to: batch) else { return batch.nextKey }
    object.rowKey = key
    object.tableAccess = batch.access
    if batch.access.info.isEncodable { batch.access.info.markManaged(object) }
    return key
  }

  /// - Returns: The key; nil when the transaction failed.
  @inline(__always)
  private func addRow(of object: ObjectBase, to batch: ObjectBatch) -> Int64? {
    batch.checkIdle()
    noteChange()
    do throws(EngineError) {
      try batch.checkKey()
      return try batch.add(object)
    } catch {
      failBatch(object, batch, error)
      return nil
    }
  }

  /// An error of the engine, with the message for adding an object.
  private func failBatch(_ object: ObjectBase, _ batch: ObjectBatch, _ error: EngineError) {
    let info = batch.access.info
    guard error.code == .duplicateValue, let number = info.primaryKey,
      let value = info.fields[number].plainValue(of: object)
    else { return fail(Realm.Error(error)) }
    fail(Realm.Error(Self.duplicate(info, number, value)))
  }

  /// Inserts the pending rows into the transaction.
  func flushBatch() {
    guard let batch = adding.batch else { return }
    batch.checkIdle()
    adding.batch = nil
    batch.passRecorded()
    setNextKey(batch.nextKey, of: batch.access.name)
    do throws(EngineError) { try batch.rows.flush() } catch { fail(Realm.Error(error)) }
  }
}
