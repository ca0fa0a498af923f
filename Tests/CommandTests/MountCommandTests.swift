// MountCommandTests.swift: `faultline mount` as a user runs it: what it records, and how it ends.

import FaultFS
import Foundation
import Glibc
import Recording
import TestSupport
import Testing

@Suite("faultline mount", .requires(.fuse), .serialized)
struct MountCommandTests {
  /// A mount by the command, in the command's directory.
  private struct Mounted {
    let command: FaultlineCommand
    let program: RunningProgram
    var path: String { command.directory.file("mnt") }

    init(_ arguments: [String] = []) throws {
      command = try FaultlineCommand()
      try FileManager.default.createDirectory(
        atPath: command.directory.file("mnt"), withIntermediateDirectories: false)
      program = try command.start(["mount", "mnt"] + arguments)
      let place = " \(path) "
      let isThere = waitUntil(seconds: 20) {
        let table = FileManager.default.contents(atPath: "/proc/self/mountinfo") ?? Data()
        return String(decoding: table, as: UTF8.self).contains(place)
      }
      try #require(isThere, "the mount never came")
    }

    func shell(_ script: String) throws -> ProgramResult { try runShell(script, in: path) }

    func statistics() throws -> FaultFSStatistics {
      try FaultControl(mountPoint: path).statistics()
    }

    /// Ends the mount as Ctrl-C does, and says how the command ended.
    func end() -> ProgramResult {
      kill(program.process, SIGINT)
      return program.wait()
    }
  }

  @Test("without a trace nothing is kept of what was written")
  func withoutTrace() throws {
    let mounted = try Mounted()
    #expect(try mounted.shell("head -c 1000000 /dev/zero > f; rm f").status == 0)
    let statistics = try mounted.statistics()
    #expect(!statistics.isRecording && statistics.eventCount == 0 && statistics.payloadBytes == 0)
    #expect(mounted.end().status == 0)
  }

  @Test("a trace that is full is said at once, and the part before is kept")
  func fullTrace() throws {
    let mounted = try Mounted(["--trace", "t.sqlite", "--recording-limit", "1M"])
    #expect(waitUntil(seconds: 10) { (try? mounted.statistics().isRecording) == true })
    let script = "echo a > a; head -c 2000000 /dev/zero > f; echo b > b"
    #expect(try mounted.shell(script).status == 0)
    #expect(waitUntil(seconds: 10) { (try? mounted.statistics().isRecordingFull) == true })
    sleep(2)
    let result = mounted.end()
    #expect(result.status == 3)
    let said = result.output.components(separatedBy: "it holds at most 1M")
    #expect(said.count == 3, "\(result.output)")
    let words = try TraceFile.load(mounted.command.directory.file("t.sqlite")).events.count
    #expect(words > 3)
  }

  @Test("a limit that is none is refused")
  func badLimit() throws {
    let command = try FaultlineCommand()
    for limit in ["0", "x", "-1", "9999999999T", "G"] {
      let result = try command.run(["mount", ".", "--recording-limit=\(limit)"])
      #expect(result.status == 2 && result.output.contains("as in 16G"), "\(result.output)")
    }
  }
}
