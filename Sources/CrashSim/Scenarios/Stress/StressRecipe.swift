// StressRecipe.swift: how to reproduce one round of a stress run, as a replay token holds it.

import FaultFS

/// A round of a stress run that failed: how to come to it again.
public struct StressRecipe: Codable, Sendable, Hashable {
  /// The commands.
  public var program: StressProgram
  /// Persistence model, as `PersistenceModel.chosen` takes it.
  public var model: String
  /// Seed of the run.
  public var seed: UInt64
  /// Fault rules in force.
  public var faults: [FaultRule]
  /// How mapped pages are written back, if they are.
  public var writeBack: PageWriteBack?
  /// How the built-in workload worked, if it was that.
  public var load: EngineLoadOptions?
  /// The round whose tree was the setup's.
  public var firstRound: Int
  /// For that round and each after it, up to the one that failed: the events after which the
  /// processes were killed, the last time with the power; `atEnd` is when the workload had ended.
  public var stops: [[Int]]
  /// The state (see `StateKey`); nil when a command failed before the power went.
  public var state: String?
  /// Shape of the failing round's trace.
  public var shape: String
  /// Time limit of the commands.
  public var timeoutSeconds: Int

  /// Stands for the workload's own end, in `stops`.
  static let atEnd = -1

  /// The round that failed.
  public var round: Int { firstRound + stops.count - 1 }
}
