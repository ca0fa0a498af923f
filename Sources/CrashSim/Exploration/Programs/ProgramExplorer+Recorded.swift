// ProgramExplorer+Recorded.swift: explores what somebody else has recorded: a scenario whose
// workload is a program of the lab, on the mount that all scenarios share.

import CrashStates
import Findings
import LabCore
import Recording

extension ExplorationTarget {
  /// Judges one directory with the first checker.
  /// - Throws: `LabError` when the checker cannot be started.
  package func judge(
    _ tree: TreeImage, acknowledged: [UInt8], variables: [String: String]
  ) throws(LabError) -> CheckResult {
    try checkers[0].check(tree, acknowledged: acknowledged, variables: variables)
  }
}

extension ProgramExplorer {
  /// Explores the crash states of a recording under one model.
  /// - Parameters:
  ///   - trace: The recording.
  ///   - model: The model.
  ///   - base: A target with checkers, which are used again.
  ///   - firstNumber: Number of the first finding.
  /// - Returns: Its report, and that of crashes during recoveries, if the program has one.
  /// - Throws: `LabError` of the trace or of a checker.
  package func explore(
    _ trace: Trace, under model: PersistenceModel, checkersOf base: ExplorationTarget,
    firstNumber: Int
  ) throws(LabError) -> [ExplorationReport] {
    let target = try makeTarget(trace, model: model, system: nil, checkers: base.checkers)
    let exploration = ProgramExploration(
      program: program, settings: settings, target: target, console: console)
    var report = try exploration.explore(firstNumber: firstNumber)
    report.recording = 0
    guard let recovery = program.recovery else { return [report] }
    try Interruption.check()
    let second = try recoveryExploration(recovery, target)
      .explore(firstNumber: firstNumber + report.findings.count)
    return [report, second]
  }

  /// Damages the files that a recording ends with.
  /// - Throws: `LabError` of a checker.
  package func exploreMedia(
    _ media: ProgramMedia, _ trace: Trace, checkersOf base: ExplorationTarget, firstNumber: Int
  ) throws(LabError) -> ExplorationReport {
    var report = try ProgramMediaExploration(
      program: program, settings: settings, media: media, trace: trace, checkers: base.checkers,
      console: console
    ).explore(firstNumber: firstNumber)
    report.recording = 0
    return report
  }
}
