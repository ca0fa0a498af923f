// EnumerationRun.swift: one pass over all crash points of a trace.
// Invariants: crash points come in order; a proposal is shown once per crash point; a state is
// distinct when no earlier one with the same acknowledged marks had the same content.

/// A distinct state, not yet spelled out.
struct FoundState {
  let ordinal: Int
  let crashPoint: Int
  let strategy: Strategy
  let kept: [Int]
  let torn: TornWrite?
  let contentHash: ContentHash
  let window: PendingWindow

  /// The state spelled out.
  func exploredState() -> ExploredState {
    let isKept = Set(kept)
    let state = CrashState(
      crashPoint: crashPoint, acknowledgedMarks: window.table.acknowledgedMarks(at: crashPoint),
      kept: kept, lost: window.ids.filter { !isKept.contains($0) && $0 != torn?.unit }, torn: torn)
    return ExploredState(
      ordinal: ordinal, state: state, strategy: strategy, contentHash: contentHash)
  }
}

/// One pass over all crash points of a trace.
final class EnumerationRun {
  private let enumerator: CrashStateEnumerator
  let builder: ImageBuilder
  private var window: PendingWindow
  private var seen = Deduplicator()
  private var proposed: Set<ContentHash> = []
  private(set) var candidates = 0
  private(set) var explored = 0
  private(set) var bound = StateBound()
  var isStopped = false

  init(_ enumerator: CrashStateEnumerator) throws(LabError) {
    self.enumerator = enumerator
    builder = try ImageBuilder(table: enumerator.table, limits: enumerator.options.limits)
    window = PendingWindow(table: enumerator.table)
  }

  /// Goes through all crash points.
  /// - Parameters:
  ///   - distinct: Gets each distinct state; the builder shows it.
  ///   - duplicate: Gets the ordinal of a state that was found again, and by which strategy.
  /// - Throws: `LabError` when an image outgrows its limits or the lab is asked to stop, and what
  ///   `distinct` throws.
  func enumerate(
    distinct: (FoundState) throws(LabError) -> Void, duplicate: (Int, Strategy) -> Void
  ) throws(LabError) {
    let last = enumerator.table.crashPointCount - 1
    for crashPoint in 0...last where !isStopped {
      try Interruption.check()
      if crashPoint > 0 { window.advance() }
      try builder.advance(to: crashPoint)
      bound.add(window.bound)
      let news = self.news(at: crashPoint, last: last)
      guard news != .none else { continue }
      window.isFull = news == .all
      try explore(distinct: distinct, duplicate: duplicate)
    }
  }

  /// Which states of a crash point can be new.
  private enum News {
    case none, newestUnits, all
  }

  private func news(at crashPoint: Int, last: Int) -> News {
    guard crashPoint > 0 else { return .all }
    let event = enumerator.table.trace.events[crashPoint - 1]
    switch event.body {
    case .mark:
      seen.removeAll()
      return .all
    case .operation(let operation):
      if crashPoint == last { return .all }
      switch operation {
      // A sync takes states away, but a failed one lifts the order that its data had.
      case .sync, .syncDirectory: return event.flags.contains(.failed) ? .all : .none
      default: return window.newest.isEmpty ? .none : .newestUnits
      }
    }
  }

  private func explore(
    distinct: (FoundState) throws(LabError) -> Void, duplicate: (Int, Strategy) -> Void
  ) throws(LabError) {
    proposed.removeAll(keepingCapacity: true)
    let context = StrategyContext(
      window: window, options: enumerator.options, seed: enumerator.seed)
    for strategy in allStrategies where !isStopped {
      try strategy.propose(context) { (kept, torn) throws(LabError) in
        guard !isStopped, torn != nil || window.isNew(kept) else { return }
        candidates += 1
        let ids = kept.members(of: window.ids)
        guard proposed.insert(Self.fingerprint(ids, torn)).inserted else { return }
        explored += 1
        let hash = try builder.show(kept: ids, torn: torn)
        switch seen.insert(hash) {
        case .old(let ordinal): duplicate(ordinal, strategy.name)
        case .new(let ordinal):
          try distinct(
            FoundState(
              ordinal: ordinal, crashPoint: window.crashPoint, strategy: strategy.name, kept: ids,
              torn: torn, contentHash: hash, window: window))
        }
      }
    }
  }

  private static func fingerprint(_ ids: [Int], _ torn: TornWrite?) -> ContentHash {
    var hash = ContentHash(low: UInt64(ids.count))
    for id in ids { hash = hash.mixed(with: UInt64(id)) }
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
