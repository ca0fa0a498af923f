// CrashStateEnumerator.swift: iterates over the crash states of a trace, in the same order every
// time. Pass 1 (`plan`) counts and selects; pass 2 (`visit`) shows the selected states.
// Invariant: the set of states, their order and their ordinals depend only on trace, model, seed
// and options; budget and shard select among them.

import LabCore
import Recording

/// Whether an exploration continues.
public enum VisitDecision: Sendable, Hashable {
  case goOn, stop
}

/// Iterates over the crash states of a trace.
public struct CrashStateEnumerator: Sendable {
  /// The trace's units under the model.
  public let table: UnitTable
  /// Seed of samples, garbage and budget choices.
  public let seed: Seed
  /// Sizes.
  public let options: ExplorationOptions
  /// Shape of the trace as recorded, regardless of ignored syncs.
  package let shape: String
  /// What ignored syncs would have secured; if set, only states that lose some of it count.
  let secured: SecuredUnits?

  /// Prepares an exploration.
  /// - Parameters:
  ///   - trace: The run.
  ///   - model: The rules.
  ///   - seed: Seed of all choices.
  ///   - options: Sizes.
  ///   - ignoredSyncs: Events of syncs that the disk ignores; if given, only states that these
  ///     syncs would have prevented are visited.
  /// - Throws: `LabError` when the trace or the model is invalid, or an event is not a sync.
  /// - Complexity: O(events + units).
  public init(
    trace: Trace, model: PersistenceModel, seed: Seed,
    options: ExplorationOptions = ExplorationOptions(), ignoring ignoredSyncs: [Int] = []
  ) throws(LabError) {
    shape = trace.shape
    table = try UnitTable(trace: try trace.ignoring(ignoredSyncs), model: model)
    secured =
      ignoredSyncs.isEmpty
      ? nil : SecuredUnits(with: try UnitTable(trace: trace, model: model), without: table)
    self.seed = seed
    self.options = options
  }

  /// Pass 1: counts the distinct states and selects those within a budget.
  /// - Parameters:
  ///   - budget: Most states to visit; nil for all.
  ///   - inWaves: Whether the most informative states are visited first, for a visit that may be
  ///     cut short; otherwise they are in the order of their crash points, which takes one pass.
  /// - Returns: The counts and the selection.
  /// - Throws: `LabError` when an image exceeds its limits.
  public func plan(
    budget: Int? = nil, inWaves: Bool = false
  ) throws(LabError) -> ExplorationPlan {
    var record = PlanRecord()
    let run = try EnumerationRun(self)
    try run.enumerate(
      distinct: { record.add($0, $1, $2, $3) },
      duplicate: { record.upgrade($0, to: $1) })
    return record.plan(
      budget: budget, inWaves: inWaves, seed: seed.derived("budget"), explored: run.explored,
      candidates: run.candidates, bound: run.bound, proposals: run.proposals,
      of: table.trace)
  }

  /// Pass 2: shows the selected states in the plan's order; with waves, in one pass per wave.
  /// - Parameters:
  ///   - plan: The result of `plan(budget:)` of an equal enumerator.
  ///   - shard: The part to visit.
  ///   - body: Called with each state and its image, which is valid until it returns.
  /// - Throws: `LabError` of the image or of the closure.
  public func visit(
    _ plan: ExplorationPlan, shard: Shard = .whole,
    _ body: (ExploredState, CrashImage) throws(LabError) -> VisitDecision
  ) throws(LabError) {
    for wave in plan.waves.map({ $0.map(Optional.some) }) ?? [nil] {
      let run = try EnumerationRun(self)
      try run.revisit(plan, shard, wave: wave) { (found) throws(LabError) in
        let decision = try body(found, run.builder.image)
        if decision == .stop { run.isStopped = true }
      }
      if run.isStopped { return }
    }
  }

  /// The state of a key.
  /// - Throws: `LabError` with code `.usage` when the key belongs to another model or trace.
  public func state(for key: StateKey) throws(LabError) -> CrashState { try table.state(for: key) }

  /// The key of a state.
  public func key(of state: CrashState) -> StateKey { StateKey(state, of: table) }

  /// Shows one state, built from the start of the trace.
  /// - Complexity: O(bytes of the units up to the crash point).
  public func withImage<Result>(
    of state: CrashState, _ body: (CrashImage) throws(LabError) -> Result
  ) throws(LabError) -> Result {
    let images = try CrashPointImages(table: table, at: state.crashPoint, limits: options.limits)
    return try images.withImage(of: state, body)
  }
}

/// Images of several states of one crash point, each built from the previous one.
public final class CrashPointImages {
  private let builder: ImageBuilder

  /// The crash point.
  public var crashPoint: Int { builder.crashPoint }

  /// Builds the durable tree of a crash point.
  public init(
    table: UnitTable, at crashPoint: Int, limits: ImageLimits = ImageLimits()
  ) throws(LabError) {
    builder = try ImageBuilder(table: table, limits: limits)
    try builder.advance(to: crashPoint)
  }

  /// Shows a state of the crash point; the image is valid until the closure returns.
  public func withImage<Result>(
    of state: CrashState, _ body: (CrashImage) throws(LabError) -> Result
  ) throws(LabError) -> Result {
    precondition(state.crashPoint == builder.crashPoint, "a state of another crash point")
    try builder.show(kept: state.kept, torn: state.torn)
    return try body(builder.image)
  }

  /// Hash of the reachable tree of a state.
  public func contentHash(of state: CrashState) throws(LabError) -> ContentHash {
    precondition(state.crashPoint == builder.crashPoint, "a state of another crash point")
    return try builder.show(kept: state.kept, torn: state.torn)
  }
}
