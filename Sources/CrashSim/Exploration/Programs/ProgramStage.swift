// ProgramStage.swift: runs one command of a program under test, on a mount of the faulty file
// system.
// Invariant: when `execute` returns, no process that the command started is running.

import CSystem
import FaultFS
import Foundation
import LabCore

/// Runs commands of a program under test.
package struct ProgramStage: Sendable {
  let run: RunDirectory
  /// Time limit for a command.
  var timeoutSeconds: Int
  /// Variables for the commands, besides those of every program under test.
  package var environment: [String: String] = [:]

  /// Whether a stop point that was reached already also ends a command.
  ///
  /// At the stop the daemon kills the groups that are registered, and a command is registered
  /// shortly after its start.
  package var endsWhenStopped = false

  package init(
    run: RunDirectory,
    timeoutSeconds: Int,
    environment: [String: String] = [:],
    endsWhenStopped: Bool = false
  ) {
    self.run = run
    self.timeoutSeconds = timeoutSeconds
    self.environment = environment
    self.endsWhenStopped = endsWhenStopped
  }

  /// File for the commands' output other than acknowledgements.
  private var log: String { "\(run.path)/program-output" }

  /// The last command's output, cut to a reasonable length.
  package var output: String {
    let bytes = FileManager.default.contents(atPath: log) ?? Data()
    return String(String(decoding: bytes, as: UTF8.self).suffix(4000))
  }

  /// Runs one command to its end.
  /// - Parameters:
  ///   - command: For the shell.
  ///   - fileSystem: The mount.
  ///   - directory: Its working directory, if not the mount's root.
  ///   - acknowledges: Whether its standard output is acknowledgements.
  /// - Returns: How it ended.
  /// - Throws: `LabError` when it cannot be started, or when Faultline is asked to stop.
  package func execute(
    _ command: String, on fileSystem: FaultFSClient, in directory: String? = nil,
    acknowledges: Bool
  ) throws(LabError) -> ProcessEnding {
    guard
      FileManager.default.createFile(
        atPath: log, contents: nil, attributes: [.posixPermissions: 0o600]),
      let handle = FileHandle(forWritingAtPath: log)
    else { throw .lab("cannot write \(log)") }
    defer { try? handle.close() }
    var launch = ChildProcess.Launch(shell: command)
    let directory = directory ?? fileSystem.mountPoint
    launch.workingDirectory = directory
    launch.standardOutput = acknowledges ? fileSystem.marksWriteDescriptor : handle.fileDescriptor
    launch.standardError = handle.fileDescriptor
    launch.environment = environment.merging(run.programEnvironment) { $1 }
      .merging(fileSystem.programEnvironment) { $1 }
    launch.environment["FAULTLINE_DIR"] = directory
    launch.environment[OwnCommands.variable] = run.ownCommandsPath
    // On the daemon's CPU: requests are then answered several times faster than across CPUs.
    launch.cpu = csystem_first_allowed_cpu()
    // Any other directory is on a file system of the kernel, which performs the syncs itself.
    launch.holdsSyncs = directory == fileSystem.mountPoint
    let child = try ChildProcess(launch)
    let syncs = SyncAnswerer(of: child, on: fileSystem)
    run.syncsError = launch.holdsSyncs && syncs == nil ? UnseenSyncs.error(of: child) : 0
    run.refusedModes = 0
    defer {
      syncs?.end()
      run.refusedModes = syncs?.refusedModes ?? 0
    }
    let ending: ProcessEnding
    do throws(LabError) {
      try fileSystem.registerGroup(child.pid)
      var isStopped = false
      if endsWhenStopped { isStopped = try fileSystem.statistics().stoppedAtEvents != nil }
      ending = isStopped ? child.kill() : child.wait(timeoutSeconds: timeoutSeconds)
    } catch {
      child.kill()
      throw error
    }
    do throws(LabError) {
      // Before those are killed that go on: their begun lines do not count, of others they do.
      if acknowledges { try fileSystem.settleMarks() }
    } catch {
      child.killGroup()
      run.killPrograms()
      throw error
    }
    if acknowledges { run.strayCount = run.livePrograms().count }
    child.killGroup()
    // Including those that left the group: they would continue to write and keep the mount busy.
    run.killPrograms()
    try fileSystem.unregisterGroup(child.pid)
    try Interruption.check()
    return ending
  }
}
