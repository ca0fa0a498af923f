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

  @Test("an unmount from outside ends the command, with the trace", arguments: [false, true])
  func unmounted(isBusy: Bool) throws {
    let mounted = try Mounted(["--trace", "t.sqlite"])
    #expect(waitUntil(seconds: 10) { (try? mounted.statistics().isRecording) == true })
    #expect(try mounted.shell("echo a > a").status == 0)
    if isBusy {
      // The file system lives on until its last user has gone.
      let script = "exec 5> b; umount -l '\(mounted.path)'; echo b >&5"
      #expect(try mounted.shell(script).status == 0)
    } else {
      #expect(try runShell("umount '\(mounted.path)'", in: "/").status == 0)
    }
    let result = mounted.program.wait()
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("unmounted\n"), "\(result.output)")
    let trace = try TraceFile.load(mounted.command.directory.file("t.sqlite"))
    let words = trace.events.map(\.word).filter { $0 != "close" }
    #expect(words == ["create", "write"] + (isBusy ? ["create", "write"] : []))
  }

  @Test("what was mounted in the place of an unmounted file system stays")
  func mountedAgain() throws {
    let mounted = try Mounted(["--trace", "t.sqlite"])
    #expect(waitUntil(seconds: 10) { (try? mounted.statistics().isRecording) == true })
    let path = mounted.path
    let swap = "umount '\(path)' && mount -t tmpfs tmpfs '\(path)' && touch '\(path)/kept'"
    #expect(try runShell(swap, in: "/").status == 0)
    defer { _ = try? runShell("umount '\(path)'", in: "/") }
    #expect(mounted.program.wait().status == 0)
    #expect(FileManager.default.fileExists(atPath: path + "/kept"))
  }

  @Test("a workload that unmounts its directory is not judged by a part of it")
  func unmountingWorkload() throws {
    let command = try FaultlineCommand()
    let result = try command.explore(workload: "echo a > a; umount -l .", check: "true")
    #expect(result.status == 3, "\(result.output)")
    #expect(result.output.contains("was unmounted by another process"), "\(result.output)")
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
