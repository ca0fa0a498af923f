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

  /// A recorder that mounts below a run's directory.
  public init(run: RunDirectory, timeoutSeconds: Int) {
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
    let fileSystem = try FaultFSClient(mountPoint: mountPoint, cpu: csystem_first_allowed_cpu())
    defer { try? fileSystem.shutdown() }
    if let initial {
      try TraceFile.save(Trace(initial: initial), to: tracePath)
      try fileSystem.load(tracePath)
    } else if let setup = program.setup {
      try execute(setup, as: "setup", on: fileSystem, in: fileSystem.mountPoint, output: nil)
    }
    try fileSystem.beginRecording()
    try execute(
      program.workload, as: "workload", on: fileSystem, in: fileSystem.mountPoint,
      output: fileSystem.marksWriteDescriptor)
    _ = try fileSystem.endRecording(savingTo: tracePath)
    try fileSystem.shutdown()
    return try TraceFile.load(tracePath)
  }

  /// Runs one command to its end; everything it started is gone afterwards.
  func execute(
    _ command: String, as role: String, on fileSystem: FaultFSClient, in directory: String,
    output: Int32?
  ) throws(LabError) {
    let log = "\(run.path)/program-output"
    guard FileManager.default.createFile(atPath: log, contents: nil),
      let handle = FileHandle(forWritingAtPath: log)
    else { throw .lab("cannot write \(log)") }
    defer { try? handle.close() }
    var launch = ChildProcess.Launch(shell: command)
    launch.workingDirectory = directory
    launch.standardOutput = output ?? handle.fileDescriptor
    launch.standardError = handle.fileDescriptor
    launch.environment = run.programEnvironment
    launch.environment["FAULTLINE_DIR"] = directory
    // On the daemon's CPU: a request is then answered several times faster than across CPUs.
    launch.cpu = csystem_first_allowed_cpu()
    let child = try ChildProcess(launch)
    try fileSystem.registerGroup(child.pid)
    let ending = child.wait(timeoutSeconds: timeoutSeconds)
    child.killGroup()
    // Those that left the group too: they would keep writing, and keep the mount busy.
    run.killPrograms()
    try fileSystem.unregisterGroup(child.pid)
    try Interruption.check()
    guard ending.isSuccess else {
      let bytes = FileManager.default.contents(atPath: log) ?? Data()
      let said = String(decoding: bytes, as: UTF8.self)
      throw .usage(
        "the \(role) failed with \(ending): \(command)\n\(said.suffix(4000))"
          + "(it must succeed on an undisturbed directory before crashes can be explored)")
    }
  }
}
