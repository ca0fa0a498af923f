// CheckerLoops.swift: how fast checkers of any program are asked: checker-loop/process-python and
// -c compare a checker that stays (--check-loop) with the same one started for each state, and
// checker-directory/anew a shell checker over the directory that stays with one that is written
// anew for each state.
// Both sides of a row judge states of one recording with the same question. Ours counts the fresh
// processes that judge samples again; both count the visit of the states.

import CrashStates
import Exploration
import Findings
import Foundation
import LabCore
import Recording

/// A program with a database, and its checkers in a folder of their own.
private struct CheckedProgram {
  let folder: URL
  private let workload = """
    sqlite3 -batch test.db "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;
    CREATE TABLE entries(id INTEGER PRIMARY KEY, body TEXT);" > /dev/null
    for i in $(seq 40); do
      sqlite3 -batch test.db "INSERT INTO entries VALUES($i, hex(randomblob(200)))"
    done
    """

  init() throws {
    folder = try Scratch.makeDirectory("checkers")
    try Self.python.write(
      to: folder.appending(path: "check.py"), atomically: true, encoding: .utf8)
    try Self.c.write(to: folder.appending(path: "check.c"), atomically: true, encoding: .utf8)
    let modules = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "examples/checkers").path
    let built = try Processes.status(of: [
      "/bin/sh", "-c",
      "cp '\(modules)/python/faultline_check.py' '\(folder.path)' && cc -O2 -I '\(modules)/c' "
        + "-o '\(folder.path)/check' '\(folder.path)/check.c' -lsqlite3",
    ])
    guard built == 0 else { throw BenchError("cc -lsqlite3 ends with \(built)") }
  }

  /// States per second that one checker judges.
  func rate(_ command: String, stays: Bool, budget: Int) throws -> Double {
    var program = ProgramUnderTest(
      workload: workload, check: command + (stays ? "" : " once"))
    program.checkStays = stays
    var settings = ExplorationSettings()
    settings.models = [.posix]
    settings.jobs = 1
    settings.budget = budget
    let explorer = try ProgramExplorer(
      program: program, settings: settings, keepingTrace: nil, console: .silent)
    let item = try explorer.explore()
    guard item.findings.isEmpty, let report = item.explorations.first,
      report.exploredCount == budget
    else {
      throw BenchError("\(command): \(item.findings.map(\.headline)), wanted \(budget) states")
    }
    return report.statesPerSecond
  }

  private static let python = """
    import os, sqlite3, sys
    from faultline_check import check_loop


    def judge(directory, output):
        if not os.path.exists("test.db"):
            return None
        database = sqlite3.connect("test.db")
        try:
            if database.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                return "damaged"
            return None
        finally:
            database.close()


    if sys.argv[1:] == ["once"]:
        sys.exit(1 if judge(".", "") else 0)
    check_loop(judge)
    """

  private static let c = """
    #include "faultline_check.h"
    #include <sqlite3.h>
    static int judge(const char *directory, const char *output, char *words, size_t size) {
      sqlite3 *database;
      sqlite3_stmt *statement = NULL;
      int verdict = faultline_broken;
      (void)directory, (void)output;
      if (access("test.db", F_OK) != 0) return faultline_held;
      if (sqlite3_open("test.db", &database) == SQLITE_OK &&
          sqlite3_prepare_v2(database, "PRAGMA integrity_check", -1, &statement, 0) == SQLITE_OK &&
          sqlite3_step(statement) == SQLITE_ROW &&
          strcmp((const char *)sqlite3_column_text(statement, 0), "ok") == 0) {
        verdict = faultline_held;
      } else {
        snprintf(words, size, "%s", sqlite3_errmsg(database));
      }
      sqlite3_finalize(statement);
      sqlite3_close(database);
      return verdict;
    }
    int main(int count, char **arguments) {
      char words[256];
      if (count < 2 || strcmp(arguments[1], "once") != 0) return faultline_check_loop(judge);
      return judge(".", "", words, sizeof words);
    }
    """
}

/// States of a program that rewrites some of a hundred files, and a shell checker.
private struct ManyFiles {
  let folder: URL
  private var trees: [TreeImage] = []
  private let check = "for f in n*; do read -r line < $f || exit 1; done; exit 0"

  init(_ count: Int) throws {
    folder = try Scratch.makeDirectory("files")
    let trace = folder.appending(path: "trace").path
    var settings = ExplorationSettings()
    settings.budget = 1
    let program = ProgramUnderTest(
      workload: "for i in $(seq 60); do echo new $i > n$i; done", check: "true",
      setup: "for i in $(seq 100); do echo old $i > n$i; head -c 4000 /dev/urandom >> n$i; done")
    _ = try ProgramExplorer(
      program: program, settings: settings, keepingTrace: trace, console: .silent
    ).explore()
    let enumerator = try CrashStateEnumerator(
      trace: try TraceFile.load(trace), model: .ext4Ordered, seed: Seed(rawValue: 20))
    var found: [TreeImage] = []
    try enumerator.visit(try enumerator.plan(budget: count)) { (_, image) throws(LabError) in
      found.append(image.treeImage())
      return .goOn
    }
    trees = found
  }

  /// States per second.
  func rate(staying: Bool) throws -> Double {
    let directory = folder.appending(path: staying ? "stays" : "anew").path
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
    let writer = DirectoryWriter(path: directory)
    let clock = ContinuousClock()
    let start = clock.now
    for tree in trees {
      if staying {
        try DirectoryUpdater.update(directory, to: tree)
      } else {
        try writer.write(tree)
      }
      _ = try Processes.status(of: ["/bin/sh", "-c", "cd '\(directory)' && \(check)"])
    }
    return Double(trees.count) / (start.duration(to: clock.now) / .seconds(1))
  }
}

extension Benchmark {
  static let checkers: [Benchmark] = [
    checkerLoop("python", 2_000, 100) { "python3 '\($0)/check.py'" },
    checkerLoop("c", 4_000, 1_000) { "'\($0)/check'" },
    checkerDirectory,
  ]

  private static func checkerLoop(
    _ language: String, _ budget: Int, _ peerBudget: Int,
    _ command: @escaping @Sendable (String) -> String
  ) -> Benchmark {
    let name = "checker-loop/process-\(language)"
    return Benchmark(name: name) { settings in
      let program = try CheckedProgram()
      defer { try? FileManager.default.removeItem(at: program.folder) }
      let command = command(program.folder.path)
      let measured = try alternating(rounds: settings.rounds) {
        try program.rate(
          command, stays: !settings.peerOnBothSides,
          budget: settings.peerOnBothSides ? peerBudget : budget)
      } peer: {
        try program.rate(command, stays: false, budget: peerBudget)
      }
      return .rate(
        name, ours: measured.ours, peer: measured.peer, peerName: "one process per state",
        unit: "states/s")
    }
  }

  private static let checkerDirectory = Benchmark(name: "checker-directory/anew") { settings in
    let files = try ManyFiles(300)
    defer { try? FileManager.default.removeItem(at: files.folder) }
    let measured = try alternating(rounds: settings.rounds) {
      try files.rate(staying: !settings.peerOnBothSides)
    } peer: {
      try files.rate(staying: false)
    }
    return .rate(
      "checker-directory/anew", ours: measured.ours, peer: measured.peer,
      peerName: "directory written anew", unit: "states/s")
  }
}
