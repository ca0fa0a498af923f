// ProgramRecorder.swift: runs a program on a mount of the faulty filesystem and keeps what it did.
// Invariants: the workload's standard output is the marks pipe, so each of its writes is a mark in
// order with the file operations; when the recorder returns, no process of the program is left and
// the mount is gone, whatever happened.

import CSystem
import Foundation

/// A program as the lab sees it: shell commands.
public struct ProgramUnderTest: Sendable, Hashable {
  /// What is recorded and crashed.
  public var workload: String
  /// What judges a crashed directory.
  public var check: String
  /// What prepares the directory before the recording.
  public var setup: String?

  /// Makes a program.
  public init(workload: String, check: String, setup: String? = nil) {
    self.workload = workload
    self.check = check
    self.setup = setup
  }
}

/// Records programs.
public struct ProgramRecorder: Sendable {
  let run: RunDirectory
  /// More time than this no setup and no workload gets.
  private let timeoutSeconds: Int
  /// When mapped pages are written back, if not as the kernel likes.
  private let writeBack: PageWriteBack?
  private let recordsCallStacks: Bool

  /// A recorder that mounts below a run's directory.
  /// - Parameters:
  ///   - run: The run.
  ///   - timeoutSeconds: Most time for a setup or a workload.
  ///   - writeBack: When mapped pages are written back, if not as the kernel likes.
  ///   - recordsCallStacks: Whether the trace says where in the program each call was made.
  public init(
    run: RunDirectory, timeoutSeconds: Int, writeBack: PageWriteBack? = nil,
    recordsCallStacks: Bool = false
  ) {
    self.writeBack = writeBack
    self.recordsCallStacks = recordsCallStacks
    self.run = run
    self.timeoutSeconds = timeoutSeconds
  }

  /// Runs setup, then records the workload.
  /// - Parameters:
  ///   - program: The commands.
  ///   - initial: The tree to begin with; nil begins with an empty directory and runs the setup.
  /// - Returns: What the workload did.
  /// - Throws: `LabError` with code `.usage` when a command of the user fails.
  public func record(
    _ program: ProgramUnderTest, from initial: TreeImage? = nil
  ) throws(LabError) -> Trace {
    let mountPoint = try run.subdirectory("mount")
    let tracePath = "\(run.path)/trace.sqlite"
    var options = FaultFSOptions()
    options.writeBack = writeBack
    let fileSystem = try FaultFSClient(
      mountPoint: mountPoint, options: options, cpu: csystem_first_allowed_cpu(),
      callStacks: recordsCallStacks ? try run.makeCallStackDirectory() : nil)
    defer { try? fileSystem.shutdown() }
    if let initial {
      try TraceFile.save(Trace(initial: initial), to: tracePath)
      try fileSystem.load(tracePath)
    } else if let setup = program.setup {
      try execute(setup, as: "setup", on: fileSystem, in: fileSystem.mountPoint)
    }
    try fileSystem.beginRecording()
    try execute(
      program.workload, as: "workload", on: fileSystem, in: fileSystem.mountPoint,
      acknowledges: true)
    _ = try fileSystem.endRecording(savingTo: tracePath)
    try fileSystem.shutdown()
    return try TraceFile.load(tracePath)
  }

  /// Runs one command, which has to succeed.
  func execute(
    _ command: String, as role: String, on fileSystem: FaultFSClient, in directory: String,
    acknowledges: Bool = false
  ) throws(LabError) {
    let stage = ProgramStage(run: run, timeoutSeconds: timeoutSeconds)
    let ending = try stage.execute(
      command, on: fileSystem, in: directory, acknowledges: acknowledges)
    guard ending.isSuccess else {
      throw .usage(
        "the \(role) failed with \(ending): \(command)\n\(stage.said)"
          + "(it must succeed on an undisturbed directory before crashes can be explored)")
    }
  }
}
