// SyncRecorder+Rows.swift: new rows of a batch, value by value in the order of the object.

import Engine
import ObjectDatabase
import SyncCore

extension SyncRecorder {
  func beginRow(of table: String, key: Value?) throws(EngineError) {
    let described = try described(table)
    guard let key, let id = SyncKey(key) else {
      throw RowReader<WriteTransaction>.noPrimaryKey(described)
    }
    beginRow(id, of: described)
  }

  func add(int: Int64, to column: Int, isDefault: Bool) {
    operations.add(int: int, column, isDefault: isDefault)
  }

  func add(double: Double, to column: Int, isDefault: Bool) {
    operations.add(double: double, column, isDefault: isDefault)
  }

  func add(bool: Bool, to column: Int, isDefault: Bool) {
    operations.add(bool: bool, column, isDefault: isDefault)
  }

  func add(text: String, to column: Int, isDefault: Bool) {
    operations.add(text: text, column, isDefault: isDefault)
  }

  func add(_ value: Value, to column: Int, isDefault: Bool) {
    switch value {
    case .int(let number): add(int: number, to: column, isDefault: isDefault)
    case .string(let text): add(text: text, to: column, isDefault: isDefault)
    // A collection is empty.
    case .list, .set, .dictionary: return
    default: operations.add(SyncValue(value) ?? .null, column, isDefault: isDefault)
    }
  }
}
