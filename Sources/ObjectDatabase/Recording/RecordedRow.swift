// RecordedRow.swift: the values of one row of a batch after the other, on their way to the recorder.

import Engine

/// A row of a batch that is told to a recorder.
final class RecordedRow {
  private let recorder: any ChangeRecorder
  private let table: String
  private var values: [Value] = []
  private var isDefault: [Bool] = []

  init(_ recorder: any ChangeRecorder, _ table: String) {
    self.recorder = recorder
    self.table = table
  }

  /// Forgets the row before.
  func clear() {
    values.removeAll(keepingCapacity: true)
    isDefault.removeAll(keepingCapacity: true)
  }

  func append(_ value: Value, isDefault: Bool) {
    values.append(value)
    self.isDefault.append(isDefault)
  }

  /// Adds the value of a property that is read in place.
  /// - Returns: False for a property of another type; nothing was added then.
  func append(_ place: PersistedField.Place, of object: ObjectBase) -> Bool {
    guard let (value, isSet) = place.value(in: object) else { return false }
    append(value, isDefault: !isSet)
    return true
  }

  /// The row has all its values, and is in the batch.
  func tell(_ key: Int64) throws(EngineError) {
    try recorder.didInsert(key, into: table, values, isDefault: isDefault)
  }
}
