// ScheduleStage.swift: the files of scheduled runs: a tree in memory for each run; or, for plans
// that compact, a mount that all runs share, because a compaction renames files.
// Invariant: no state of one run remains for the next.

import Engine
import FaultFS
import LabCore
import Recording
import Workload

/// The file tree of a scheduled run, with its recorder.
protocol ScheduleStage: Sendable {
  /// Starts recording with an empty tree and these rules.
  func begin(_ rules: [FaultRule]) throws(LabError)
  /// Opens or creates the database.
  func open(_ options: Database.Options) throws(EngineError) -> Database
  /// Appends a mark to the trace.
  func append(_ mark: Mark)
  /// Ends the recording.
  /// - Returns: The trace, and the number of hits of each rule.
  func end() throws(LabError) -> (trace: Trace, hits: [RuleHits])
  /// The current tree.
  func tree() throws(LabError) -> TreeImage
}

extension SimulatedFileSystem: ScheduleStage {
  func begin(_ rules: [FaultRule]) throws(LabError) {
    beginRecording()
    try addRules(rules)
  }

  func open(_ options: Database.Options) throws(EngineError) -> Database {
    try openDatabase(DatabaseFile.name, options: options)
  }

  func append(_ mark: Mark) { self.mark(mark.bytes) }

  func end() -> (trace: Trace, hits: [RuleHits]) { (endRecording(), ruleHits()) }

  func tree() -> TreeImage {
    beginRecording()
    return endRecording().initial
  }
}

/// A mount, in a folder with space for a trace file.
struct MountStage: ScheduleStage {
  let fileSystem: FaultFSClient

  private var tracePath: String { fileSystem.mountPoint + "-schedule.sqlite" }

  func begin(_ rules: [FaultRule]) throws(LabError) {
    try fileSystem.empty(writeBack: nil)
    try fileSystem.beginRecording()
    try fileSystem.addRules(rules)
  }

  func open(_ options: Database.Options) throws(EngineError) -> Database {
    try Database.open(
      path: "\(fileSystem.mountPoint)/\(DatabaseFile.name)", options: options)
  }

  /// If the daemon has exited, that is also reported at the end of the run.
  func append(_ mark: Mark) { try? fileSystem.mark(mark.bytes) }

  func end() throws(LabError) -> (trace: Trace, hits: [RuleHits]) {
    let hits = try fileSystem.ruleHits()
    try fileSystem.clearRules()
    try fileSystem.endRecording(savingTo: tracePath)
    return (try TraceFile.load(tracePath).without(DatabaseFile.isSharedMemory), hits)
  }

  func tree() throws(LabError) -> TreeImage {
    try fileSystem.saveTree(to: tracePath)
    return try TraceFile.load(tracePath).initial
  }
}
