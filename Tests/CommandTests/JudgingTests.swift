// JudgingTests.swift: small programs, judged without a checker: each rule finds its broken one, and
// is silent about the one that does it right.

import TestSupport
import Testing

@Suite(
  "judging without a checker",
  .requires(.fuse))
struct JudgingTests {
  /// A program, and what the first finding says; nil of one that does it right.
  struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    var setup = "echo volume=5 > settings"
    let workload: String
    var options: [String] = []
    var says: String?
    var remark: String?
    var testDescription: String { name }
  }

  static let safe = "echo volume=11 > s.tmp; sync s.tmp; mv s.tmp settings; sync .; echo saved"

  static let pointed = "seq 9 > data-0; echo data-0 > CURRENT"
  static let pointing =
    "echo data-1 > C.tmp; sync C.tmp; mv C.tmp CURRENT; sync .; rm data-0; echo published"
  static let logged = """
    echo one two three > log; sync log .; echo put one
    echo ONE > s.tmp; sync s.tmp; mv s.tmp snapshot;
    """
  static let inPlace = """
    printf FIRST | dd of=data conv=notrunc status=none
    printf RECORD | dd of=data bs=1 seek=6 conv=notrunc status=none
    sync data; rm undo; sync .; echo applied
    """

  static let cases: [Case] = [
    Case(name: "safe replacement", workload: safe),
    Case(name: "safe replacement, under posix", workload: safe, options: ["--model", "posix"]),
    Case(
      name: "went back: no sync of the directory",
      workload: "echo volume=11 > s.tmp; sync s.tmp; mv s.tmp settings; echo saved",
      says: "'settings' went back to an older content, although 'saved' was printed"),
    Case(
      name: "announcements promise nothing",
      workload: "echo volume=11 > s.tmp; sync s.tmp; mv s.tmp settings; echo saving ..."),
    Case(
      name: "half-written: no sync of the file",
      workload: "echo volume=11 > s.tmp; mv s.tmp settings; sync .; echo saved",
      options: ["--model", "posix"], says: "'settings' is half-written: it"),
    Case(
      name: "the only copy is written over", workload: "echo volume=11 > settings",
      says: "'settings' is half-written: it is empty, and the old content is gone"),
    Case(
      name: "the source is still there", setup: "echo volume=5 > settings; echo volume=11 > new",
      workload: "cp new settings", remark: "a whole content has another name"),
    Case(
      name: "neither: removed first",
      workload: "sync settings; rm settings; echo volume=11 > settings; sync settings; sync .",
      says: "'settings' is gone: the old one was removed, and the new one is not there"),
    Case(
      name: "neither: the copy is not durable",
      workload: "gzip -n settings", says: "'settings' is gone, and 'settings.gz'"),
    Case(
      name: "a durable copy", workload: "gzip -nk settings; sync settings.gz; sync .; rm settings"),
    Case(
      name: "a log with syncs", setup: "echo 0 > log",
      workload: "for i in 1 2; do echo $i >> log; sync log; echo saved $i; done"),
    Case(
      name: "a log whose last sync is missing", setup: "echo 0 > log",
      workload: "echo 1 >> log; sync log; echo saved 1; echo 2 >> log; echo saved 2",
      says: "'log' went back to an older content, although 'saved 2' was printed"),
    Case(
      name: "ignored files", setup: "echo 0 > log",
      workload: "echo 1 >> log; sync log; echo saved 1; echo 2 >> log; echo saved 2",
      options: ["--ignore", "l*g"]),
    Case(
      name: "a pointer leads nowhere", setup: pointed,
      workload: "seq 20 > data-1; sync data-1; \(pointing)", options: ["--model", "posix"],
      says: "'CURRENT' leads to 'data-1', where 'data-1' is missing"),
    Case(
      name: "a pointer to what is durable", setup: pointed,
      workload: "seq 20 > data-1; sync data-1 .; \(pointing)", options: ["--model", "posix"]),
    Case(
      name: "a checkpoint: the log goes before the snapshot is durable", setup: "echo a > snapshot",
      workload: "\(logged) : > log; sync log; echo done", options: ["--model", "posix"],
      says: "'log' was emptied, and 'snapshot', written before that, is not there"),
    Case(
      name: "a checkpoint in order", setup: "echo a > snapshot",
      workload: "\(logged) sync .; : > log; sync log; echo done", options: ["--model", "posix"]),
    Case(
      name: "an undo log that is not synced", setup: "echo first record 0001 > data",
      workload: "cp data undo; \(inPlace)", options: ["--model", "posix"],
      says: "'data' is changed in part, and its journal 'undo' has not the old bytes"),
    Case(
      name: "an undo log", setup: "echo first record 0001 > data",
      workload: "cp data undo; sync undo .; \(inPlace)", options: ["--model", "posix"]),
    Case(
      name: "a temporary file that stays", setup: "echo 1 > list",
      workload: "echo draft > .l.tmp; echo 2 > new; sync new; mv new list; sync .; echo saved",
      options: ["--model", "posix"]),
    Case(name: "a new file, never synced", workload: "echo hello > new; cp new other"),
    Case(
      name: "never synced, but said to be durable", workload: "echo hello > new; echo stored",
      options: ["--durable"], says: "'new' is missing, although 'stored' was printed"),
  ]

  @Test("each rule finds its broken program, and no other one", arguments: cases)
  func judged(_ item: Case) throws {
    let command = try FaultlineCommand()
    let result = try command.run(
      ["explore", "--setup", item.setup, "--workload", item.workload] + item.options)
    #expect(result.status == (item.says == nil ? 0 : 1), "\(result.output)")
    if let says = item.says {
      #expect(result.output.contains("FINDING 1: \(says)"), "\(result.output)")
    }
    if let remark = item.remark { #expect(result.output.contains(remark), "\(result.output)") }
  }

  private static let database = """
    python3 -c 'import sqlite3
    d = sqlite3.connect("d")
    d.execute("create table t(a)")
    d.executemany("insert into t values(?)", [(i,) for i in range(3000)])
    d.commit()'
    """

  private static func update(synchronous: String) -> String {
    """
    python3 -c 'import sqlite3
    d = sqlite3.connect("d")
    d.execute("pragma synchronous=\(synchronous)")
    d.execute("update t set a = a + 1000000")
    d.commit()
    print("saved")'
    """
  }

  @Test("a database is opened as its recovery would", .requires(.python3))
  func databases() throws {
    let command = try FaultlineCommand()
    func run(_ synchronous: String) throws -> CommandResult {
      try command.run([
        "explore", "--setup", Self.database, "--workload",
        Self.update(synchronous: synchronous), "--budget", "300",
      ])
    }
    let safe = try run("extra")
    #expect(safe.status == 0, "\(safe.output)")
    let unsynced = try run("off")
    #expect(unsynced.output.contains("'d' cannot be opened any more as an SQLite database"))
  }

  @Test("a token replays without a checker, and a program can stand behind --")
  func replays() throws {
    let command = try FaultlineCommand()
    let result = try command.run([
      "explore", "--setup", "echo volume=5 > settings", "--", "sh", "-c", "echo 'a b' > settings",
    ])
    #expect(result.status == 1, "\(result.output)")
    #expect(result.output.contains("judged without a checker, by the rule 'half-written'"))
    let token = try #require(result.replayToken)
    let replay = try command.run(["replay", token])
    #expect(replay.status == 1, "\(replay.output)")
    #expect(replay.output.contains("FINDING 1: 'settings' is half-written"))
  }

  @Test("what needs a checker says so")
  func refusals() throws {
    let command = try FaultlineCommand()
    for arguments in [
      ["--recover", "true", "--on", "ext4", "--workload", "true"],
      ["--media", "all", "--workload", "true"],
      ["--check", "true", "--durable", "--workload", "true"], [],
    ] {
      let result = try command.run(["explore"] + arguments)
      #expect(result.status == 2, "\(result.output)")
    }
  }
}
