// ScenarioProgram.swift: [U] a scenario as a separate program, in the directory in which it starts:
// one command runs its steps and acknowledges on standard output, another judges the result of a
// crash. So scenarios can be used like programs: on real file systems, and under consecutive power
// cuts.
// Safety: a buffer is passed to one system call and not kept.

import CSystem
import FaultFS
import Findings
import Foundation
import Glibc
import LabCore
import Oracles
import Recording
import Workload

/// A scenario's steps and its oracles as two commands.
enum ScenarioProgram {
  /// The two commands for a shell.
  /// - Parameters:
  ///   - scenario: The scenario; its file is read again by each command.
  ///   - seed: The seed for expanding its steps.
  ///   - program: The program `faultline`, as a shell word.
  /// - Returns: The workload and the checker.
  static func commands(
    _ scenario: Scenario, seed: Seed, program: String
  ) -> (work: String, judge: String) {
    let isBuiltIn = BuiltInScenario.text(named: scenario.file) != nil
    let path = isBuiltIn ? scenario.file : URL(fileURLWithPath: scenario.file).path
    let work = ScenarioWork(scenario: path, seed: seed.rawValue)
    let judge = ScenarioJudge(scenario: path, seed: seed.rawValue)
    return (
      "exec \(work.shellCommand(program: program))", "exec \(judge.shellCommand(program: program))"
    )
  }

  /// Why a scenario cannot be such a program; nil if it can.
  static func refusal(_ scenario: Scenario) -> String? {
    if scenario.sync != nil {
      return "its nodes are inside Faultline; there is no program to run elsewhere"
    }
    if !scenario.blocks.isEmpty || scenario.history?.isScheduled == true
      || scenario.documents?.together.isEmpty == false
    {
      return "actors side by side run inside Faultline; there is no program to run elsewhere"
    }
    let harmed = scenario.steps.contains { step in
      if case .command(.file) = step.action { true } else { false }
    }
    return harmed
      ? "a scenario that removes, cuts or overwrites files cannot be judged after a crash" : nil
  }

  private static func load(
    _ path: String, _ seed: UInt64, history: Int
  ) throws(LabError) -> WorkloadPlan {
    let scenario = try ScenarioRunner.load([path])[0]
    let seed = Seed(rawValue: seed)
    let number = scenario.history == nil ? nil : history
    return try WorkloadPlan(try scenario.drawn(ifNumbered: number, seed: seed), seed: seed)
  }

  /// The history of a stress run's round, derived from the round's seed; elsewhere the first.
  static func history(ofRound seed: String?) -> Int {
    Int(truncatingIfNeeded: seed.flatMap { UInt64($0) } ?? 0) & 0xffff_ffff
  }

  /// Runs the steps in a directory, and writes the acknowledgements to standard output.
  /// - Parameters:
  ///   - path: The scenario's file.
  ///   - seed: The seed for expanding its steps.
  ///   - history: Number of the history, if the scenario draws them.
  ///   - directory: Directory for the database.
  ///   - mayFail: Whether file operations may fail; then the steps end when they cannot continue.
  /// - Returns: Promises that were broken without a crash.
  /// - Throws: `LabError` when Faultline fails or is asked to stop.
  static func work(
    _ path: String, seed: UInt64, history: Int, in directory: String, mayFail: Bool
  ) throws(LabError) -> [Violation] {
    let recorder = ScenarioRecorder(
      backend: DirectoryBackend(directory: directory), timeoutSeconds: timeoutSeconds, errorPath: ""
    )
    let plan = try load(path, seed, history: history)
    do throws(LabError) {
      let run = try recorder.run(plan, tolerating: mayFail ? ScenarioRecorder.tolerated : [])
      return run.violations + (run.trap.map { [$0] } ?? [])
    } catch {
      // All acknowledgements are written; on a disk that keeps failing, no more can follow.
      guard mayFail, error.code == .lab else { throw error }
      return []
    }
  }

  /// Judges the database of a directory, and may change it.
  /// - Parameters:
  ///   - path: The scenario's file.
  ///   - seed: The seed with which its steps were expanded.
  ///   - history: Number of the history, if the scenario draws them.
  ///   - directory: Directory with the database after a crash.
  ///   - acknowledged: All acknowledgements before the crash.
  /// - Returns: The broken promises.
  /// - Throws: `LabError` when the acknowledgements do not belong to this scenario.
  static func judge(
    _ path: String, seed: UInt64, history: Int, directory: String, acknowledged: [UInt8]
  ) throws(LabError) -> [Violation] {
    let marks = acknowledged.split(separator: UInt8(ascii: "\n")).map { Mark(bytes: $0 + [10]) }
    let check = try EngineCheck(try load(path, seed, history: history), marks: marks)
    return check.timeline.violations + check.judge(directory: directory, marksSeen: marks.count)
  }

  private static let timeoutSeconds = 20
}

/// A directory that another process observes: acknowledgements go to standard output.
private struct DirectoryBackend: ScenarioBackend {
  let directory: String

  func empty(writeBack: PageWriteBack?) {}
  func beginRecording() {}
  func saveRecording(to path: String) {}
  func addRules(_ rules: [FaultRule]) throws(LabError) {
    guard rules.isEmpty else { throw .internalError("a fault rule for a plain directory") }
  }
  func clearRules() {}
  func removeRule(at index: Int) {}
  func ruleHits() -> [RuleHits] { [] }
  func phase(of process: Int32) -> String? { nil }
  func shutdown() {}

  /// One write, so that it is one mark.
  func mark(_ bytes: [UInt8]) throws(LabError) {
    let count = unsafe bytes.withUnsafeBytes { buffer in
      unsafe Glibc.write(STDOUT_FILENO, buffer.baseAddress, buffer.count)
    }
    guard count == bytes.count else {
      throw .lab("cannot acknowledge: \(describe(errno: errno))")
    }
  }

  func perform(_ event: FileEvent, seed: Seed) throws(LabError) {
    try event.apply(in: directory, seed: seed)
  }

  func startWorker(
    timeoutSeconds: Int, errorPath: String
  ) throws(LabError) -> any ScenarioWorker {
    try MountWorker(directory, timeoutSeconds: timeoutSeconds)
  }
}
