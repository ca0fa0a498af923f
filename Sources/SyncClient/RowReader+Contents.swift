// RowReader+Contents.swift: the content of a row, as operations that create an object with the same
// content.

import Engine
import SyncCore

extension RowReader {
  /// Reports the content of a row, including embedded objects.
  /// - Parameters:
  ///   - key: The row's key.
  ///   - described: Its class.
  ///   - object: The object of the row, or the one that contains it.
  ///   - steps: The way from the object to it.
  ///   - tell: Called with the operations, in order.
  /// - Throws: `EngineError`, with code `.limit` for nesting that is too deep.
  func contents(
    of key: Int64, _ described: FileClass, _ object: SyncObject, _ steps: [SyncStep] = [],
    tell: (SyncOperation) throws(EngineError) -> Void
  ) throws(EngineError) {
    guard let row = try source.row(in: described.table.name, key: key) else {
      throw EngineError(
        code: .corrupted, message: "a link leads to row \(key) of \(described.name), which is gone")
    }
    for (position, value) in row.enumerated() where position != described.primaryKey {
      let column = described.table.columns[position]
      let field = SyncField(object, steps, described.names[position])
      switch value {
      case .list(let values):
        if !values.isEmpty {
          let elements = try elements(values, column)
          try tell(.change(field, .listInsert(at: 0, elements)))
          try inner(values, column, field, tell)
        }
      case .set(let values):
        for member in values {
          try tell(.change(field, .setInsert(try self.value(member, column))))
        }
      case .dictionary(let entries):
        for entry in entries {
          let name = SyncText(entry.key)
          try tell(.change(field, .dictionarySet(name, try self.value(entry.value, column))))
          try inner(entry.value, column, field, .entry(name), tell)
        }
      default:
        let new = try self.value(value, column)
        try tell(.change(field, .set(new)))
        try inner(value, column, field, .value, tell)
      }
    }
  }

  /// The values of a list's elements.
  func elements(_ values: [Value], _ column: ColumnSchema) throws(EngineError) -> [SyncValue] {
    var elements: [SyncValue] = []
    elements.reserveCapacity(values.count)
    for element in values { elements.append(try value(element, column)) }
    return elements
  }

  /// Reports the content of the embedded objects among a list's elements.
  func inner(
    _ values: [Value], _ column: ColumnSchema, _ field: SyncField,
    _ tell: (SyncOperation) throws(EngineError) -> Void
  ) throws(EngineError) {
    for (index, element) in values.enumerated() {
      try inner(element, column, field, .element(index), tell)
    }
  }

  /// Reports the content of the embedded object at a place; nothing for other values.
  func inner(
    _ value: Value, _ column: ColumnSchema, _ field: SyncField, _ place: SyncStep.Place,
    _ tell: (SyncOperation) throws(EngineError) -> Void
  ) throws(EngineError) {
    guard case .link(let key) = value, let target = column.target else { return }
    let described = try classes.named(target)
    guard described.isEmbedded else { return }
    let steps = field.steps + [SyncStep(field.property, place)]
    guard steps.count <= SyncLimits.stepsMax else {
      throw EngineError(
        code: .limit,
        message: "embedded objects of \(target) are nested deeper than \(SyncLimits.stepsMax)")
    }
    try contents(of: key, described, field.object, steps, tell: tell)
  }
}

extension SyncState {
  /// The objects of a version.
  /// - Throws: `EngineError`, with code `.schemaMismatch` for content that is not synchronized.
  /// - Complexity: O(bytes).
  package init(reading source: some ReadableVersion) throws(EngineError) {
    self.init()
    let reader = RowReader(source: source, classes: try FileClasses(source))
    for described in reader.classes.all where !described.isEmbedded {
      for key in try source.keys(of: described.table.name) {
        try read(try reader.object(key, described), key, described, reader)
      }
    }
  }

  /// Adds an object of a row.
  mutating func read<Source>(
    _ object: SyncObject, _ key: Int64, _ described: FileClass, _ reader: RowReader<Source>
  ) throws(EngineError) {
    var operations: [SyncOperation] = [.create(object)]
    try reader.contents(of: key, described, object) { operations.append($0) }
    do throws(SyncError) {
      for operation in operations { try apply(operation) }
    } catch { throw SyncTable.damaged("\(error)") }
  }
}
