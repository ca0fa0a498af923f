// CrashState.swift: one allowed set of surviving units, in addition to everything durable.
// Invariant: kept, lost and the torn unit are the pending units of the crash point, each exactly
// once; kept is closed under dependencies, including those of the torn unit.

/// One allowed set of surviving units at one crash point.
public struct CrashState: Hashable, Sendable {
  /// The power fails after this many events.
  public let crashPoint: Int
  /// Number of marks before the crash point.
  public let acknowledgedMarks: Int
  /// Pending units that survive completely, ascending.
  public let kept: [Int]
  /// Pending units that are lost completely, ascending.
  public let lost: [Int]
  /// A unit that survives in part.
  public let torn: TornWrite?

  package init(
    crashPoint: Int,
    acknowledgedMarks: Int,
    kept: [Int],
    lost: [Int],
    torn: TornWrite?
  ) {
    self.crashPoint = crashPoint
    self.acknowledgedMarks = acknowledgedMarks
    self.kept = kept
    self.lost = lost
    self.torn = torn
  }
}

/// How a crash state was chosen.
public enum Strategy: String, Hashable, Sendable, CaseIterable {
  case nothingKept, allKept, prefix, allButOne, onlyOne, pairs, torn, exhaustive, sample

  /// 1 for the structured strategies, which a budget prefers; 2 for the others.
  public var priorityClass: Int {
    switch self {
    case .exhaustive, .sample: 2
    default: 1
    }
  }
}

/// A crash state as found by an exploration.
public struct ExploredState: Hashable, Sendable {
  /// Number among the distinct states of the exploration.
  public let ordinal: Int
  /// The state.
  public let state: CrashState
  /// How it was chosen.
  public let strategy: Strategy
  /// Hash of the reachable tree.
  public let contentHash: ContentHash
}
