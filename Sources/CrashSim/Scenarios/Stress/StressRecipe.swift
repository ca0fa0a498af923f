// StressRecipe.swift: how to reproduce one round of a stress run, as a replay token holds it.

import FaultFS
import Recording
import Workload

/// A round of a stress run that failed: how to come to it again.
package struct StressRecipe: Codable, Sendable, Hashable {
  /// The commands.
  package var program: StressProgram
  /// Persistence model, as `PersistenceModel.chosen` takes it.
  package var model: String
  /// Seed of the run.
  package var seed: UInt64
  /// Fault rules in force.
  package var faults: [FaultRule]
  /// How mapped pages are written back, if they are.
  package var writeBack: PageWriteBack?
  /// What of the output is one acknowledgement; nil, as in older tokens, is each write.
  package var marks: MarkUnit?
  /// How the built-in workload worked, if it was that.
  package var load: EngineLoadOptions?
  /// What its drawn history wrote, if it was one.
  package var drawn: HistoryContent?
  /// The round whose tree was the setup's.
  package var firstRound: Int
  /// For that round and each after it, up to the one that failed: the events after which the
  /// processes were killed, the last time with the power; `atEnd` is when the workload had ended.
  package var stops: [[Int]]
  /// The state (see `StateKey`); nil when a command failed before the power went.
  package var state: String?
  /// Shape of the failing round's trace.
  package var shape: String
  /// Time limit of the commands.
  package var timeoutSeconds: Int

  /// Stands for the workload's own end, in `stops`.
  static let atEnd = -1

  /// The round that failed.
  package var round: Int { firstRound + stops.count - 1 }
}
