// ExplorationSettings.swift: the extent and options of an exploration.

import CrashStates
import FaultFS
import Findings
import Foundation
import LabCore
import Recording

/// Options of every exploration.
public struct ExplorationSettings: Sendable {
  /// The models to explore, one after another.
  public var models: [PersistenceModel] = [.ext4Ordered]
  /// Whether the user chose the models, which then override a scenario's own choice.
  public var modelsAreChosen = false
  /// Real file systems to explore after the models.
  public var fileSystems: [KernelFileSystem] = []
  /// Whether a real file system's own checker runs after each of its states.
  public var runsFsck = false
  /// Random seed of all choices.
  public var seed = Seed(rawValue: 1)
  /// Whether the user chose the seed.
  public var seedIsChosen = false
  /// Most states to check for each model; nil uses the default of the explored program.
  public var budget: Int?
  /// Most seconds of checking for each model; nil for no limit.
  ///
  /// Limits how far an exploration goes, and does not change the order of states.
  public var timeBudgetSeconds: Int?
  /// Most seconds of explaining findings, for each model; nil for half of the time that checking
  /// took.
  ///
  /// Limits how small the states of findings become, and does not change the set of findings.
  public var explainSeconds: Int?
  /// The part of the states to check.
  public var shard = Shard.whole
  /// Number of concurrent checkers.
  public var jobs = ProcessInfo.processInfo.activeProcessorCount
  /// Seconds after which a checker has failed.
  public var timeoutSeconds = 20
  /// Seconds that setup and workload may take.
  public var recordingTimeoutSeconds = 600

  /// Fault rules in force while a program is recorded, from the end of its setup on.
  ///
  /// If there are any, the program may fail, and the state it leaves without a crash is judged like
  /// a crash state.
  public var faults: [FaultRule] = []
  /// When mapped pages are written back while a program is recorded; nil leaves it to the kernel.
  public var writeBack: PageWriteBack?
  /// Required alignment of direct reads and writes while a program is recorded; nil accepts all.
  public var directAlignment: DirectAlignment?

  /// What of a program's output is one acknowledgement.
  public var marks = MarkUnit.lines

  /// Keeps what was decided, for a run that goes on later; nil keeps nothing.
  public var progress: ProgressJournal?
  /// Whether recordings include call stacks of operations, so that findings have source lines.
  public var recordsCallStacks = false
  /// The possible faults of the medium in the program's files at rest; nil for none.
  public var media: ProgramMedia?

  /// The defaults.
  public init() {}

  /// The options that determine the states and their verdicts, for `ProgressJournal`.
  public var identity: [String] {
    partition + ["shard=\(shard.index + 1)/\(shard.count)", "timeout=\(timeoutSeconds)"]
  }

  /// The options that the shards of one exploration must share, as `name=value`.
  public var partition: [String] {
    let models = models.map(\.specification).joined(separator: ",")
    return [
      "seed=\(seed)", "models=\(models)", "on=\(fileSystems.map(\.description))",
      "fsck=\(runsFsck)", "budget=\(budget.map(String.init) ?? "default")",
      "write-back=\(writeBack?.description ?? "none")", "stacks=\(recordsCallStacks)",
      "direct-alignment=\(directAlignment?.description ?? "none")",
      "marks=\(marks.rawValue)",
      "media=\(media.map { "\($0)" } ?? "none")",
    ] + faults.enumerated().map { "fault \($0 + 1)=\($1)" }
  }
}
