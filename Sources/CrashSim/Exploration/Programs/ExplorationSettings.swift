// ExplorationSettings.swift: how far and how an exploration goes.

import CrashStates
import FaultFS
import Findings
import Foundation
import LabCore
import Recording

/// Options that every exploration takes.
public struct ExplorationSettings: Sendable {
  /// The models to explore, one after another.
  public var models: [PersistenceModel] = [.ext4Ordered]
  /// Whether the user chose the models, so that a scenario's own choice gives way.
  public var modelsAreChosen = false
  /// Real file systems to explore after the models.
  public var fileSystems: [KernelFileSystem] = []
  /// Whether a real file system's own checker runs after each of its states.
  public var runsFsck = false
  /// The number from which all choices follow.
  public var seed = Seed(rawValue: 1)
  /// Whether the user chose the seed.
  public var seedIsChosen = false
  /// Most states to check for each model; nil takes the default of what is explored.
  public var budget: Int?
  /// Most seconds of checking for each model; nil for no limit.
  ///
  /// Decides how far an exploration goes, never which state comes next.
  public var timeBudgetSeconds: Int?
  /// Most seconds of explaining what was found, for each model; nil for half as long as checking
  /// took.
  ///
  /// Decides how small the states of findings become, never which findings there are.
  public var explainSeconds: Int?
  /// The part of the states to check.
  public var shard = Shard.whole
  /// Checkers side by side.
  public var jobs = ProcessInfo.processInfo.activeProcessorCount
  /// Seconds after which a checker has failed.
  public var timeoutSeconds = 20
  /// Seconds that setup and workload may take.
  public var recordingTimeoutSeconds = 600

  /// Fault rules that are in force while a program is recorded, from the end of its setup on.
  ///
  /// With some, the program may fail, and what it leaves without any crash is judged like a crash
  /// state.
  public var faults: [FaultRule] = []
  /// When mapped pages are written back while a program is recorded; nil leaves it to the kernel.
  public var writeBack: PageWriteBack?
  /// What direct reads and writes must be aligned to while a program is recorded; nil lets every
  /// one pass.
  public var directAlignment: DirectAlignment?

  /// What of a program's output is one acknowledgement.
  public var marks = MarkUnit.lines

  /// Keeps what was decided, for a run that goes on later; nil keeps nothing.
  public var progress: ProgressJournal?
  /// Whether recordings hold the call stack of each operation, so that findings name source lines.
  public var recordsCallStacks = false
  /// What a medium does to the program's files at rest; nil for nothing.
  public var media: ProgramMedia?

  /// The defaults.
  public init() {}

  /// What decides which states there are and how each is judged, for `ProgressJournal`.
  public var identity: [String] {
    partition + ["shard=\(shard.index + 1)/\(shard.count)", "timeout=\(timeoutSeconds)"]
  }

  /// What the shards of one whole must have in common, as `name=value`.
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
