// WriteBackTests.swift: dirty mapped pages written back between two stores, as a kernel may do.

import FaultFS
import Foundation
import Recording
import TestSupport
import Testing

@Suite(
  "write-back",
  .requires(.fuse))
struct WriteBackTests {
  private static let program =
    FaultlineCommand.folder.appendingPathComponent("mapped-order").path

  private func explore(
    _ command: FaultlineCommand, safe: Bool = false, _ more: [String]
  ) throws -> CommandResult {
    try command.explore(
      setup: "head -c 4096 /dev/zero > data; sync data; sync .",
      workload: "'\(Self.program)' data log 8 \(safe ? "safe" : "")",
      check: "'\(Self.program)' check data", more)
  }

  @Test("what only an intermediate content breaks is found with write-back, and only with it")
  func intermediateContent() throws {
    let command = try FaultlineCommand()
    let without = try explore(command, ["--model", "posix"])
    #expect(without.status == 0, "\(without.output)")
    let with = try explore(command, ["--write-back", "7:2"])
    #expect(with.status == 1, "\(with.output)")
    #expect(with.output.contains("torn record: number "), "\(with.output)")
    let again = try command.run(["replay", try #require(with.replayToken)])
    #expect(again.status == 1, "\(again.output)")
  }

  @Test("a page that is right at every moment holds", arguments: 1...3)
  func rightAtEveryMoment(seed: Int) throws {
    let result = try explore(FaultlineCommand(), safe: true, ["--write-back", "\(seed):1"])
    #expect(result.status == 0, "\(result.output)")
  }

  @Test("the same seed gives the same trace of one actor", arguments: [1, 2])
  func determinism(seed: Int) throws {
    let shapes = try (0..<3).map { _ in
      let command = try FaultlineCommand()
      let more = ["--write-back", "\(seed):3", "--budget", "1", "--trace", "t.sqlite"]
      _ = try explore(command, safe: true, more)
      return try TraceFile.load(command.directory.file("t.sqlite")).shape
    }
    #expect(Set(shapes).count == 1, "\(shapes)")
  }

  @Test("the engine under power cuts and write-back: nothing is found")
  func engine() throws {
    let result = try FaultlineCommand().run(["stress", "--cuts", "8", "--write-back", "5:3"])
    #expect(result.status == 0, "\(result.output)")
  }

  /// Where pages were dropped to have them written, a reader could bring an old one back.
  @Test("several processes and threads of the engine: nothing is found", arguments: 1...2)
  func manyThreads(seed: Int) throws {
    let result = try FaultlineCommand().run([
      "stress", "--cuts", "6", "--no-swarm", "--seed", "\(seed)", "--write-back", "\(seed):1",
    ])
    #expect(result.status == 0, "\(result.output)")
  }

  @Test(
    "SQLite with WAL and synchronous=FULL: nothing is found",
    .requires(.sqlite3))
  func sqlite() throws {
    let result = try FaultlineCommand().run(
      FaultlineCommand.example("sqlite", setup: "WAL", workload: "WAL FULL")
        + ["--write-back", "5:3", "--budget", "150"])
    #expect(result.status == 0, "\(result.output)")
  }

  /// The kernel has forgotten the name of an open file, and somebody who makes another name beside
  /// it has the directory locked.
  @Test("a request that the write-back itself waits for is not held for ever")
  func lockedDirectory() throws {
    let mount = try MountedFaultFS()
    let go = mount.outside.file("go")
    let made = mount.outside.file("made")
    let script =
      "exec 5<>f; until [ -e '\(go)' ]; do sleep 0.05; done; : >g; : >'\(made)'"
    let maker = try RunningProgram(["/bin/bash", "-c", script], in: mount.path)
    #expect(waitUntil(seconds: 30) { FileManager.default.fileExists(atPath: mount.file("f")) })
    let rule = FaultRule(when: FaultRule.Match([.lookUp]), what: .kill(.before))
    try mount.client.addRules([rule])
    try mount.client.clearRules()
    _ = try mount.shell("stat .")
    try mount.client.writeBack(PageWriteBack(seed: 1, rate: 1))
    try Data().write(to: URL(fileURLWithPath: go))
    try #require(waitUntil(seconds: 30) { FileManager.default.fileExists(atPath: made) })
    #expect(maker.wait().status == 0)
  }
}
