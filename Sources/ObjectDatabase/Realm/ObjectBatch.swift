// ObjectBatch.swift [U]: objects of one class that are added one after the other, and nothing else
// of the transaction is used in between: their values go into the engine's columns as they stand in
// the objects, and the transaction gets the rows together.
// Invariants: whoever asks the realm for its transaction gets the rows into it first
// (`_RealmCore.write`); a batch ends there. The first object of a class in a row is added without
// one, so that adding and reading in turns makes no buffers.

import Engine

/// Rows of a class on their way into the transaction.
@safe final class ObjectBatch {
  /// That of the rows' objects.
  let access: _TableAccess
  /// The class of the objects.
  fileprivate let type: ObjectBase.Type
  /// Whether an object may replace one with its primary key.
  fileprivate let isKeyed: Bool
  fileprivate let rows: RowBatch
  // Safety: that of `rows`.
  private let row: UnsafeMutablePointer<RowBuilder>
  /// Where the wrapper of each column of the table is.
  private let places: [PersistedField.Place]
  private let fields: [PersistedField?]
  /// What each column holds without a wrapper.
  private let empties: [Value]
  fileprivate var nextKey: Int64
  /// Who is told of each row; nil for nobody.
  private let recorder: (any ChangeRecorder)?
  /// What the recorder was told of columns that are not read in place: a value that nobody set may
  /// be another one when it is asked for again, as the present date is.
  private var told: [Value]
  /// The column of the primary key.
  private let keyColumn: Int?
  /// Whether a value is asked for that may be code of the program, as a `persistableValue`: the
  /// rows are being changed then, and nobody else may.
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

  /// Tells the recorder the values of an object.
  @inline(never)
  private func record(_ object: ObjectBase, _ recorder: any ChangeRecorder) throws(EngineError) {
    let key = keyColumn.map { column in
      if let value = places[column].value(in: object) { return value }
      told[column] = fields[column]?.plainValue(of: object) ?? .null
      return told[column]
    }
    try recorder.beginRow(of: access.name, key: key)
    for column in places.indices where column != keyColumn {
      if places[column].record(object, column, recorder) { continue }
      guard let field = fields[column] else {
        recorder.add(empties[column], to: column, isDefault: true)
        continue
      }
      isAsking = true
      let value = field.plainValue(of: object) ?? .null
      isAsking = false
      told[column] = value
      recorder.add(value, to: column, isDefault: !places[column].isSet(in: object))
    }
  }

  /// Adds the row of an object, whose properties are unset then.
  @inline(__always)
  fileprivate func take(_ object: ObjectBase) throws(EngineError) {
    if isKeyed {
      // Whoever hears of an error asks the object for its key.
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

  /// Stops a program whose value uses the realm while an object is added.
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
  /// - Returns: Whether it is one of the batch's class, and new; else nothing happened.
  @inline(__always)
  func addToOpenBatch(_ object: ObjectBase, _ policy: Realm.UpdatePolicy) -> Bool {
    guard let batch = openBatch(of: Swift.type(of: object), policy) else { return false }
    _ = add(object, to: batch)
    return true
  }

  /// The batch that is open, without a count: it lives as long as it is.
  @inline(__always)
  private var borrowedBatch: Unmanaged<ObjectBatch>? {
    unsafe adding.batch.map { unsafe Unmanaged.passUnretained($0) }
  }

  /// Adds the row of an object, whose properties are unset afterwards, to the batch that is open.
  /// - Returns: Whether it is one of the batch's class, and new; else nothing happened.
  @inline(never)
  func takeRow(
    of object: ObjectBase, _ type: ObjectBase.Type, _ policy: Realm.UpdatePolicy
  ) -> Bool {
    guard let borrowed = unsafe borrowedBatch else { return false }
    // Safety: what gives a row its values cannot end the batch: `flushBatch` and `reset` stop it.
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

  /// The open batch, if it takes objects of a class.
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

  /// An error of the engine, in the words of whoever adds an object.
  private func failBatch(_ object: ObjectBase, _ batch: ObjectBatch, _ error: EngineError) {
    let info = batch.access.info
    guard error.code == .duplicateValue, let number = info.primaryKey,
      let value = info.fields[number].plainValue(of: object)
    else { return fail(Realm.Error(error)) }
    fail(Realm.Error(Self.duplicate(info, number, value)))
  }

  /// Gives the transaction the rows that wait.
  func flushBatch() {
    guard let batch = adding.batch else { return }
    batch.checkIdle()
    adding.batch = nil
    setNextKey(batch.nextKey, of: batch.access.name)
    do throws(EngineError) { try batch.rows.flush() } catch { fail(Realm.Error(error)) }
  }
}
