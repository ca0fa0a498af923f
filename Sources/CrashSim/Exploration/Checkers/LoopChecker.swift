// LoopChecker.swift: [U] judges crash states with a process that stays, and sees that it is fair.
// Invariants: what a process does to one state, its end included, is a verdict of that state alone;
// every failing state, and a sample of all, is judged by a process that has seen no other, too, and
// that one's verdict counts.

import Findings
import LabCore
import Recording

/// Asks one process about many states.
///
/// `@unchecked Sendable`: one thread at a time has a checker.
package final class LoopChecker: StateChecker, @unchecked Sendable {
  private let command: String
  private let slot: String
  private let stage: any CrashStateStage
  private let acknowledgedPath: String
  private let timeoutSeconds: Int
  private let environment: [String: String]
  private var process: LoopProcess?
  /// The last request, and its line.
  private var last: (request: LoopRequest, line: [UInt8])?

  /// Makes a checker that works below `slot`, an existing empty directory.
  /// - Parameters:
  ///   - command: Shell command of the process.
  ///   - slot: Where it works.
  ///   - timeoutSeconds: After this without an answer the checker has failed.
  ///   - environment: Variables that it gets besides those of every checker.
  ///   - device: What the images of a device hold; nil where crash images are directories.
  /// - Throws: `LabError` when the directory cannot be made.
  package init(
    command: String, slot: String, timeoutSeconds: Int, environment: [String: String] = [:],
    device: DeviceCheck? = nil
  ) throws(LabError) {
    self.command = command
    self.slot = slot
    self.timeoutSeconds = timeoutSeconds
    var environment = environment
    // It lives through recordings, at whose ends all programs under test are killed.
    environment[RunDirectory.programName]? += "/checker"
    self.environment = environment
    stage = try StateStages.make(device, slot: slot)
    acknowledgedPath = "\(slot)/acknowledged"
  }

  /// Whether a state is judged by a fresh process as well: the first ones densely, so that short
  /// explorations have samples, then every 128th.
  package static func isSample(_ ordinal: Int) -> Bool {
    ordinal.nonzeroBitCount == 1 || ordinal % 128 == 0
  }

  package func check(
    _ tree: TreeImage, acknowledged: [UInt8], variables: [String: String], isSample: Bool
  ) throws(LabError) -> CheckResult {
    let staying: LoopProcess
    if let process, process.isUsable {
      staying = process
    } else {
      staying = try start()
      process = staying
    }
    let result = try ask(staying, tree, acknowledged, variables)
    // The first state of a process is one that a fresh process judges.
    if staying.askedCount == 1 || (result.ending.isSuccess && !isSample) { return result }
    let fresh = try start()
    defer { fresh.end() }
    let again = try ask(fresh, tree, acknowledged, variables)
    guard Self.agree(result, again) else {
      throw LabError(
        .nondeterminism,
        "the checker that stays leaks from one state to the next: about its state "
          + "\(staying.askedCount) it said '\(Self.words(result))', and a fresh process says "
          + "'\(Self.words(again))'; what one check leaves behind (open files, caches, variables) "
          + "must not reach the next one, or give the command with --check")
    }
    return again
  }

  private func start() throws(LabError) -> LoopProcess {
    try LoopProcess(command: command, slot: slot, environment: environment)
  }

  private func ask(
    _ process: LoopProcess, _ tree: TreeImage, _ acknowledged: [UInt8],
    _ variables: [String: String]
  ) throws(LabError) -> CheckResult {
    if let refusal = try stage.present(tree) { return refusal }
    let result: CheckResult
    do throws(LabError) {
      try AcknowledgedFile.write(acknowledged, to: acknowledgedPath)
      var all = variables
      all["FAULTLINE_DIR"] = stage.directory
      all["FAULTLINE_OUTPUT"] = acknowledgedPath
      let request = LoopRequest(
        directory: stage.directory, output: acknowledgedPath, environment: all)
      result = try process.ask(try line(of: request), timeoutSeconds: timeoutSeconds)
    } catch {
      _ = try? stage.withdraw()
      throw error
    }
    let afterwards = try stage.withdraw()
    if result.ending.isSuccess, let afterwards { return afterwards }
    return CheckResult(
      ending: result.ending,
      output: result.output.replacing(stage.directory, with: "$FAULTLINE_DIR")
        .replacing(acknowledgedPath, with: "$FAULTLINE_OUTPUT"))
  }

  /// A request as a line; that of the last state is nearly always the same.
  private func line(of request: LoopRequest) throws(LabError) -> [UInt8] {
    if let last, last.request == request { return last.line }
    let line = try JSONLine.encode(request)
    last = (request, line)
    return line
  }

  /// Whether two answers are the same verdict; on damaged data the words may differ each time.
  private static func agree(_ one: CheckResult, _ other: CheckResult) -> Bool {
    let noticed = ProcessEnding.exited(ProgramMedia.detectedStatus)
    return one.ending.isSuccess == other.ending.isSuccess
      && (one.ending == noticed) == (other.ending == noticed)
  }

  private static func words(_ result: CheckResult) -> String {
    result.ending.isSuccess ? "held" : result.headline
  }
}
