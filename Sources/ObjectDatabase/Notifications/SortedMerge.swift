// SortedMerge.swift: the sorted objects of a class in a newer version, computed from those in the
// older one: deleted objects are removed, objects whose sort values changed are moved to their new
// places, and new ones are inserted. The others keep their order, so only changed objects are
// sorted, and a million keys are read just twice. Invariants: the order is that of a sort of the
// class, equal objects by their keys; an object with unchanged sort values never counts as moved.

import Engine

/// Takes the sorted keys of a class from one version to the next.
struct SortedMerge {
  /// If more than one object in this many changed, all are sorted again.
  private static let changedShare = 16

  /// The keys of the newer version, sorted.
  private(set) var keys: [Int64]
  /// Positions in the older order, ascending.
  private(set) var deletions: [Int] = []
  /// Positions in the newer order, ascending.
  private(set) var insertions: [Int] = []

  /// An element of the older order that may leave its place.
  private struct Leaver {
    let position: Int
    /// How many stay before it.
    let gap: Int
  }

  /// Nil for anything but all objects of a class sorted by their own properties, and when a new
  /// sort costs less.
  /// - Parameters:
  ///   - old: The sorted keys of the older version.
  ///   - elements: The elements with this content.
  ///   - round: The step to the newer version.
  /// - Throws: `EngineError` when a row cannot be read.
  /// - Complexity: O(keys + changes × log keys).
  init?(_ old: [Int64], _ elements: Elements, _ round: NotificationRound) throws(EngineError) {
    guard case .table(let access) = elements.origin, elements.steps.count == 1,
      case .sorted(let descriptors) = elements.steps[0], !round.isRemade(access.info)
    else { return nil }
    let ordering = Ordering(descriptors, round.newerCore.access(access.info))
    guard let columns = ordering.ownColumns else { return nil }
    keys = old
    guard let table = round.changes(of: access.info) else { return }
    // A column that is another than before has other values in rows that did not change.
    let others = table.addedColumns + table.renamedColumns.map(\.to)
    guard columns.allSatisfy({ !others.contains($0) }) else { return nil }
    let moved = table.modifications.filter { row in columns.contains { row.changes($0) } }
      .map(\.key)
    let (leaving, entering) = (table.deletions + moved, moved + table.insertions)
    guard leaving.count + entering.count <= old.count / Self.changedShare else { return nil }
    guard !leaving.isEmpty || !entering.isEmpty else { return }
    try merge(leaving: leaving, entering: entering, ordering)
  }

  private mutating func merge(
    leaving: [Int64], entering: [Int64], _ ordering: Ordering
  ) throws(EngineError) {
    let (kept, leavers) = split(KeySet(leaving))
    let placed = try Placement(entering, in: kept, ordering)
    // An element with as many elements before it as in the old order stays, if the kept ones
    // ascend.
    var candidates: [(new: Int, old: Int)] = []
    for (index, key) in placed.keys.enumerated() {
      guard let leaver = leavers[key], leaver.gap == placed.gaps[index] else { continue }
      candidates.append((index, leaver.position))
    }
    let staying = SequenceDifference.ascending(candidates)
    let stays = Set(staying.map(\.old))
    deletions = leavers.values.map(\.position).filter { !stays.contains($0) }.sorted()
    var next = staying[...]
    for (index, gap) in placed.gaps.enumerated() {
      if next.first?.new == index { next.removeFirst() } else { insertions.append(gap + index) }
    }
    keys = placed.merged(with: kept)
  }

  /// The keys without those that may leave, and the places of the latter.
  private func split(_ leaving: KeySet) -> (kept: [Int64], leavers: [Int64: Leaver]) {
    guard !leaving.isEmpty else { return (keys, [:]) }
    var leavers: [Int64: Leaver] = [:]
    var kept: [Int64] = []
    kept.reserveCapacity(keys.count)
    for (position, key) in keys.enumerated() {
      if leaving.contains(key) {
        leavers[key] = Leaver(position: position, gap: kept.count)
      } else {
        kept.append(key)
      }
    }
    return (kept, leavers)
  }

  /// The positions of some objects, without those that are insertions.
  /// - Complexity: O(keys).
  func positions(of objects: Set<Int64>) -> [Int] {
    guard !objects.isEmpty else { return [] }
    let wanted = KeySet(objects)
    var inserted = insertions[...]
    var found: [Int] = []
    for (position, key) in keys.enumerated() where wanted.contains(key) {
      while let next = inserted.first, next < position { inserted.removeFirst() }
      if inserted.first != position { found.append(position) }
    }
    return found
  }
}

/// The places of some objects among others that are sorted.
private struct Placement {
  /// The objects in their order.
  private(set) var keys: [Int64]
  /// How many of the others sort before each.
  private(set) var gaps: [Int]

  init(
    _ objects: [Int64], in others: [Int64], _ ordering: Ordering
  ) throws(EngineError) {
    keys = try ordering.sorted(objects.sorted())
    gaps = Array(repeating: 0, count: keys.count)
    // The middle one first: those before it belong before it, so each search is short.
    var open = [(own: 0..<keys.count, among: 0..<others.count)]
    while let (own, among) = open.popLast() {
      guard !own.isEmpty else { continue }
      let middle = (own.lowerBound + own.upperBound) / 2
      let row = try ordering.row(keys[middle])
      var (low, high) = (among.lowerBound, among.upperBound)
      while low < high {
        let probe = (low + high) / 2
        if try ordering.precedes(others[probe], row) { low = probe + 1 } else { high = probe }
      }
      gaps[middle] = low
      open.append((own.lowerBound..<middle, among.lowerBound..<low))
      open.append((middle + 1..<own.upperBound, low..<among.upperBound))
    }
  }

  /// All of them in their order.
  func merged(with others: [Int64]) -> [Int64] {
    var merged: [Int64] = []
    merged.reserveCapacity(others.count + keys.count)
    var start = 0
    for (key, gap) in zip(keys, gaps) {
      merged += others[start..<gap]
      merged.append(key)
      start = gap
    }
    return merged + others[start...]
  }
}
