// ObjectBatch.swift: objects of one class that are added one after the other, and nothing else of
// the transaction is used in between: their values go into the engine's columns as they stand in
// the objects, and the transaction gets the rows together.
// Invariants: whoever asks the realm for its transaction gets the rows into it first
// (`_RealmCore.write`); a batch ends there. The first object of a class in a row is added without
// one, so that adding and reading in turns makes no buffers.

import Engine

/// Rows of a class on their way into the transaction.
final class ObjectBatch {
  let access: _TableAccess
  fileprivate let rows: RowBatch
  /// The wrapper of each column of the table, or what the column holds without one.
  private let columns: [(field: PersistedField?, empty: Value)]
  fileprivate var nextKey: Int64

  fileprivate init(
    _ access: _TableAccess, _ write: WriteTransaction, nextKey: Int64
  ) throws(EngineError) {
    self.access = access
    self.nextKey = nextKey
    let schema = try write.schema(of: access.name)
    columns = zip(schema.columns, access.propertyOrder(schema)).map { column, number in
      (number >= 0 ? access.info.fields[number] : nil, DynamicValue.empty(column))
    }
    rows = try RowBatch(write, access.name)
  }

  /// Adds the row of an object.
  @inline(__always)
  fileprivate func add(_ object: ObjectBase) throws(EngineError) -> Int64 {
    let key = nextKey
    try rows.add(key) { row throws(EngineError) in
      for column in columns {
        if let field = column.field {
          try field.append(from: object, to: &row)
        } else {
          try row.append(column.empty)
        }
      }
    }
    nextKey = key + 1
    return key
  }
}

extension ClassInfo {
  /// Whether an object's row is all that it adds, so that it can wait for others.
  fileprivate var isPlain: Bool {
    !fields.isEmpty
      && properties.allSatisfy { property in
        !property.isCollection && property.type != .object && property.type != .any
      }
  }
}

extension _RealmCore {
  /// Adds an object to the batch of its class.
  /// - Returns: Its key; nil when it has to be added by itself.
  func addToBatch(_ object: ObjectBase, _ policy: Realm.UpdatePolicy) -> Int64? {
    let type = Swift.type(of: object)
    if let batch = adding.batch {
      guard batch.access.info.type == type else {
        flushBatch()
        return nil
      }
      guard policy == .error || batch.access.info.primaryKey == nil else { return nil }
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
    noteChange()
    do throws(EngineError) {
      guard batch.nextKey < .max else { throw FileSchema.noKeyLeft(batch.access.name) }
      let key = try batch.add(object)
      object.rowKey = key
      object.tableAccess = batch.access
      return key
    } catch {
      failBatch(object, batch, error)
      return batch.nextKey
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
    adding.batch = nil
    setNextKey(batch.nextKey, of: batch.access.name)
    do throws(EngineError) { try batch.rows.flush() } catch { fail(Realm.Error(error)) }
  }
}
