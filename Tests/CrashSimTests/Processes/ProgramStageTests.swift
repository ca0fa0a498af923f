// ProgramStageTests.swift: a command on a mount ends when the mount's stop point has come, also one
// that the daemon did not know yet when it came.

import Glibc
import TestSupport
import Testing

@testable import Exploration
@testable import FaultFS
@testable import LabCore
@testable import Recording

@Suite(
  "program stage",
  .requires(.fuse), .serialized)
struct ProgramStageTests {
  /// The ending of a command that begins after a stop point came, on a mount of its own.
  private func endingAfterStop(_ command: String, endsWhenStopped: Bool) throws -> ProcessEnding {
    let run = try RunDirectory()
    defer { run.remove() }
    let fileSystem = try FaultFSClient(mountPoint: try run.subdirectory("mount-of-stage"))
    defer { try? fileSystem.shutdown() }
    try fileSystem.beginRecording()
    try fileSystem.stop(StopPoint(after: nil, isPowerCut: false))
    var stage = ProgramStage(run: run, timeoutSeconds: 120)
    stage.endsWhenStopped = endsWhenStopped
    return try stage.execute(command, on: fileSystem, acknowledges: false)
  }

  @Test("a stop that came before the daemon knew the command kills it")
  func lateRegistration() throws {
    // What is not killed sleeps to its end and exits with 0.
    #expect(try endingAfterStop("sleep 40", endsWhenStopped: true) == .signalled(SIGKILL))
  }

  @Test("the same command runs to its end where stops do not count")
  func ordinary() throws {
    #expect(try endingAfterStop("true", endsWhenStopped: false) == .exited(0))
  }
}
