// FaultCommandTests.swift: `faultline mount --faults` and `faultline fault` as a user runs them,
// and faults of scenarios that only one actor meets.

import Foundation
import Glibc
import Recording
import TestSupport
import Testing

@Suite(
  "faultline fault",
  .requires(.fuse), .serialized)
struct FaultCommandTests {
  /// A mount by the command, in the command's directory.
  private final class Mounted {
    let command: FaultlineCommand
    let program: RunningProgram
    var path: String { command.directory.file("mnt") }

    init(_ faults: String? = nil) throws {
      command = try FaultlineCommand()
      try FileManager.default.createDirectory(
        atPath: command.directory.file("mnt"), withIntermediateDirectories: false)
      var arguments = ["mount", "mnt", "--trace", "t.sqlite"]
      if let faults {
        arguments += ["--faults", try command.write(faults, to: "faults.yaml")]
      }
      program = try command.start(arguments)
      let place = " \(path) "
      let isThere = waitUntil(seconds: 20) {
        let table = FileManager.default.contents(atPath: "/proc/self/mountinfo") ?? Data()
        return String(decoding: table, as: UTF8.self).contains(place)
      }
      try #require(isThere, "the mount never came")
    }

    func shell(_ script: String) throws -> ProgramResult { try runShell(script, in: path) }

    func fault(_ arguments: String...) throws -> CommandResult {
      try command.run(["fault", arguments[0], "mnt"] + arguments.dropFirst())
    }

    /// Ends the mount as Ctrl-C does; what it said, and its trace.
    func end() throws -> (ProgramResult, Trace) {
      kill(program.process, SIGINT)
      let result = program.wait()
      return (result, try TraceFile.load(command.directory.file("t.sqlite")))
    }
  }

  @Test("rules from a file, added, listed, awaited and cleared while a program runs")
  func live() throws {
    let mounted = try Mounted("faults:\n  - {on: write, file: \"*.db\", nth: 2, error: ENOSPC}\n")
    let listed = waitUntil(seconds: 10) {
      (try? mounted.fault("list").output.contains("1  hits=0 matches=0")) == true
    }
    #expect(listed)
    let failing = try mounted.shell("echo a > x.db; echo b > x.db; echo c > x.db; cat x.db")
    #expect(failing.output.contains("No space left on device") && failing.output.hasSuffix("c\n"))
    let added = try mounted.fault("add", "on: open, file: slow, hang: true", "{on: any, delay: 1}")
    #expect(added.status == 0 && added.lines.map { $0.first } == ["2", "3"])
    let early = try mounted.fault("wait", "--rule", "2", "--timeout", "0")
    #expect(early.status == 3 && early.output.contains("rule 2 has hits=0 < 1 after 0 s"))
    try "x".write(toFile: mounted.path + "/slow", atomically: false, encoding: .utf8)
    let reader = try RunningProgram(["/bin/cat", mounted.path + "/slow"], in: "/")
    let waited = try mounted.fault("wait", "--rule", "2", "--timeout", "20")
    #expect(waited.status == 0 && waited.output.contains("2  hits=1"))
    let cleared = try mounted.fault("clear", "2")
    #expect(cleared.status == 0 && cleared.lines.count == 1)
    #expect(reader.wait().output == "x")
    let rest = try mounted.fault("list").lines
    #expect(rest.count == 2 && rest[0].hasPrefix("1  hits=1 matches=3"), "\(rest)")
    let json = try mounted.fault("list", "--json").output
    #expect(json.contains("\"formatVersion\" : 1") && json.contains("\"hitCount\" : 1"))
    #expect(try mounted.fault("clear").lines.count == 2)
    #expect(try mounted.fault("list").output.isEmpty)
    let (result, trace) = try mounted.end()
    #expect(result.status == 0, "\(result.output)")
    #expect(trace.faults.contains { $0.kind == "write" && $0.errno == ENOSPC && $0.path == "x.db" })
    #expect(trace.faults.contains { $0.kind == "open" && $0.effect == "hang" && $0.path == "slow" })
  }

  @Test("rules that have done nothing are named at the end, with what to look at")
  func idleRules() throws {
    let mounted = try Mounted(
      """
      - {on: sync, file: "f", error: EIO}
      - {on: write, file: "[a-e].db", error: EIO}
      - {on: write, file: "[a-e].db", nth: 5, error: EIO}
      """)
    #expect(waitUntil(seconds: 10) { (try? mounted.fault("list").lines.count) == 3 })
    #expect(try mounted.shell("echo x > c.db").status == 1)
    #expect(try mounted.shell("echo x > f.db").status == 0)
    let (result, _) = try mounted.end()
    #expect(result.output.contains("rule 1 never matched"), "\(result.output)")
    #expect(!result.output.contains("rule 2 never"), "\(result.output)")
    #expect(result.output.contains("rule 3 matched once and never hit"), "\(result.output)")
  }

  @Test("df follows a quota and a full disk, and statfs can fail")
  func space() throws {
    let mounted = try Mounted("{on: [write, allocate], quota: 1048576}")
    #expect(waitUntil(seconds: 10) { (try? mounted.fault("list").lines.count) == 1 })
    let small = try mounted.shell("head -c 409600 /dev/zero > f; df -B4096 --output=size,avail .")
    #expect(small.output.split(whereSeparator: \.isWhitespace).suffix(2) == ["256", "156"])
    #expect(try mounted.fault("clear").status == 0)
    #expect(try mounted.fault("add", "on: write, noSpaceAfter: 40960").status == 0)
    let full = try mounted.shell("head -c 8192 /dev/zero > g; df -B4096 --output=avail .")
    #expect(full.output.split(whereSeparator: \.isWhitespace).last == "8", "\(full.output)")
    #expect(try mounted.fault("add", "on: statfs, error: EIO").status == 0)
    #expect(try mounted.shell("df . 2>&1").output.contains("Input/output error"))
    _ = try mounted.end()
  }

  @Test("after a mark that somebody sends")
  func mark() throws {
    let mounted = try Mounted("{on: mkdir, error: EIO}".replacing("mkdir", with: "create"))
    #expect(try mounted.fault("clear").status == 0)
    #expect(try mounted.fault("add", "on: create, after: now, error: EIO").status == 0)
    #expect(try mounted.shell("mkdir a").status == 0)
    #expect(try mounted.fault("mark", "now").status == 0)
    #expect(try mounted.shell("mkdir b").output.contains("Input/output error"))
    _ = try mounted.end()
  }

  @Test("misuse is named, with exit code 2: rules, errors, directories")
  func misuse() throws {
    let mounted = try Mounted()
    let cases: [(arguments: [String], text: String)] = [
      (["add", "on: write, error: EROFS"], "rule 1:1:12: fault rule: errno EROFS: write cannot"),
      (["add", "on: write"], "a fault has one effect, found 0"),
      (["add", "--file", "none.yaml"], "cannot read the fault file none.yaml"),
      (["add"], "no rule"), (["clear", "7"], "no fault rule 7 is in force; there are none"),
      (["wait", "--rule", "3"], "no fault rule 3"),
    ]
    for (arguments, text) in cases {
      let result = try mounted.command.run(
        ["fault", arguments[0], "mnt"] + arguments.dropFirst())
      #expect(result.status == 2 && result.output.contains(text), "\(arguments): \(result.output)")
    }
    #expect(try mounted.fault("add", "--any-errno", "on: write, error: EROFS").status == 0)
    let elsewhere = try mounted.command.run(["fault", "list", "."])
    #expect(elsewhere.status == 2 && elsewhere.output.contains("no faulty file system is mounted"))
    _ = try mounted.end()
    let broken = try mounted.command.write("[{on: write, eror: EIO}]", to: "faults.yaml")
    let refused = try mounted.command.run(["mount", "mnt", "--faults", broken])
    #expect(refused.status == 2 && refused.output.contains("nearest valid key 'error'"))
  }

  @Test("a scenario's fault can be one actor's alone", arguments: ["ui", "nobody"])
  func actorOfScenario(_ actor: String) throws {
    let command = try FaultlineCommand()
    let shipped = FaultlineCommand.repository + "/scenarios/disk-faults/failed-write.yaml"
    let text = try String(contentsOfFile: shipped, encoding: .utf8)
      .replacing("commit: 4, error: EIO", with: "commit: 4, actor: \(actor), error: EIO")
      .replacing("budget: {states: 20000}", with: "budget: {states: 20}")
    let path = try command.write(text, to: "scenario.yaml")
    let result = try command.run(["run", path, "--backend", "fuse"])
    #expect(result.status == (actor == "ui" ? 0 : 2), "\(result.output)")
    if actor != "ui" { #expect(result.output.contains("no actor is named 'nobody'")) }
  }
}
