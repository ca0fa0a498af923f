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
  /// Persistence model, as accepted by `PersistenceModel.chosen`.
  public var model: String
  /// Seed of the run.
  public var seed: UInt64
  /// The state: see `StateKey`.
  public var state: String
  /// Shape of the trace that the state belongs to; on a real file system, up to the crash point.
  public var shape: String
  /// Time limit of one check.
  public var timeoutSeconds: Int
  /// Events of syncs that the disk ignores; nil if all work.
  public var ignoredSyncs: [Int]?
  /// When mapped pages are written back; nil if the kernel decides.
  public var writeBack: PageWriteBack?
  /// Required alignment of direct reads and writes; nil accepts all.
  public var directAlignment: DirectAlignment?
  /// What of the output is one acknowledgement; nil, as in older tokens, is each write.
  public var marks: MarkUnit?
  /// Whether the checker is a process that stays; nil is no.
  public var checkStays: Bool?
  /// Fault rules in force while it was recorded; nil where there were none.
  public var faults: [FaultRule]?
  /// The real file system of the recording, in the form of `--on`; nil for FaultFS itself.
  public var fileSystem: String?
  /// Whether the file system's own checker also judged; nil is no.
  public var runsFsck: Bool?

  /// The recovery command; nil unless the crash is during recovery.
  public var recover: String?
  /// The crashes that it recovered from, in order.
  ///
  /// `state` then belongs to the last recovery, or is `RecoveredCrash.refusal`; `shape` is the
  /// workload's.
  public var recovered: [RecoveredCrash]?

  /// Faults of the medium at rest, instead of a crash state.
  public var media: MediaState?
  /// With at most this many of them the content must be right; nil is none.
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
  /// Adds the kind of recipe to a token: `ReplayRecipe.explore` decodes it.
  private enum Kind: Encodable {
    case explore(ExploreRecipe)
  }

  /// The argument of `faultline replay`.
  public var token: String { ReplayToken.encode(Kind.explore(self)) }
}
