// SchemaCheck.swift: whether a changeset fits the classes of the server's file. Invariants: what
// passes can be stored as rows that read back as the merged state, whatever it is merged with: so
// every name, type and collection is right, and a new object has a value for every property, as a
// row has.

import Engine
import SyncClient
import SyncCore

/// Checks one changeset.
struct SchemaCheck {
  /// A new object or embedded object, whose properties get their values next.
  private struct Unfinished {
    let steps: [SyncStep]
    var properties: Set<SyncText>
  }

  private let classes: FileClasses
  private var unfinished: [SyncObject: [Unfinished]] = [:]

  private init(_ classes: FileClasses) { self.classes = classes }

  /// Why a changeset does not fit; nil when it does.
  /// - Complexity: O(operations * properties of a class).
  static func refusal(of changeset: SyncChangeset, _ classes: FileClasses) -> SyncRefusal? {
    var check = SchemaCheck(classes)
    for operation in changeset.operations {
      if let refusal = check.refusal(of: operation) { return refusal }
    }
    let isDone = check.unfinished.values.allSatisfy { $0.allSatisfy(\.properties.isEmpty) }
    return isDone ? nil : .incomplete
  }

  private mutating func refusal(of operation: SyncOperation) -> SyncRefusal? {
    let object = operation.object
    guard let described = classes.named(object.type), !described.isEmbedded,
      let primaryKey = described.primaryKey
    else { return .unknownName }
    guard Self.fits(object.key, described.table.columns[primaryKey]) else { return .otherType }
    switch operation {
    case .create: unfinished[object] = [Self.unfinished(described, [])]
    case .delete: unfinished[object] = nil
    case .change(let field, let change): return refusal(of: change, field, described)
    }
    return nil
  }

  private static func unfinished(_ described: FileClass, _ steps: [SyncStep]) -> Unfinished {
    var names: Set<SyncText> = []
    for (position, column) in described.table.columns.enumerated()
    where column.collection == .none && position != described.primaryKey {
      names.insert(described.names[position])
    }
    return Unfinished(steps: steps, properties: names)
  }

  private mutating func refusal(
    of change: SyncChange, _ field: SyncField, _ owner: FileClass
  ) -> SyncRefusal? {
    var described = owner
    for step in field.steps {
      guard let position = described.names.firstIndex(of: step.property) else {
        return .unknownName
      }
      let column = described.table.columns[position]
      guard let inner = embedded(column), Self.fits(step.place, column.collection) else {
        return .otherType
      }
      described = inner
    }
    guard let position = described.names.firstIndex(of: field.property) else {
      return .unknownName
    }
    // An object's key is its name; no operation changes it.
    guard position != described.primaryKey else { return .otherType }
    let column = described.table.columns[position]
    guard Self.fits(change, column), change.values.allSatisfy({ fits($0, column) }) else {
      return .otherType
    }
    return note(change, field, column)
  }

  /// Which properties have got their values.
  private mutating func note(
    _ change: SyncChange, _ field: SyncField, _ column: ColumnSchema
  ) -> SyncRefusal? {
    let object = field.object
    switch change {
    case .set, .setDefault:
      if let index = unfinished[object]?.firstIndex(where: { $0.steps == field.steps }) {
        unfinished[object]?[index].properties.remove(field.property)
      }
    case .increment, .setInsert, .setErase: return nil
    case .listInsert, .listErase, .listMove, .listSet, .listClear, .listAssign, .listFill,
      .dictionarySet, .dictionaryRemove:
      break
    }
    guard let inner = embedded(column) else { return nil }
    // Places are those of this moment: what is in the field already has to be finished.
    let prefix = field.steps.count
    for other in unfinished[object] ?? []
    where other.steps.count > prefix && Array(other.steps[..<prefix]) == field.steps
      && other.steps[prefix].property == field.property && !other.properties.isEmpty
    {
      guard case .dictionarySet(let key, _) = change, other.steps[prefix].place != .entry(key)
      else { return .incomplete }
    }
    unfinished[object]?.removeAll {
      $0.steps.count > prefix && $0.properties.isEmpty && $0.steps.starts(with: field.steps)
    }
    for place in Self.places(change) {
      let steps = field.steps + [SyncStep(field.property, place)]
      unfinished[object, default: []].append(Self.unfinished(inner, steps))
    }
    return nil
  }

  /// Where a change puts new embedded objects.
  private static func places(_ change: SyncChange) -> [SyncStep.Place] {
    switch change {
    case .set(.embedded), .setDefault(.embedded): [.value]
    case .listInsert(let index, let values): places(values, from: index)
    case .listAssign(let values), .listFill(let values): places(values, from: 0)
    case .listSet(let index, .embedded): [.element(index)]
    case .dictionarySet(let key, .embedded): [.entry(key)]
    default: []
    }
  }

  private static func places(_ values: [SyncValue], from index: Int) -> [SyncStep.Place] {
    values.indices.filter { values[$0] == .embedded }.map { .element(index + $0) }
  }

  // MARK: types

  private func embedded(_ column: ColumnSchema) -> FileClass? {
    guard let target = column.target, let described = classes.named(SyncText(target)),
      described.isEmbedded
    else { return nil }
    return described
  }

  private static func fits(_ place: SyncStep.Place, _ collection: CollectionKind) -> Bool {
    switch place {
    case .value: collection == .none
    case .element: collection == .list
    case .entry: collection == .dictionary
    }
  }

  private static func fits(_ change: SyncChange, _ column: ColumnSchema) -> Bool {
    switch change {
    case .set, .setDefault: column.collection == .none
    case .increment: column.collection == .none && column.type == .int
    case .listInsert, .listErase, .listMove, .listSet, .listClear, .listAssign, .listFill:
      column.collection == .list
    case .setInsert, .setErase: column.collection == .set
    case .dictionarySet, .dictionaryRemove: column.collection == .dictionary
    }
  }

  private func fits(_ value: SyncValue, _ column: ColumnSchema) -> Bool {
    switch value {
    case .null: return column.isOptional
    case .link(let target):
      guard column.type == .link, let described = classes.named(target.type),
        described.table.name == column.target, !described.isEmbedded,
        let primaryKey = described.primaryKey
      else { return false }
      return Self.fits(target.key, described.table.columns[primaryKey])
    case .embedded: return column.type == .link && embedded(column) != nil
    default: return column.type == .mixed || Self.type(of: value) == column.type
    }
  }

  private static func type(of value: SyncValue) -> ColumnType? {
    switch value {
    case .bool: .bool
    case .int: .int
    case .float: .float
    case .double: .double
    case .text: .string
    case .binary: .binary
    case .date: .date
    case .objectId: .objectId
    case .uuid: .uuid
    case .decimal: .decimal128
    case .null, .link, .embedded: nil
    }
  }

  private static func fits(_ key: SyncKey, _ column: ColumnSchema) -> Bool {
    switch key {
    case .null: column.isOptional
    case .int: column.type == .int
    case .text: column.type == .string
    case .objectId: column.type == .objectId
    case .uuid: column.type == .uuid
    }
  }
}
