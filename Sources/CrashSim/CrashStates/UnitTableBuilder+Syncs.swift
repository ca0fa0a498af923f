// UnitTableBuilder+Syncs.swift: what a sync makes durable.
// Invariant: what becomes durable is closed downward under the dependencies in force.

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
    if !dataOnly, model.syncCoverage == .object { roots += record.pendingAttributes }
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
      if !dataOnly { $0.pendingAttributes = [] }
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
    case .journalOfInode:
      if let touch = record.lastTouch { makeDurable([touch]) }
      update(inode) { $0.pendingEntries = [] }
    }
  }

  mutating func close(_ inode: InodeNumber) {
    guard let record = inodes[inode], record.wasEmptied else { return }
    update(inode) { $0.wasEmptied = false }
    guard model.safeCloseAfterTruncate, model.metadataOrder == .journal else { return }
    journalBarrier += (record.delayedData + record.pendingSize).filter(isPending)
  }

  /// A failed sync: the pages count as clean, though the medium never got them.
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

  /// Makes units durable, with all that they depend on and all that they supersede.
  private mutating func makeDurable(_ roots: [Int]) {
    var open = roots
    var reached: [Int] = []
    while let unit = open.popLast() {
      guard isPending(unit) else { continue }
      durableFrom[unit] = event
      reached.append(unit)
      for dependency in units[unit].dependencies
      where isPending(dependency)
        && (droppedFrom[dependency] == UnitTable.never
          || units[unit].changesContent(ofFileIn: units[dependency]))
      {
        open.append(dependency)
      }
      if units[unit].kind == .explicitSize { supersede(by: unit, open: &open, reached: &reached) }
    }
    guard !reached.isEmpty else { return }
    becomesDurable[event, default: []] += reached
    becomesDurable[event]?.sort()
  }

  /// Makes durable what an explicit size hides: earlier sizes of the inode, and data beyond itself.
  ///
  /// They would otherwise be applied after it.
  private mutating func supersede(by unit: Int, open: inout [Int], reached: inout [Int]) {
    for case .size(let inode, let newSize) in units[unit].effects {
      guard let record = inodes[inode] else { continue }
      for size in record.pendingSize where size < unit && isPending(size) {
        if units[size].kind == .explicitSize {
          open.append(size)
        } else {
          durableFrom[size] = event
          superseded.insert(size)
          reached.append(size)
        }
      }
      for data in record.pendingData where data < unit && isPending(data) {
        guard case .data(_, let offset, _, _)? = units[data].effects.first, offset >= newSize
        else { continue }
        durableFrom[data] = event
        superseded.insert(data)
        reached.append(data)
      }
    }
  }

  /// Keeps the lists that are searched per write short.
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
