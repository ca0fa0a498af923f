// OldState.swift: an object, or some of its properties, as they were before the kept entries and
// the pending changesets, as operations: those that make the object, or delete one that did not
// exist; or those that set the properties. Invariant: properties are single values and no links.

import Engine
import SyncCore

/// An object as it was, or some of its properties.
struct OldState {
  let object: SyncObject
  private let operations: [SyncOperation]

  /// A whole object; a nil node is one that did not exist.
  init(_ object: SyncObject, _ node: SyncNode?) {
    self.object = object
    guard let node else {
      operations = [.delete(object)]
      return
    }
    var state = SyncState()
    state.replace(object, by: node)
    operations = state.operations(from: SyncState())
  }

  /// Some properties of an object that existed.
  init(_ object: SyncObject, _ values: [(name: SyncText, value: SyncValue)]) {
    self.object = object
    operations = values.map { .change(SyncField(object, [], $0.name), .set($0.value)) }
  }

  /// - Throws: `EngineError` with code `.corrupted`.
  init(decoding bytes: [UInt8]) throws(EngineError) {
    do throws(SyncError) { operations = try SyncChangeset(decoding: bytes).operations } catch {
      throw SyncTable.damaged("an object as it was: \(error)")
    }
    guard let first = operations.first?.object else {
      throw SyncTable.damaged("an object as it was has no operation")
    }
    object = first
  }

  /// Its bytes: a changeset's.
  func encoded() throws(EngineError) -> [UInt8] {
    var recorded = RecordedOperations()
    return try encoded(&recorded)
  }

  /// The same in memory that is used again.
  func encoded(_ recorded: inout RecordedOperations) throws(EngineError) -> [UInt8] {
    recorded.removeAll()
    for operation in operations { recorded.append(operation) }
    do throws(SyncError) {
      let bytes = try recorded.changeset(
        SyncChangeset(
          client: SyncClient(0), sequence: 0, base: .zero, stamp: .zero, operations: []))
      return bytes.head + bytes.body
    } catch { throw EngineError(code: .limit, message: error.message) }
  }

  /// Whether it is a whole object, or that there was none.
  var isWhole: Bool {
    if case .change = operations[0] { false } else { true }
  }

  /// The fields that it has.
  var fields: [SyncField] {
    operations.compactMap { if case .change(let field, _) = $0 { field } else { nil } }
  }

  /// Undoes what has happened since.
  /// - Parameter later: What the object became, where this is not the whole one.
  /// - Returns: The object as it was; nil when there was none.
  /// - Throws: `EngineError` with code `.corrupted`.
  func node(from later: SyncNode?) throws(EngineError) -> SyncNode? {
    if case .delete = operations[0] { return nil }
    var state = SyncState()
    if !isWhole { state.replace(object, by: later) }
    do throws(SyncError) { for operation in operations { try state.apply(operation) } } catch {
      throw SyncTable.damaged("\(object.type) \(object.key) as it was: \(error)")
    }
    return state.objects[object]
  }
}

/// The old states that changesets in pages brought along.
struct OldStates {
  /// For each object the first whole state, and the first ones of properties before that.
  private var wholes: [SyncObject: OldState] = [:]
  private var parts: [SyncObject: [OldState]] = [:]

  /// The objects that have any.
  var objects: Set<SyncObject> { Set(wholes.keys).union(parts.keys) }

  /// Adds the next one.
  mutating func add(_ old: OldState) {
    guard wholes[old.object] == nil else { return }
    if old.isWhole { wholes[old.object] = old } else { parts[old.object, default: []].append(old) }
  }

  /// Goes back before all of these.
  /// - Parameters:
  ///   - object: The object.
  ///   - base: Its row, which was added after the properties here.
  ///   - reader: Its rows as they are now.
  /// - Returns: The object as it was; nil when there was none.
  /// - Throws: `EngineError` with code `.corrupted`.
  func node(
    of object: SyncObject, _ base: BaseRows.Base?, _ reader: RowReader<WriteTransaction>
  ) throws(EngineError) -> SyncNode? {
    var node = try base?.node()
    if let whole = wholes[object] { node = try whole.node(from: nil) }
    guard let parts = parts[object] else { return node }
    if wholes[object] == nil, base == nil { node = try reader.node(of: object) }
    // The first state of a property is the one that counts.
    for part in parts.reversed() { node = try part.node(from: node) }
    return node
  }
}
