// RowReader.swift: reads rows of a version or a transaction in terms of synchronization: an object
// is a class and a primary key, and the content of an embedded object has a path from its owner.
// Invariant: nothing is cached that a change of a row could invalidate; depth is bounded by
// `SyncLimits.stepsMax`, so a damaged file in which objects own each other ends in an error.

import Engine
import SyncCore

/// Reads rows.
package struct RowReader<Source: ReadableVersion> {
  package let source: Source
  package let classes: FileClasses

  package init(source: Source, classes: FileClasses) {
    self.source = source
    self.classes = classes
  }

  /// The object of a row of a class that is not embedded.
  /// - Throws: `EngineError` with code `.schemaMismatch` for a class without a primary key.
  func object(_ key: Int64, _ described: FileClass) throws(EngineError) -> SyncObject {
    guard let column = described.primaryKey else { throw Self.noPrimaryKey(described) }
    let name = described.table.columns[column].name
    let value = try source.value(in: described.table.name, key: key, column: name)
    guard let value, let id = SyncKey(value) else {
      throw EngineError(
        code: .corrupted, message: "row \(key) of \(described.name) has no primary key")
    }
    return SyncObject(described.name, id)
  }

  /// The row of an object; nil when there is none.
  /// - Complexity: O(log rows).
  package func row(of object: SyncObject) throws(EngineError) -> (key: Int64, described: FileClass)?
  {
    guard let described = classes.named(object.type), !described.isEmbedded,
      source.hasTable(described.table.name), let column = described.primaryKey
    else { return nil }
    let name = described.table.columns[column].name
    let key = try source.firstKey(
      in: described.table.name, column: name, equalTo: object.key.value)
    return key.map { ($0, described) }
  }

  /// The content of an object; nil when it has no row.
  package func node(of object: SyncObject) throws(EngineError) -> SyncNode? {
    guard let (key, described) = try row(of: object) else { return nil }
    return try node(of: object, key, described)
  }

  /// The content of an object with its row.
  package func node(
    of object: SyncObject, _ key: Int64, _ described: FileClass
  ) throws(EngineError) -> SyncNode? {
    var state = SyncState()
    try state.read(object, key, described, self)
    return state.objects[object]
  }

  static func noPrimaryKey(_ described: FileClass) -> EngineError {
    EngineError(
      code: .schemaMismatch,
      message: "class \(described.name) has no primary key, by which other clients would know its "
        + "objects; declare one")
  }

  /// A value, or an element, of a column.
  ///
  /// A link to an embedded object is a new one: its content is reported separately.
  func value(_ value: Value, _ column: ColumnSchema) throws(EngineError) -> SyncValue {
    if let plain = SyncValue(value) { return plain }
    guard case .link(let key) = value, let target = column.target else {
      throw EngineError(
        code: .schemaMismatch,
        message: "column \(column.name) holds an object as a mixed value, which is not "
          + "synchronized; use a property of the object's class")
    }
    let described = try classes.named(target)
    return described.isEmbedded ? .embedded : .link(try object(key, described))
  }

  // MARK: the way to an embedded object

  /// The object and the steps that lead to a row; nil for an embedded object without an owner, and
  /// when `passes` rejects a property on the path.
  func way(
    to key: Int64, _ described: FileClass, passes: (CollectionPath) -> Bool
  ) throws(EngineError) -> (object: SyncObject, steps: [SyncStep])? {
    var steps: [SyncStep] = []
    var (key, described) = (key, described)
    while described.isEmbedded {
      guard let owner = try owner(of: key, described) else { return nil }
      guard steps.count < SyncLimits.stepsMax else {
        throw EngineError(
          code: .limit,
          message: "embedded objects of \(described.name) are nested deeper than "
            + "\(SyncLimits.stepsMax)")
      }
      guard passes(owner.place) else { return nil }
      steps.append(owner.step)
      described = try classes.named(owner.place.table)
      key = owner.place.key
    }
    return (try object(key, described), steps.reversed())
  }

  private func owner(
    of key: Int64, _ described: FileClass
  ) throws(EngineError) -> (place: CollectionPath, step: SyncStep)? {
    for link in described.linkers {
      let found = try source.backlinks(
        to: key, in: described.table.name, from: link.table, column: link.column)
      guard let row = found.first?.key else { continue }
      let place = CollectionPath(table: link.table, key: row, column: link.column)
      let name = SyncText(link.column)
      switch link.kind {
      case .none: return (place, SyncStep(name))
      case .list, .set:
        guard let index = try positions(of: key, in: place).first else { continue }
        return (place, SyncStep(name, .element(index)))
      case .dictionary:
        guard let entry = try entries(with: key, in: place).first else { continue }
        return (place, SyncStep(name, .entry(entry)))
      }
    }
    return nil
  }

  /// Where a list has links to a row, ascending.
  func positions(of key: Int64, in place: CollectionPath) throws(EngineError) -> [Int] {
    var (found, index) = ([Int](), 0)
    try source.forEach(in: place) { _, value in
      if case .link(key) = value { found.append(index) }
      index += 1
    }
    return found
  }

  /// Under which keys a map has links to a row, ascending.
  func entries(with key: Int64, in place: CollectionPath) throws(EngineError) -> [SyncText] {
    var found: [SyncText] = []
    try source.forEach(in: place) { name, value in
      if case .link(key) = value { found.append(SyncText(name ?? "")) }
    }
    return found
  }
}
