// RowApplier.swift: applies operations of a server's entries or of a replay to rows, instead of a
// realm and without a recorder. Invariants: rows of objects keep their keys, and so do embedded
// objects that are not replaced; an operation that names something missing from the file is an
// error, and no operation traps.

import Engine
import ObjectDatabase
import SyncCore

/// Applies operations in one transaction.
package struct RowApplier {
  let reader: RowReader<WriteTransaction>
  private var nextKeys: [String: Int64] = [:]

  package init(_ reader: RowReader<WriteTransaction>) { self.reader = reader }

  private var write: WriteTransaction { reader.source }

  private func misfit(_ what: String, _ object: SyncObject) -> EngineError {
    EngineError(code: .schemaMismatch, message: "\(object.type) \(object.key) \(what)")
  }

  /// Applies one operation.
  /// - Throws: `EngineError`, with code `.schemaMismatch` for content that the file's classes
  ///   cannot hold.
  package mutating func apply(_ operation: SyncOperation) throws(EngineError) {
    switch operation {
    case .create(let object): try create(object)
    case .delete(let object):
      guard let (key, described) = try reader.row(of: object) else {
        throw misfit("is to be deleted, and is not there", object)
      }
      try delete(key, described)
    case .change(let field, let change):
      let (place, column) = try place(of: field)
      if column.collection == .none {
        try applyToValue(change, place, column, field)
      } else {
        try applyToCollection(change, place, column, field)
      }
    }
  }

  /// Writes the keys of the next objects; called once, at the end.
  package func finish() throws(EngineError) {
    for (table, next) in nextKeys.sorted(by: { $0.key < $1.key }) {
      try RecordedClass.setNextKey(next, of: table, write)
    }
  }

  // MARK: rows

  private mutating func create(_ object: SyncObject) throws(EngineError) {
    guard let described = reader.classes.named(object.type), let column = described.primaryKey
    else { throw misfit("is of a class that the file has not, or has without a key", object) }
    var row = described.emptyRow
    row[column] = object.key.value
    try write.insert(into: described.table.name, key: try takeKey(described), row)
  }

  private mutating func takeKey(_ described: FileClass) throws(EngineError) -> Int64 {
    let table = described.table.name
    let key =
      if let known = nextKeys[table] { known } else {
        try RecordedClass.nextKey(of: table, write)
      }
    guard key < .max else {
      throw EngineError(code: .limit, message: "table \(table) has used up all keys")
    }
    nextKeys[table] = key + 1
    return key
  }

  /// Deletes a row and the embedded objects that it owns, at any depth.
  private func delete(_ key: Int64, _ described: FileClass) throws(EngineError) {
    var open = [(key: key, described: described)]
    while let (key, described) = open.popLast() {
      guard let row = try write.row(in: described.table.name, key: key) else { continue }
      for (value, column) in zip(row, described.table.columns) {
        guard let owned = try embeddedClass(column) else { continue }
        for child in Self.links(value) { open.append((child, owned)) }
      }
      try write.delete(from: described.table.name, key: key)
    }
  }

  private func embeddedClass(_ column: ColumnSchema) throws(EngineError) -> FileClass? {
    guard let target = column.target else { return nil }
    let described = try reader.classes.named(target)
    return described.isEmbedded ? described : nil
  }

  /// Deletes the embedded objects that a value was.
  private func release(_ value: Value, _ column: ColumnSchema) throws(EngineError) {
    guard let owned = try embeddedClass(column) else { return }
    for child in Self.links(value) { try delete(child, owned) }
  }

  private static func links(_ value: Value) -> [Int64] {
    switch value {
    case .link(let key): [key]
    case .list(let values), .set(let values): values.flatMap { links($0) }
    case .dictionary(let entries): entries.flatMap { links($0.value) }
    default: []
    }
  }

  // MARK: values

  /// The row and column of a field.
  private func place(
    of field: SyncField
  ) throws(EngineError) -> (place: CollectionPath, column: ColumnSchema) {
    guard var (key, described) = try reader.row(of: field.object) else {
      throw misfit("is to be changed, and is not there", field.object)
    }
    for step in field.steps {
      let position = try described.position(of: step.property.description)
      let column = described.table.columns[position]
      let path = CollectionPath(table: described.table.name, key: key, column: column.name)
      guard let owned = try embeddedClass(column), case .link(let child)? = try element(step, path)
      else { throw misfit("has no embedded object at \(step.property)", field.object) }
      (key, described) = (child, owned)
    }
    let column = described.table.columns[
      try described.position(of: field.property.description)]
    return (CollectionPath(table: described.table.name, key: key, column: column.name), column)
  }

  private func element(
    _ step: SyncStep, _ path: CollectionPath
  ) throws(EngineError) -> Value? {
    switch step.place {
    case .value: try write.value(in: path.table, key: path.key, column: path.column)
    case .element(let index): try write.element(at: index, of: path)
    case .entry(let name): try write.value(forKey: name.description, in: path)
    }
  }

  /// The engine's value for a value; a new embedded object gets a row.
  private mutating func value(
    _ value: SyncValue, _ column: ColumnSchema, _ object: SyncObject
  ) throws(EngineError) -> Value {
    if value == .null, !column.isOptional, column.type != .link {
      return RecordedClass.empty(
        ColumnSchema(name: column.name, type: column.type, isOptional: false))
    }
    if let plain = value.plain { return plain }
    if case .link(let target) = value {
      guard let (key, described) = try reader.row(of: target),
        described.table.name == column.target
      else { throw misfit("is to link to \(target.type) \(target.key)", object) }
      return .link(key)
    }
    guard let owned = try embeddedClass(column) else {
      throw misfit("is to have an embedded object at \(column.name)", object)
    }
    let key = try takeKey(owned)
    try write.insert(into: owned.table.name, key: key, owned.emptyRow)
    return .link(key)
  }

  private mutating func applyToValue(
    _ change: SyncChange, _ place: CollectionPath, _ column: ColumnSchema, _ field: SyncField
  ) throws(EngineError) {
    let old = try write.value(in: place.table, key: place.key, column: place.column) ?? .null
    let new: Value
    switch change {
    case .set(let value), .setDefault(let value):
      new = try self.value(value, column, field.object)
    case .increment(let amount):
      guard case .int(let number) = old else { throw misfit("has no number", field.object) }
      new = .int(number &+ amount)
    default: throw misfit("has no collection at \(column.name)", field.object)
    }
    try write.set(new, in: place.table, key: place.key, column: place.column)
    try release(old, column)
  }

  private mutating func applyToCollection(
    _ change: SyncChange, _ place: CollectionPath, _ column: ColumnSchema, _ field: SyncField
  ) throws(EngineError) {
    let object = field.object
    switch change {
    case .listInsert(let index, let values): try insert(values, at: index, place, column, object)
    case .listErase(let index, let count):
      for _ in 0..<max(0, count) {
        let old = try write.element(at: index, of: place)
        try write.remove(at: index, from: place)
        try release(old, column)
      }
    case .listMove(let from, let to):
      let moved = try write.element(at: from, of: place)
      try write.remove(at: from, from: place)
      try write.insert(moved, at: to, in: place)
    case .listSet(let index, let value):
      let old = try write.element(at: index, of: place)
      try write.replace(at: index, with: try self.value(value, column, object), in: place)
      try release(old, column)
    case .listClear: try clear(place, column)
    case .listAssign(let values), .listFill(let values):
      try clear(place, column)
      try insert(values, at: 0, place, column, object)
    case .setInsert(let value):
      guard try write.insert(try self.value(value, column, object), into: place) else {
        throw misfit("has the member already that \(column.name) is to get", object)
      }
    case .setErase(let value):
      guard try write.remove(try self.value(value, column, object), from: place) else {
        throw misfit("has not the member that \(column.name) is to lose", object)
      }
    case .dictionarySet(let name, let value):
      let old = try write.value(forKey: name.description, in: place)
      try write.set(
        try self.value(value, column, object), forKey: name.description, in: place)
      if let old { try release(old, column) }
    case .dictionaryRemove(let name):
      let old = try write.value(forKey: name.description, in: place)
      try write.removeValue(forKey: name.description, from: place)
      if let old { try release(old, column) }
    case .set, .setDefault, .increment:
      throw misfit("has a collection at \(column.name)", object)
    }
  }

  private mutating func insert(
    _ values: [SyncValue], at index: Int, _ place: CollectionPath, _ column: ColumnSchema,
    _ object: SyncObject
  ) throws(EngineError) {
    for (offset, value) in values.enumerated() {
      try write.insert(
        try self.value(value, column, object), at: index + offset, in: place)
    }
  }

  private func clear(_ place: CollectionPath, _ column: ColumnSchema) throws(EngineError) {
    let old = try write.value(in: place.table, key: place.key, column: place.column) ?? .null
    try write.removeAll(from: place)
    try release(old, column)
  }
}
