// UnitTableBuilder+Syncs.swift: what a sync makes durable.
// Invariant: the set that becomes durable is closed downward under the dependencies in force.

import LabCore
import Recording

extension UnitTableBuilder {
  mutating func sync(
    file inode: InodeNumber, dataOnly: Bool, flags: OperationFlags
  ) throws(LabError) {
    if flags.contains(.ignored) { return }
    let record = try progress(of: inode)
    if flags.contains(.failed) {
      if model.failedSyncDropsData { drop(record.pendingData) }
      return
    }
    if model.syncCoverage == .everything { return makeAllDurable() }
    var roots = record.pendingData.filter { droppedFrom[$0] == UnitTable.never }
    roots += record.pendingSize
    if !dataOnly, [.object, .objectAndNames].contains(model.syncCoverage) {
      roots += record.pendingAttributes
    }
    if model.syncCoverage == .objectAndNames { roots += names(of: record, dataOnly: dataOnly) }
    if model.syncCoverage == .journalOfInode {
      if let touch = dataOnly ? record.lastDataTouch : record.lastTouch { roots.append(touch) }
      let hasGrown = record.pendingSize.contains { isPending($0) && units[$0].kind == .growth }
      // Growth dirtied the inode in a transaction no older than the journal was when it grew.
      if hasGrown, let journal = record.journalAtGrowth { roots.append(journal) }
    }
    makeDurable(roots)
    let stillPending = record.pendingData.filter { isPending($0) }
    update(inode) {
      $0.pendingData = stillPending
      $0.pendingSize = []
      $0.delayedData = []
      $0.delayedPages = []
      if !dataOnly {
        $0.pendingAttributes = []
        $0.pendingNames = []
      }
    }
    forgetDurableOrder(inode)
  }

  mutating func sync(directory inode: InodeNumber, flags: OperationFlags) throws(LabError) {
    if flags.contains(.ignored) || flags.contains(.failed) { return }
    let record = try progress(of: inode)
    switch model.syncCoverage {
    case .everything: makeAllDurable()
    case .object:
      makeDurable(record.pendingEntries + record.pendingAttributes)
      update(inode) {
        $0.pendingEntries = []
        $0.pendingAttributes = []
      }
    case .objectAndNames:
      makeDurable(
        record.pendingEntries + record.pendingAttributes + names(of: record, dataOnly: false))
      update(inode) {
        $0.pendingEntries = []
        $0.pendingAttributes = []
        $0.pendingNames = []
      }
    case .journalOfInode:
      if let touch = record.lastTouch { makeDurable([touch]) }
      update(inode) { $0.pendingEntries = [] }
    }
  }

  /// sync, syncfs: what fsync of every file and directory makes durable, in one step (sync(2)).
  mutating func syncAll(late: Int, flags: OperationFlags) {
    if flags.contains(.ignored) || flags.contains(.failed) { return }
    let end = event - late
    let units = self.units[firstUnsynced...]
    var covered: [Int] = []
    for unit in units where unit.event < end || writtenBack.contains(unit.id) {
      if droppedFrom[unit.id] == UnitTable.never { covered.append(unit.id) }
    }
    makeDurable(covered)
    for effect in units.lazy.flatMap(\.effects) {
      let inode = effect.syncedInode
      update(inode) { record in
        record.pendingData.removeAll { !isPending($0) }
        record.pendingSize.removeAll { !isPending($0) }
        record.pendingAttributes.removeAll { !isPending($0) }
        record.pendingEntries.removeAll { !isPending($0) }
        record.delayedData = []
        record.delayedPages = []
      }
      if case .setEntry(_, _, let named) = effect {
        update(named) { record in record.pendingNames.removeAll { !isPending($0) } }
      }
      forgetDurableOrder(inode)
    }
    firstUnsynced = units.firstIndex { $0.event >= end } ?? self.units.count
    if late == 0 { writtenBack = [] }
  }

  /// Units that gave an inode its names, or for fdatasync its first one, with the creations of the
  /// directories that contain these names.
  private func names(of record: InodeProgress, dataOnly: Bool) -> [Int] {
    var open = dataOnly ? [record.creation].compactMap { $0 } : record.pendingNames
    var found: [Int] = []
    var seen: Set<Int> = []
    while let unit = open.popLast() {
      guard isPending(unit), seen.insert(unit).inserted else { continue }
      found.append(unit)
      for case .setEntry(let parent, _, _) in units[unit].effects {
        if let creation = inodes[parent]?.creation { open.append(creation) }
      }
    }
    return found
  }

  mutating func close(_ inode: InodeNumber) {
    guard let record = inodes[inode], record.wasEmptied else { return }
    update(inode) { $0.wasEmptied = false }
    guard model.safeCloseAfterTruncate, model.metadataOrder == .journal else { return }
    journalBarrier += (record.delayedData + record.pendingSize).filter(isPending)
  }

  /// A failed sync: the pages count as clean, though they never reached the medium.
  private mutating func drop(_ data: [Int]) {
    for unit in data
    where isPending(unit) && units[unit].kind == .data && droppedFrom[unit] == UnitTable.never {
      droppedFrom[unit] = event
    }
  }

  private mutating func makeAllDurable() {
    makeDurable(Array(firstPending..<units.count))
    firstPending = units.count
  }

  /// Makes units durable, with their dependencies and all that they supersede.
  mutating func makeDurable(_ roots: [Int]) {
    var open = roots
    var reached: [Int] = []
    var sizes: [Int] = []
    while let unit = open.popLast() {
      guard isPending(unit) else { continue }
      durableFrom[unit] = event
      reached.append(unit)
      for dependency in units[unit].dependencies
      where isPending(dependency)
        && !(isJournalOnly.contains(unit) && journalPrevious[unit] == dependency)
        && (droppedFrom[dependency] == UnitTable.never
          || units[unit].changesContent(ofFileIn: units[dependency]))
      {
        open.append(dependency)
      }
      if units[unit].kind == .explicitSize {
        sizes.append(unit)
        open += earlierSizes(than: unit)
      }
    }
    // Not before all else is reached: a superseded unit brings nothing along, and one that the sync
    // covers anyway brings what it depends on.
    for size in sizes { supersede(by: size, reached: &reached) }
    guard !reached.isEmpty else { return }
    if model.syncCoverage == .objectAndNames { relink(reached) }
    becomesDurable[event, default: []] += reached
    becomesDurable[event]?.sort()
  }

  /// Makes units that follow those taken out of the journal's order depend on what still precedes
  /// them.
  ///
  /// The units are durable although earlier ones of the journal are not; without the new
  /// dependencies, later ones would no longer wait for those. Before the sync these add nothing.
  private mutating func relink(_ reached: [Int]) {
    for unit in reached.sorted() {
      let previous = pendingJournal(from: journalPrevious[unit])
      journalPrevious[unit] = previous
      for next in journalNext.removeValue(forKey: unit) ?? [] where isPending(next) {
        journalPrevious[next] = previous
        isJournalOnly.remove(next)
        guard let previous else { continue }
        journalNext[previous, default: []].append(next)
        if !units[next].dependencies.contains(previous) {
          units[next] = units[next].waiting(for: previous)
          isJournalOnly.insert(next)
        }
      }
    }
    lastJournal = pendingJournal(from: lastJournal)
  }

  private func pendingJournal(from unit: Int?) -> Int? {
    var at = unit
    while let place = at, !isPending(place) { at = journalPrevious[place] }
    return at
  }

  /// Pending sizes of the inode that become durable with a later explicit one.
  private func earlierSizes(than unit: Int) -> [Int] {
    guard supersedes, case .size(let inode, _)? = units[unit].effects.last else { return [] }
    return (inodes[inode]?.pendingSize ?? []).filter { size in
      size < unit && isPending(size)
        && (units[size].kind == .explicitSize || !model.delayedAllocation)
    }
  }

  /// False where sizes and data of a file are in one order, which is followed to the end.
  private var supersedes: Bool { model.dataOrder != .journal && model.dataOrder != .perFile }

  /// Makes durable what an explicit size hides: earlier sizes of the inode, and data beyond it.
  ///
  /// Otherwise they would be applied after it.
  private mutating func supersede(by unit: Int, reached: inout [Int]) {
    guard supersedes else { return }
    for case .size(let inode, let newSize) in units[unit].effects {
      guard let record = inodes[inode] else { continue }
      for hidden in record.pendingSize + record.pendingData where hidden < unit && isPending(hidden)
      {
        if let content = units[hidden].content, content.offsetBytes < newSize { continue }
        durableFrom[hidden] = event
        superseded.insert(hidden)
        reached.append(hidden)
      }
    }
    // The part of a block that the size does not hide keeps its order (R1).
    for hidden in reached where superseded.contains(hidden) {
      let earlier = contentBefore(superseded: hidden)
      guard !earlier.isEmpty else { continue }
      for next in hidden + 1..<units.count
      where isPending(next) && units[next].dependencies.contains(hidden) {
        for unit in earlier where !units[next].dependencies.contains(unit) {
          if units[next].changesContent(ofFileIn: units[unit]) {
            units[next] = units[next].waiting(for: unit)
          }
        }
      }
    }
  }

  /// Pending units that changed the content of a block before a superseded one.
  func contentBefore(superseded unit: Int) -> [Int] {
    var open = [unit]
    var seen: Set<Int> = []
    var found: [Int] = []
    while let at = open.popLast() {
      for dependency in units[at].dependencies
      where units[at].content != nil && units[at].content?.inode == units[dependency].content?.inode
      {
        guard seen.insert(dependency).inserted else { continue }
        if isPending(dependency) {
          found.append(dependency)
        } else if superseded.contains(dependency) {
          open.append(dependency)
        }
      }
    }
    return found.sorted()
  }

  /// Shortens the lists that are searched per write.
  private mutating func forgetDurableOrder(_ inode: InodeNumber) {
    guard let record = inodes[inode] else { return }
    let ranges = record.ranges.filter { isPending($0.unit) }
    let hasPending = record.pendingData.contains { isPending($0) }
    update(inode) {
      $0.ranges = ranges
      if !hasPending { $0.blocks = [:] }
    }
  }

  /// Durable cuts through data that was still pending then: their effect waits for that data, and
  /// later sizes of the same inode wait with them.
  func deferrals() -> [Int: Int] {
    var result: [Int: Int] = [:]
    for (cut, data) in straddled where durableFrom[cut] != UnitTable.never {
      let until = data.map { durableFrom[$0] }.max() ?? 0
      guard until > durableFrom[cut] else { continue }
      guard case .size(let inode, _)? = units[cut].effects.last else { continue }
      for unit in units[cut...] where durableFrom[unit.id] < until {
        for case .size(inode, _) in unit.effects {
          result[unit.id] = max(result[unit.id] ?? 0, until)
        }
      }
    }
    return result
  }
}
