// ElementsTracker.swift: the state of a collection that a callback has seen, and how it is brought
// up to date. All objects of a class: in time proportional to the change. A list, a set or linking
// objects: read again when the collection itself changed. Sorted objects of a class:
// SortedMerge.swift. Other sorted, filtered or distinct results: the query runs again when a class
// changed that it can depend on. Two sequences are compared in O(n log n) at most. Invariant: the
// tracked state is that of the collection at the observer's `base`.

import Engine

/// Follows one collection from version to version.
struct ElementsTracker {
  private enum Known {
    case index(KeyIndex)
    case content(Elements.Content)
  }

  private let elements: Elements
  private let filter: KeyPathFilter?
  private var known: Known
  /// Whether the owner of the collection was deleted, so that no further change can follow.
  private(set) var isOver = false

  /// Starts with the current content of the collection.
  init(_ elements: Elements, _ filter: KeyPathFilter?, _ snapshot: Snapshot) throws(EngineError) {
    self.elements = elements
    self.filter = filter
    if case .table(let access) = elements.origin, elements.steps.isEmpty {
      let keys = snapshot.hasTable(access.name) ? try snapshot.keys(of: access.name) : []
      known = .index(KeyIndex(keys))
    } else {
      known = .content(try elements.readContent())
    }
  }

  /// Advances to the newer version of a round.
  mutating func advance(_ round: NotificationRound) throws(EngineError) -> IndexChanges {
    if case .index(let index) = known, let info = elements.access?.info {
      guard !round.isRemade(info) else { return try advanceRemade(index, info, round) }
      var (changes, advanced) = round.advance(index, of: info)
      known = .index(advanced)
      let inserted = Set(round.changes(of: info)?.insertions ?? [])
      changes.modifications = try modified(info, round).subtracting(inserted)
        .compactMap { advanced.position(of: $0) }.sorted()
      return changes
    }
    guard case .content(let old) = known else { return IndexChanges() }
    guard dependsOnChange(round) else { return IndexChanges() }
    guard let moved = elements.moved(to: round.newerCore) else {
      isOver = true
      known = .content(.keys([]))
      return IndexChanges(deletions: Array(0..<old.count))
    }
    if case .keys(let keys) = old, let merge = try SortedMerge(keys, elements, round) {
      return try advance(merge, round)
    }
    let new = isReadAgain(round) ? try moved.readContent() : old
    known = .content(new)
    elements.adopt(new, of: round.newer)
    return try difference(old, new, round)
  }

  private mutating func advance(
    _ merge: SortedMerge, _ round: NotificationRound
  ) throws(EngineError) -> IndexChanges {
    known = .content(.keys(merge.keys))
    elements.adopt(.keys(merge.keys), of: round.newer)
    guard let info = elements.access?.info else { return IndexChanges() }
    return IndexChanges(
      deletions: merge.deletions, insertions: merge.insertions,
      modifications: merge.positions(of: try modified(info, round)))
  }

  /// The class has another table: a migration recreated it.
  private mutating func advanceRemade(
    _ index: KeyIndex, _ info: ClassInfo, _ round: NotificationRound
  ) throws(EngineError) -> IndexChanges {
    let isThere = round.newer.hasTable(info.name)
    let keys = isThere ? try round.newer.keys(of: info.name) : []
    known = .index(KeyIndex(keys))
    return IndexChanges(deletions: Array(0..<index.count), insertions: Array(keys.indices))
  }

  /// Whether the elements, or objects that they lead to, can be others than before.
  func dependsOnChange(_ round: NotificationRound) -> Bool {
    for case .selected(let filter) in elements.steps where filter.description.contains("@links") {
      return true
    }
    var names = elements.access.map { round.closure(of: $0.info) } ?? []
    switch elements.origin {
    case .table: break
    case .collection(let row):
      names.insert(row.access.name)
      if row.isMixed { names.insert(MixedCollections.tableName) }
    case .backlinks(let target, _, _, _): names.insert(target.name)
    }
    return round.touches(names)
  }

  /// Whether the elements have to be read again, and not only checked.
  private func isReadAgain(_ round: NotificationRound) -> Bool {
    guard elements.steps.isEmpty, case .collection(let row) = elements.origin else { return true }
    let column = row.access.info.properties[row.property].columnName
    if round.isRemade(row.access.info) { return true }
    return round.modification(of: row.key, row.access.info)?.changes(column) ?? false
  }

  private func modified(
    _ info: ClassInfo, _ round: NotificationRound
  ) throws(EngineError) -> Set<Int64> {
    guard let filter else { return try round.modified(info) }
    return try round.modified(info, along: filter)
  }

  private func difference(
    _ old: Elements.Content, _ new: Elements.Content, _ round: NotificationRound
  ) throws(EngineError) -> IndexChanges {
    var pairs = false
    if elements.steps.isEmpty, case .collection(let row) = elements.origin {
      pairs = row.access.info.properties[row.property].isArray
    }
    switch (old, new) {
    case (.keys(let old), .keys(let new)):
      let difference = SequenceDifference(from: old, to: new, pairs: pairs)
      var changes = IndexChanges(
        deletions: difference.deletions, insertions: difference.insertions,
        modifications: difference.replacements)
      guard let info = elements.access?.info else { return changes }
      let modified = try modified(info, round)
      guard !modified.isEmpty else { return changes }
      var isTaken = [Bool](repeating: false, count: new.count)
      for position in difference.insertions { isTaken[position] = true }
      for position in difference.replacements { isTaken[position] = true }
      changes.modifications += new.indices.filter { !isTaken[$0] && modified.contains(new[$0]) }
      changes.modifications.sort()
      return changes
    case (.values(let old), .values(let new)):
      let difference = SequenceDifference(from: old, to: new, pairs: pairs)
      var changes = IndexChanges(
        deletions: difference.deletions, insertions: difference.insertions,
        modifications: difference.replacements)
      let nested = try round.nested()
      guard !nested.collections.isEmpty else { return changes }
      let taken = Set(difference.insertions + difference.replacements)
      changes.modifications += new.indices.filter {
        nested.areIn(new[$0]) && !taken.contains($0)
      }
      changes.modifications.sort()
      return changes
    default:
      return IndexChanges(
        deletions: Array(0..<old.count), insertions: Array(0..<new.count))
    }
  }
}
