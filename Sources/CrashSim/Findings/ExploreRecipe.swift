// ExploreRecipe.swift: how to reproduce one crash state of an explored program.

import CrashStates
import FaultFS
import Recording

/// A crash state of any program.
public struct ExploreRecipe: Codable, Sendable, Hashable {
  /// Shell command that is recorded.
  public var workload: String
  /// Shell command that judges; empty where none was given.
  public var check: String
  /// How states are judged without a checker; nil where one was given.
  public var judging: JudgingOptions?
  /// Shell command that prepares the directory, if any.
  public var setup: String?
  /// Persistence model, as `PersistenceModel.chosen` takes it.
  public var model: String
  /// Seed of the run.
  public var seed: UInt64
  /// The state: see `StateKey`.
  public var state: String
  /// Shape of the trace that the state belongs to; on a real file system, up to the crash point.
  public var shape: String
  /// Time limit of one check.
  public var timeoutSeconds: Int
  /// Events of syncs that the disk ignores; nil where all work.
  public var ignoredSyncs: [Int]?
  /// When mapped pages are written back; nil where the kernel decides.
  public var writeBack: PageWriteBack?
  /// What direct reads and writes must be aligned to; nil where every one passes.
  public var directAlignment: DirectAlignment?
  /// What of the output is one acknowledgement; nil, as in older tokens, is each write.
  public var marks: MarkUnit?
  /// Whether the checker is a process that stays; nil is no.
  public var checkStays: Bool?
  /// Fault rules in force while it was recorded; nil where there were none.
  public var faults: [FaultRule]?
  /// The real file system that it was recorded on, as `--on` takes it; nil for FaultFS itself.
  public var fileSystem: String?
  /// Whether the file system's own checker judged too; nil is no.
  public var runsFsck: Bool?

  /// What recovers after a crash; nil where no crash during recovery is meant.
  public var recover: String?
  /// The crashes that it recovered from, in order.
  ///
  /// `state` is one of the last recovery then, or `RecoveredCrash.refusal`; `shape` is the
  /// workload's.
  public var recovered: [RecoveredCrash]?

  /// Faults of the medium at rest, instead of a crash state.
  public var media: MediaState?
  /// With so many of them the checker must find the content right; nil is none.
  public var survivedFaults: Int?

  /// Makes a recipe.
  public init(
    workload: String, check: String, setup: String?, model: String, seed: UInt64, state: String,
    shape: String, timeoutSeconds: Int
  ) {
    self.workload = workload
    self.check = check
    self.setup = setup
    self.model = model
    self.seed = seed
    self.state = state
    self.shape = shape
    self.timeoutSeconds = timeoutSeconds
  }
}

extension ExploreRecipe {
  /// The recipe among the other kinds that a token can hold: `ReplayRecipe.explore` reads it.
  private enum Kind: Encodable {
    case explore(ExploreRecipe)
  }

  /// What `faultline replay` takes.
  public var token: String { ReplayToken.encode(Kind.explore(self)) }
}
