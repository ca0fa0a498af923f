// SyncRecorder+Collections.swift: records changes of single elements, members and entries. Clearing
// a list is a single operation; clearing a set or a map is recorded as erasing all of its content.

import Engine
import ObjectDatabase
import SyncCore

extension SyncRecorder {
  func didChange(_ change: RecordedChange, _ place: CollectionPath) throws(EngineError) {
    let reader = try reader()
    guard let (field, column) = try field(place, reader) else { return }
    switch change {
    case .insert(let value, let index):
      try tellElement(value, at: index, field, column, reader)
    case .append(let value):
      try tellElement(value, at: try reader.source.count(of: place) - 1, field, column, reader)
    case .replace(let index, let value):
      tell(.change(field, .listSet(at: index, try reader.value(value, column))))
      try reader.inner(value, column, field, .element(index)) { tell($0) }
    case .remove(let index): tell(.change(field, .listErase(at: index, count: 1)))
    case .move(let from, let to): tell(.change(field, .listMove(from: from, to: to)))
    case .swap(let first, let second):
      // Two sets would lose an element against an erasure.
      let (low, high) = (min(first, second), max(first, second))
      guard low < high else { return }
      tell(.change(field, .listMove(from: low, to: high)))
      if high - low > 1 { tell(.change(field, .listMove(from: high - 1, to: low))) }
    case .insertMember(let value):
      tell(.change(field, .setInsert(try reader.value(value, column))))
    case .removeMember(let value):
      tell(.change(field, .setErase(try reader.value(value, column))))
    case .setEntry(let name, let value):
      try tellEntry(SyncText(name), value, field, column, reader)
    case .removeEntry(let name): tell(.change(field, .dictionaryRemove(SyncText(name))))
    }
  }

  private func tellElement(
    _ value: Value, at index: Int, _ field: SyncField, _ column: ColumnSchema,
    _ reader: RowReader<WriteTransaction>
  ) throws(EngineError) {
    tell(.change(field, .listInsert(at: index, [try reader.value(value, column)])))
    try reader.inner(value, column, field, .element(index)) { tell($0) }
  }

  func willClear(_ place: CollectionPath) throws(EngineError) {
    let reader = try reader()
    guard let (field, column) = try field(place, reader),
      let old = try reader.source.value(in: place.table, key: place.key, column: place.column)
    else { return }
    switch old {
    case .list(let values): if !values.isEmpty { tell(.change(field, .listClear)) }
    case .set(let values):
      for member in values { tell(.change(field, .setErase(try reader.value(member, column)))) }
    case .dictionary(let entries):
      for entry in entries { tell(.change(field, .dictionaryRemove(SyncText(entry.key)))) }
    default: throw SyncTable.damaged("\(place) holds another kind of value than its column")
    }
  }
}
