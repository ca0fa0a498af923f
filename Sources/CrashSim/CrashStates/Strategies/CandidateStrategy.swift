// CandidateStrategy.swift: what the strategies share: each proposes kept sets for one crash point.
// Invariant: a strategy's proposals depend only on the window, the options and the seed.

import LabCore

/// Sizes of an exploration.
public struct ExplorationOptions: Sendable, Hashable {
  /// Crash points with at most this many pending units are explored exhaustively.
  public var exhaustiveUpTo: Int
  /// Seeded samples per crash point with more.
  public var samplesPerCrashPoint: Int
  /// Probabilities with which a sample keeps a unit, in turn.
  public var keepChances: [Ratio]
  /// Most units that prefixes, all-but-one and only-one iterate over per crash point.
  public var unitsPerStrategy: Int
  /// Approximate limit of the units in all proposals of one strategy at one crash point.
  public var unitsPerCrashPoint: Int
  /// Approximate number of units from which on only some crash points get samples.
  public var unitsPerSample = 8192
  /// Units next to a sync that are combined in pairs.
  public var pairedUnits: Int
  /// Most data units torn per crash point.
  public var tornUnits: Int
  /// Bounds of a crash image.
  public var limits: ImageLimits
  /// Whether states that differ only in chosen modification times are distinct.
  public var comparesTimes = false

  /// Makes options.
  public init(
    exhaustiveUpTo: Int = 12, samplesPerCrashPoint: Int = 32,
    keepChances: [Ratio] = [Ratio(1, in: 8), Ratio(1, in: 2), Ratio(7, in: 8)],
    unitsPerStrategy: Int = 256, unitsPerCrashPoint: Int = 65_536, pairedUnits: Int = 16,
    tornUnits: Int = 4,
    limits: ImageLimits = ImageLimits()
  ) {
    self.exhaustiveUpTo = exhaustiveUpTo
    self.samplesPerCrashPoint = samplesPerCrashPoint
    self.keepChances = keepChances
    self.unitsPerStrategy = unitsPerStrategy
    self.unitsPerCrashPoint = unitsPerCrashPoint
    self.pairedUnits = pairedUnits
    self.tornUnits = tornUnits
    self.limits = limits
  }
}

/// The input of a strategy.
struct StrategyContext {
  let window: PendingWindow
  let options: ExplorationOptions
  let seed: Seed

  /// Most units that a strategy iterates over: fewer where there are so many pending units that
  /// every proposal is costly, so that the time for a trace without syncs is proportional to its
  /// length.
  var unitLimit: Int { limited(options.unitsPerStrategy, atLeast: 8) }

  /// Number of samples, reduced in the same way.
  var sampleLimit: Int { limited(options.samplesPerCrashPoint, atLeast: 2) }

  /// True for a strategy that skips this crash point: where there are so many pending units that
  /// one proposal is costly, only some crash points between two writes get more than the state that
  /// keeps all units.
  func leavesOut(_ strategy: Strategy) -> Bool {
    if strategy == .allKept || isNearPromise { return false }
    let units = strategy == .sample ? options.unitsPerSample : options.unitsPerCrashPoint
    let stride = max(1, 4 * window.count / units)
    return window.crashPoint % stride != 0
  }

  /// Next to a mark or a sync, more proposals are worthwhile than between two writes.
  private var isNearPromise: Bool { window.isFull || window.isBeforeSync }

  private func limited(_ wanted: Int, atLeast least: Int) -> Int {
    let units = options.unitsPerCrashPoint / (isNearPromise ? 1 : 4)
    return min(wanted, max(least, units / max(1, window.count)))
  }
}

/// Accepts a proposed kept set, with an optional torn write.
typealias Proposal = (KeptSet, TornWrite?) throws(LabError) -> Void

/// Proposes kept sets for one crash point.
protocol CandidateStrategy: Sendable {
  var name: Strategy { get }
  func propose(_ context: StrategyContext, _ emit: Proposal) throws(LabError)
}

/// All strategies, structured ones first.
let allStrategies: [any CandidateStrategy] = [
  AllKeptStrategy(), NothingKeptStrategy(), PrefixStrategy(), AllButOneStrategy(),
  OnlyOneStrategy(), PairsStrategy(), TornStrategy(), ExhaustiveStrategy(), SampleStrategy(),
]
