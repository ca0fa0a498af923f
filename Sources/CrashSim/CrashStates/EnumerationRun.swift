// EnumerationRun.swift: one pass over all crash points of a trace.
// Invariants: crash points come in order; a proposal is shown once per crash point; a state is
// distinct when no earlier one with the same acknowledged marks had the same content.

import LabCore
import Recording

/// One pass over all crash points of a trace.
final class EnumerationRun {
  private let enumerator: CrashStateEnumerator
  let builder: ImageBuilder
  private var window: PendingWindow
  private var seen = Deduplicator()
  private var proposed: Set<ContentHash> = []
  /// Places of which a state must lose at least one; nil when every state counts.
  private var securedPlaces: [Int]?
  private(set) var candidates = 0
  private(set) var explored = 0
  /// The explored proposals that showed a distinct state.
  private(set) var proposals = ProposalRecord()
  private(set) var bound = StateBound()
  var isStopped = false

  init(_ enumerator: CrashStateEnumerator) throws(LabError) {
    self.enumerator = enumerator
    builder = try ImageBuilder(
      table: enumerator.table, limits: enumerator.options.limits,
      comparesTimes: enumerator.options.comparesTimes)
    window = PendingWindow(table: enumerator.table)
  }

  /// Iterates over all crash points.
  /// - Parameters:
  ///   - distinct: Called with the ordinal of each distinct state, the strategy that found it, the
  ///     file with a partial write in it, and an identifier of the set of call stacks that lost
  ///     something, if the trace has call stacks.
  ///   - duplicate: Called with the ordinal of a state that was found again, and the strategy.
  /// - Throws: `LabError` when an image exceeds its limits or the run is interrupted.
  func enumerate(
    distinct: (Int, Strategy, InodeNumber?, ContentHash?) -> Void,
    duplicate: (Int, Strategy) -> Void
  ) throws(LabError) {
    let last = enumerator.table.crashPointCount - 1
    var images = ImagePair(builder)
    for crashPoint in 0...last where !isStopped {
      try Interruption.check()
      if crashPoint > 0 { window.advance() }
      proposals.beginCrashPoint()
      try builder.advance(to: crashPoint)
      let news = self.news(at: crashPoint, last: last)
      if securedPlaces?.isEmpty != true { bound.add(window.bound) }
      guard news != .none else { continue }
      window.isFull = news == .all
      // Copied once instead of for each state.
      let window = window
      try propose { (kept, torn, strategy) throws(LabError) in
        let ids = kept.members(of: window.ids)
        let hash = try images.show(kept, ids: ids, torn: torn, in: window)
        switch seen.insert(hash) {
        case .old(let ordinal):
          proposals.add(isDistinct: false)
          duplicate(ordinal, strategy.name)
        case .new(let ordinal):
          proposals.add(isDistinct: true)
          distinct(
            ordinal, strategy.name, tornFile(kept, torn, strategy.name), stackSet(losing: kept))
        }
      }
    }
  }

  /// The file with a partial write; nil when the state was not proposed for that.
  private func tornFile(_ kept: KeptSet, _ torn: TornWrite?, _ strategy: Strategy) -> InodeNumber? {
    let table = enumerator.table
    var unit = torn?.unit
    if strategy == .allButOne, let lost = window.ids.indices.first(where: { !kept.contains($0) }) {
      unit = window.ids[lost]
    }
    guard let unit, case .data(let inode, _, _, _)? = table.units[unit].effects.first,
      torn != nil || table.units(ofEvent: table.units[unit].event).count > 1
    else { return nil }
    return inode
  }

  /// Identifies the set of call stacks of the units that a state does not keep.
  private func stackSet(losing kept: KeptSet) -> ContentHash? {
    let table = enumerator.table
    if table.trace.callStacks.stacks.isEmpty { return nil }
    var stacks: Set<Int> = []
    for (place, unit) in window.ids.enumerated() where !kept.contains(place) {
      if let stack = table.trace.events[table.units[unit].event].stack { stacks.insert(stack) }
    }
    return stacks.sorted().reduce(ContentHash(low: UInt64(stacks.count))) {
      $0.mixed(with: UInt64($1))
    }
  }

  /// Iterates over all crash points again and shows the states that a plan selects; all others are
  /// skipped by their number, without being built.
  ///
  /// With a wave, only its states are shown.
  /// - Throws: `LabError` with code `.nondeterminism` when the plan is of another exploration, and
  ///   whatever `body` throws.
  func revisit(
    _ plan: ExplorationPlan, _ shard: Shard, wave: KeptSet?,
    _ body: (ExploredState) throws(LabError) -> Void
  ) throws(LabError) {
    let last = enumerator.table.crashPointCount - 1
    guard plan.proposals.crashPointCount == last + 1 else { throw Self.otherPlan(last) }
    for crashPoint in 0...last where !isStopped {
      if crashPoint > 0 { window.advance() }
      let news = self.news(at: crashPoint, last: last)
      var (proposal, ordinal) = plan.proposals.first(at: crashPoint)
      let end = plan.proposals.first(at: crashPoint + 1)
      guard plan.selectsAny(of: ordinal..<end.ordinal, shard, wave: wave) else { continue }
      try builder.advance(to: crashPoint)
      window.isFull = news == .all
      let pending = window.ids
      try propose { (kept, torn, strategy) throws(LabError) in
        guard proposal < end.proposal else { throw Self.otherPlan(crashPoint) }
        defer { proposal += 1 }
        guard plan.proposals.isDistinct(proposal) else { return }
        defer { ordinal += 1 }
        guard ordinal % shard.count == shard.index,
          wave?.contains(ordinal) ?? plan.selects(ordinal)
        else { return }
        let ids = kept.members(of: pending)
        let hash = try builder.show(kept: ids, torn: torn)
        let state = CrashState(
          crashPoint: crashPoint,
          acknowledgedMarks: enumerator.table.acknowledgedMarks(at: crashPoint), kept: ids,
          lost: Self.lost(of: pending, keeping: ids, torn), torn: torn)
        try body(
          ExploredState(
            ordinal: ordinal, state: state, strategy: strategy.name, contentHash: hash))
      }
      guard isStopped || proposal == end.proposal else { throw Self.otherPlan(crashPoint) }
    }
  }

  /// The pending units that a state loses completely.
  private static func lost(of pending: [Int], keeping kept: [Int], _ torn: TornWrite?) -> [Int] {
    var lost: [Int] = []
    lost.reserveCapacity(pending.count - kept.count)
    var next = 0
    // Both lists are ascending.
    for id in pending {
      if next < kept.count, kept[next] == id {
        next += 1
      } else if id != torn?.unit {
        lost.append(id)
      }
    }
    return lost
  }

  private static func otherPlan(_ crashPoint: Int) -> LabError {
    LabError(.nondeterminism, "the plan does not fit the states at crash point \(crashPoint)")
  }

  /// The states of a crash point that can be new.
  private enum News {
    case none, newestUnits, all
  }

  private func news(at crashPoint: Int, last: Int) -> News {
    securedPlaces = enumerator.secured?.places(in: window)
    guard crashPoint > 0 else { return securedPlaces?.isEmpty == true ? .none : .all }
    let event = enumerator.table.trace.events[crashPoint - 1]
    if case .mark = event.body { seen.removeAll() }
    if securedPlaces?.isEmpty == true { return .none }
    switch event.body {
    case .mark: return .all
    case .operation(let operation):
      if crashPoint == last { return .all }
      switch operation {
      // A sync removes states, but a failed one releases the order of its data, and one that takes
      // units out of the journal's order releases theirs.
      case .sync, .syncDirectory, .syncAll:
        let liftsOrder =
          enumerator.table.model.syncCoverage == .objectAndNames
          && enumerator.table.becomesDurable[crashPoint - 1] != nil
        return event.flags.contains(.failed) || liftsOrder ? .all : .none
      default: return window.newest.isEmpty ? .none : .newestUnits
      }
    }
  }

  /// Passes on each distinct proposal of the crash point.
  private func propose(
    _ body: (KeptSet, TornWrite?, any CandidateStrategy) throws(LabError) -> Void
  ) throws(LabError) {
    proposed.removeAll(keepingCapacity: true)
    let window = window
    let context = StrategyContext(
      window: window, options: enumerator.options, seed: enumerator.seed)
    for strategy in allStrategies where !isStopped && !context.leavesOut(strategy.name) {
      try strategy.propose(context) { (kept, torn) throws(LabError) in
        guard !isStopped, torn != nil || window.isNew(kept) else { return }
        if let securedPlaces, securedPlaces.allSatisfy({ kept.contains($0) }) { return }
        candidates += 1
        guard proposed.insert(Self.fingerprint(kept, torn)).inserted else { return }
        explored += 1
        try body(kept, torn, strategy)
      }
    }
  }

  private static func fingerprint(_ kept: KeptSet, _ torn: TornWrite?) -> ContentHash {
    var hash = ContentHash(low: UInt64(kept.count))
    for word in kept.words { hash = hash.mixed(with: word) }
    guard let torn else { return hash }
    hash = hash.mixed(with: UInt64(torn.unit) << 1 | 1)
    hash = hash.mixed(with: UInt64(torn.keptSectors.lowerBound) << 32)
    hash = hash.mixed(with: UInt64(torn.keptSectors.upperBound))
    switch torn.rest {
    case .old: return hash.mixed(with: 1)
    case .zeros: return hash.mixed(with: 2)
    case .garbage: return hash.mixed(with: 3)
    }
  }
}
