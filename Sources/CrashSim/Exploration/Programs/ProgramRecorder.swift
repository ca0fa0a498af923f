// ProgramRecorder.swift: runs a program on a mount of the faulty filesystem and keeps what it did.
// Invariants: the workload's standard output is where marks come from, so each of its lines (or
// writes) is a mark in order with the file operations; when the recorder returns, no process of the
// program is left and the mount is gone, whatever happened.

import CSystem
import FaultFS
import Findings
import Foundation
import LabCore
import Recording

/// A program under test: shell commands.
public struct ProgramUnderTest: Sendable, Hashable {
  /// The command that is recorded and crashed.
  public var workload: String
  /// What judges a crashed directory; empty where there is no checker.
  public var check: String
  /// Whether the checker is a process that stays, and is asked by lines.
  public var checkStays = false
  /// How states are judged without a checker; nil where there is one.
  public var judging: JudgingOptions?
  /// What prepares the directory before the recording.
  public var setup: String?
  /// The recovery after a crash, if crashes during it are explored as well.
  public var recovery: ProgramRecovery?

  /// Makes a program.
  public init(workload: String, check: String, setup: String? = nil) {
    self.workload = workload
    self.check = check
    self.setup = setup
  }

  /// Makes a program that is judged without a checker (docs/reference/judging.md).
  public init(workload: String, judging: JudgingOptions, setup: String? = nil) {
    self.init(workload: workload, check: "", setup: setup)
    self.judging = judging
  }
}

/// The recorded recovery of a program from a crash.
struct RecordedRecovery {
  let trace: Trace
  let ending: ProcessEnding
  /// Its output other than acknowledgements.
  let output: String

  /// The verdict on a crash state from which recovery fails; nil if it succeeded.
  var refusal: CheckResult? {
    ending.isSuccess ? nil : Self.refusal(ending, output)
  }

  /// The verdict on a state from which recovery fails.
  static func refusal(_ ending: ProcessEnding, _ output: String) -> CheckResult {
    CheckResult(
      ending: ending, output: "the recovery failed with \(ending)\n" + output,
      promised: "the recovery succeeds on every state that a crash may leave")
  }
}

/// Records programs.
public struct ProgramRecorder: Sendable {
  let run: RunDirectory
  /// Time limit for a setup or a workload.
  private let timeoutSeconds: Int
  /// When mapped pages are written back; nil leaves that to the kernel.
  private let writeBack: PageWriteBack?
  /// Required alignment of direct reads and writes; nil accepts all of them.
  private let directAlignment: DirectAlignment?
  private let recordsCallStacks: Bool
  /// Variables of all commands.
  private let environment: [String: String]
  /// What of a workload's output is one acknowledgement.
  let marks: MarkUnit

  /// A recorder that mounts below a run's directory.
  /// - Parameters:
  ///   - run: The run.
  ///   - timeoutSeconds: Most time for a setup or a workload.
  ///   - writeBack: When mapped pages are written back, if not as the kernel likes.
  ///   - directAlignment: What direct reads and writes must be aligned to, if anything.
  ///   - recordsCallStacks: Whether the trace says where in the program each call was made.
  ///   - marks: What of a workload's output is one acknowledgement.
  ///   - environment: Variables of all commands.
  package init(
    run: RunDirectory, timeoutSeconds: Int, writeBack: PageWriteBack? = nil,
    directAlignment: DirectAlignment? = nil, recordsCallStacks: Bool = false,
    marks: MarkUnit = .lines, environment: [String: String] = [:]
  ) {
    self.marks = marks
    self.environment = environment
    self.directAlignment = directAlignment
    self.writeBack = writeBack
    self.recordsCallStacks = recordsCallStacks
    self.run = run
    self.timeoutSeconds = timeoutSeconds
  }

  /// Runs setup, then records the workload.
  /// - Parameters:
  ///   - program: The commands.
  ///   - initial: The initial tree; nil starts with an empty directory and runs the setup.
  /// - Returns: The workload's operations.
  /// - Throws: `LabError` with code `.usage` when a command of the user fails.
  public func record(
    _ program: ProgramUnderTest, from initial: TreeImage? = nil
  ) throws(LabError) -> Trace {
    try record(program, from: initial, under: []).trace
  }

  /// The same under fault rules, which are in force after the setup; the workload may fail then.
  /// - Returns: Also notes on it: the outcome of the rules, and how the workload ended.
  package func record(
    _ program: ProgramUnderTest, from initial: TreeImage? = nil, under faults: [FaultRule]
  ) throws(LabError) -> (trace: Trace, notes: RecordingNotes) {
    let fileSystem = try mount(initial)
    defer { try? fileSystem.shutdown() }
    if initial == nil, let setup = program.setup {
      try execute(setup, as: "setup", on: fileSystem, in: fileSystem.mountPoint)
    }
    try fileSystem.beginRecording()
    if faults.isEmpty {
      try execute(
        program.workload, as: "workload", on: fileSystem, in: fileSystem.mountPoint,
        acknowledges: true)
      return (try end(fileSystem), notes())
    }
    try fileSystem.addRules(faults)
    let stage = ProgramStage(run: run, timeoutSeconds: timeoutSeconds)
    let ending = try stage.execute(
      program.workload, on: fileSystem, in: fileSystem.mountPoint, acknowledges: true)
    let rules = try fileSystem.rules()
    // Writes that rules held must reach the disk, which no longer has faults.
    try fileSystem.clearRules()
    var notes = notes()
    notes.rules = rules.map(RuleOutcome.init)
    if !ending.isSuccess {
      notes.ending.append("the workload ended with \(ending)")
      let output = stage.output.split(separator: "\n").suffix(Self.outputLinesShown)
      notes.ending += output.map { "  \($0)" }
    }
    return (try end(fileSystem), notes)
  }

  /// The run's notes on the workload that has just ended.
  private func notes() -> RecordingNotes {
    var notes = RecordingNotes()
    notes.syncsError = run.syncsError
    notes.refusedModes = run.refusedModes
    notes.strayCount = run.strayCount
    return notes
  }

  /// Last lines of a failed workload's output that are shown.
  private static let outputLinesShown = 5

  /// Records a recovery from a crash.
  /// - Parameters:
  ///   - command: The recovery; its standard output is further acknowledgements.
  ///   - tree: The result of the crash, all of it durable.
  ///   - acknowledged: Earlier acknowledgements, passed in the file `$FAULTLINE_OUTPUT`.
  /// - Returns: Its operations, and how it ended.
  /// - Throws: `LabError` when Faultline fails.
  func recordRecovery(
    _ command: String, from tree: TreeImage, acknowledged: [UInt8]
  ) throws(LabError) -> RecordedRecovery {
    let fileSystem = try mount(tree)
    defer { try? fileSystem.shutdown() }
    let outputPath = "\(run.path)/recovery-acknowledged"
    guard FileManager.default.createFile(atPath: outputPath, contents: Data(acknowledged)) else {
      throw .lab("cannot write \(outputPath)")
    }
    try fileSystem.beginRecording()
    let stage = ProgramStage(
      run: run, timeoutSeconds: timeoutSeconds, environment: ["FAULTLINE_OUTPUT": outputPath])
    let ending = try stage.execute(command, on: fileSystem, acknowledges: true)
    let output = stage.output
      .replacing(fileSystem.mountPoint, with: "$FAULTLINE_DIR")
      .replacing(outputPath, with: "$FAULTLINE_OUTPUT")
    return RecordedRecovery(trace: try end(fileSystem), ending: ending, output: output)
  }

  private var tracePath: String { "\(run.path)/trace.sqlite" }

  /// A mount with a durable tree, or with an empty one.
  private func mount(_ initial: TreeImage?) throws(LabError) -> FaultFSClient {
    var options = FaultFSOptions()
    options.marks = marks
    options.writeBack = writeBack
    options.directAlignment = directAlignment
    let fileSystem = try FaultFSClient(
      mountPoint: try run.subdirectory("mount"), options: options,
      cpu: csystem_first_allowed_cpu(),
      callStacks: recordsCallStacks ? try run.makeCallStackDirectory() : nil)
    guard let initial else { return fileSystem }
    do throws(LabError) {
      try TraceFile.save(Trace(initial: initial), to: tracePath)
      try fileSystem.load(tracePath)
    } catch {
      try? fileSystem.shutdown()
      throw error
    }
    return fileSystem
  }

  private func end(_ fileSystem: FaultFSClient) throws(LabError) -> Trace {
    _ = try fileSystem.endRecording(savingTo: tracePath)
    try fileSystem.shutdown()
    return try TraceFile.load(tracePath)
  }

  /// Runs one command, which must succeed.
  func execute(
    _ command: String, as role: String, on fileSystem: FaultFSClient, in directory: String,
    acknowledges: Bool = false
  ) throws(LabError) {
    let stage = ProgramStage(
      run: run, timeoutSeconds: timeoutSeconds, environment: environment)
    let ending = try stage.execute(
      command, on: fileSystem, in: directory, acknowledges: acknowledges)
    guard ending.isSuccess else {
      let hint = stage.output.contains("/dev/stdout") && marks == .lines ? Self.stdoutHint : ""
      throw .usage(
        "the \(role) failed with \(ending): \(command)\n\(stage.output.quotedLines)\(hint)"
          + "(it must succeed on an undisturbed directory before crashes can be explored)")
    }
  }
  /// A socket has no name that could be opened.
  private static let stdoutHint =
    "(standard output is a socket, which /dev/stdout cannot open: write to >&1, or give "
    + "--marks writes, with which it is a pipe)\n"
}
