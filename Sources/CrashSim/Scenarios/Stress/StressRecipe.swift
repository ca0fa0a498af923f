// StressRecipe.swift: how to reproduce one round of a stress run, as stored in a replay token.

import FaultFS
import Recording
import Workload

/// How to reproduce a failed round of a stress run.
package struct StressRecipe: Codable, Sendable, Hashable {
  /// The commands.
  package var program: StressProgram
  /// Persistence model, as accepted by `PersistenceModel.chosen`.
  package var model: String
  /// Seed of the run.
  package var seed: UInt64
  /// Fault rules in force.
  package var faults: [FaultRule]
  /// How mapped pages are written back, if at all.
  package var writeBack: PageWriteBack?
  /// What of the output is one acknowledgement; nil, as in older tokens, is each write.
  package var marks: MarkUnit?
  /// How the built-in workload worked, if it was that.
  package var load: EngineLoadOptions?
  /// The content of its drawn history, if there was one.
  package var drawn: HistoryContent?
  /// The round that started with the setup's tree.
  package var firstRound: Int
  /// For that round and each after it, up to the failed one: the events after which the processes
  /// were killed, the last time with a power cut; `atEnd` if the workload had ended.
  package var stops: [[Int]]
  /// The state (see `StateKey`); nil when a command failed before the power cut.
  package var state: String?
  /// Shape of the failing round's trace.
  package var shape: String
  /// Time limit of the commands.
  package var timeoutSeconds: Int

  /// The workload's own end, in `stops`.
  static let atEnd = -1

  /// The round that failed.
  package var round: Int { firstRound + stops.count - 1 }
}
