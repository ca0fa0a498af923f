// CollectionObserver.swift: reports the changes of a collection or a map.

import Engine

/// An observer of results, a list, a set or linking objects.
final class CollectionObserver<Collection>: Observer {
  private let collection: Collection
  private let elements: Elements
  private let filter: KeyPathFilter?
  private let body: (RealmCollectionChange<Collection>) -> Void
  private var tracker: ElementsTracker?

  init(
    _ collection: Collection, _ elements: Elements, _ keyPaths: [String]?,
    _ body: @escaping (RealmCollectionChange<Collection>) -> Void
  ) {
    self.collection = collection
    self.elements = elements
    filter = keyPaths.flatMap { paths in elements.access.map { KeyPathFilter(paths, $0) } }
    self.body = body
    super.init(elements.core)
  }

  override var hasInitial: Bool { true }

  override func begin() throws(EngineError) {
    guard let base else { return }
    guard !elements.isInvalidated else { return end() }
    tracker = try ElementsTracker(elements, filter, base)
    body(.initial(collection))
  }

  override func follow(_ round: NotificationRound) throws(EngineError) {
    _ = try changes(in: round)
  }

  private func changes(in round: NotificationRound) throws(EngineError) -> IndexChanges {
    guard var tracker else { return IndexChanges() }
    self.tracker = nil
    let changes = try tracker.advance(round)
    self.tracker = tracker
    if tracker.isOver { end() }
    return changes
  }

  override func advance(_ round: NotificationRound) throws(EngineError) {
    let changes = try changes(in: round)
    guard !changes.isEmpty else { return }
    body(
      .update(
        collection, deletions: changes.deletions, insertions: changes.insertions,
        modifications: changes.modifications))
  }

  override func fail(_ error: Realm.Error) { body(.error(error)) }
}

/// An observer of a map.
final class MapObserver<Key: _MapKey, Item: RealmCollectionValue>: Observer {
  private let map: Map<Key, Item>
  private let row: _Row
  private let filter: KeyPathFilter?
  private let body: (RealmMapChange<Map<Key, Item>>) -> Void

  init(
    _ map: Map<Key, Item>, _ row: _Row, _ keyPaths: [String]?,
    _ body: @escaping (RealmMapChange<Map<Key, Item>>) -> Void
  ) {
    self.map = map
    self.row = row
    filter = keyPaths.flatMap { paths in row.elementAccess.map { KeyPathFilter(paths, $0) } }
    self.body = body
    super.init(row.core)
  }

  override var hasInitial: Bool { true }

  override func begin() throws(EngineError) {
    guard !row.isInvalidated else { return end() }
    body(.initial(map))
  }

  override func advance(_ round: NotificationRound) throws(EngineError) {
    var names = row.elementAccess.map { round.closure(of: $0.info) } ?? []
    names.insert(row.access.name)
    if row.isMixed { names.insert(MixedCollections.tableName) }
    guard round.touches(names), let old = try row.moved(to: round.olderCore)?.readEntries() else {
      return
    }
    let new = try row.moved(to: round.newerCore)?.readEntries()
    var modified: Set<Int64> = []
    if let info = row.elementAccess?.info {
      if let filter {
        modified = try round.modified(info, along: filter)
      } else {
        modified = try round.modified(info)
      }
    }
    let nested = row.isMixed ? try round.nested() : NestedChanges()
    let changes = Self.difference(old, new ?? []) { value in
      nested.areIn(value) || value.linkedKeys.contains(where: modified.contains)
    }
    if new == nil { end() }
    let counts = [changes.deletions.count, changes.insertions.count, changes.modifications.count]
    guard counts.contains(where: { $0 > 0 }) else { return }
    body(
      .update(
        map, deletions: changes.deletions, insertions: changes.insertions,
        modifications: changes.modifications))
  }

  override func fail(_ error: Realm.Error) { body(.error(error)) }

  /// Both ascend by key, byte by byte.
  private static func difference(
    _ old: [(key: String, value: Value)], _ new: [(key: String, value: Value)],
    _ isModified: (Value) -> Bool
  ) -> (deletions: [Key], insertions: [Key], modifications: [Key]) {
    var changes: (deletions: [Key], insertions: [Key], modifications: [Key]) = ([], [], [])
    var (before, after) = (old[...], new[...])
    while let entry = before.first ?? after.first {
      var order = before.isEmpty ? 1 : after.isEmpty ? -1 : 0
      if let mine = before.first, let other = after.first {
        order = Value.order(.string(mine.key), .string(other.key))
      }
      if order < 0 {
        changes.deletions.append(Key(_keyText: entry.key))
        before.removeFirst()
        continue
      }
      guard let other = after.popFirst() else { break }
      if order > 0 {
        changes.insertions.append(Key(_keyText: other.key))
        continue
      }
      before.removeFirst()
      if entry.value != other.value || isModified(other.value) {
        changes.modifications.append(Key(_keyText: entry.key))
      }
    }
    return changes
  }
}
