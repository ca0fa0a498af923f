// FleetTests.swift: shards of `faultline explore` and `faultline run`, joined again, and budgets of
// time.

import Findings
import Foundation
import TestSupport
import Testing

@Suite(
  "fleet",
  .requires(.fuse))
struct FleetTests {
  /// A report without what may differ from run to run.
  private func plain(_ report: RunReport) throws -> String {
    var report = report
    for item in report.cases.indices {
      for place in report.cases[item].explorations.indices {
        report.cases[item].explorations[place].seconds = 0
        report.cases[item].seconds = nil
      }
    }
    return try report.json()
  }

  /// Runs the whole and all shards, and compares the joined report with the whole one.
  private func compare(
    _ arguments: [String], counts: [Int], status: Int32, minimum: Int
  ) throws {
    let command = try FaultlineCommand()
    let whole = try command.run(arguments + ["--json", "whole.json"])
    #expect(whole.status == status, "\(whole.output)")
    let expected = try command.report("whole.json")
    let explored = expected.cases.flatMap(\.explorations).reduce(0) { $0 + $1.exploredCount }
    #expect(explored >= minimum)
    for count in counts {
      var files: [String] = []
      for index in 1...count {
        let file = "\(index)-of-\(count).json"
        let part = try command.run(arguments + ["--shard", "\(index)/\(count)", "--json", file])
        #expect([0, 1].contains(part.status), "\(part.output)")
        #expect(part.output.contains("shard=\(index)/\(count)"))
        files.append(file)
      }
      let merged = try command.run(["merge"] + files.reversed() + ["--json", "merged.json"])
      #expect(merged.status == status, "\(merged.output)")
      #expect(merged.lines.last == whole.lines.last)
      #expect(try plain(command.report("merged.json")) == plain(expected), "\(count) shards")
      let missing = try command.run(["merge"] + files.dropFirst())
      #expect(missing.status == 2 && missing.output.contains("1/\(count)"), "\(missing.output)")
      let doubled = try command.run(["merge"] + files + [files[0]])
      #expect(doubled.status == 2 && doubled.output.contains("is given twice"))
    }
  }

  @Test("explore: any number of shards joined is the whole, findings included")
  func explored() throws {
    let arguments = FaultlineCommand.example("safe-replace", workload: "in-place")
    try compare(
      arguments + ["--model", "ext4-ordered,btrfs", "--budget", "40"], counts: [2, 5],
      status: 1, minimum: 20)
  }

  @Test("run: crashes, crashes during recovery, kills and a planted bug, joined, are the whole")
  func scenarios() throws {
    let command = try FaultlineCommand()
    let head = """
      title: Three commits survive
      schema: {Dog: {_id: int primary, name: string}}
      processes: {app: [ui]}
      steps:
        - ui: open
        - ui: {repeat: 3, write: [{upsert: Dog, _id: 1..3, name: random}]}

      """
    _ = try command.write(
      head + "crash: {model: posix, explore: all, budget: {states: 40}, recovery: true}\n"
        + "killSweep: {process: app, at: every sync}\n", to: "a.yaml")
    _ = try command.write(
      head + """
        faults:
          - {on: sync, ofCommit: 1, ignore: true}
        crash: {model: ext4-ordered, explore: all, budget: {states: 60}}
        negative:
          expect: [structure, durability]
          because: of the ignored sync

        """, to: "b.yaml")
    let paths = [command.directory.file("a.yaml"), command.directory.file("b.yaml")]
    try compare(["run"] + paths, counts: [3], status: 0, minimum: 80)
  }

  @Test("an array job names the shard, and a report says which it is")
  func arrayJob() throws {
    let command = try FaultlineCommand()
    let arguments = FaultlineCommand.example("safe-replace", workload: "safe")
    for task in 1...2 {
      let result = try command.run(
        arguments + ["--budget", "30", "--json", "\(task).json"],
        environment: [
          "SLURM_ARRAY_TASK_ID": "\(task)", "SLURM_ARRAY_TASK_COUNT": "2",
          "SLURM_ARRAY_TASK_MIN": "1",
        ])
      #expect(result.status == 0, "\(result.output)")
      #expect(result.output.contains("shard=\(task)/2 (from SLURM_ARRAY_TASK_ID)"))
      #expect(try command.report("\(task).json").shard?.description == "\(task)/2")
    }
    let merged = try command.run(["merge", "1.json", "2.json"])
    #expect(merged.status == 0 && merged.hasLine("verdict: held, 0 findings"))
    let wrong = try command.run(arguments, environment: ["JOB_COMPLETION_INDEX": "0"])
    #expect(wrong.status == 2 && wrong.output.contains("FAULTLINE_SHARD_COUNT"))
  }

  @Test("a time budget ends the checking, says so, and is not an interruption")
  func timeBudget() throws {
    let command = try FaultlineCommand()
    let workload = "for i in 1 2 3 4 5 6 7 8 9; do echo $i > f$i; done; echo done"
    let result = try command.run(
      FaultlineCommand.exploration(workload: workload, check: "sleep 0.2")
        + ["--time-budget", "2s", "--jobs", "2", "--json", "r.json"])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("; the time budget ended first"))
    let exploration = try command.report("r.json").cases[0].explorations[0]
    #expect(exploration.isOutOfTime == true && !exploration.isInterrupted)
    #expect((1..<exploration.distinctCount).contains(exploration.exploredCount))
    let scenario = "\(FaultlineCommand.repository)/scenarios/negative/first-sync-ignored.yaml"
    let enough = try command.run(["run", scenario, "--budget", "100", "--time-budget", "10m"])
    #expect(enough.status == 0 && !enough.output.contains("time budget"), "\(enough.output)")
    for text in ["", "10", "s", "0s", "-1s", "1d", "1.5m", "99999999999999999999s"] {
      let wrong = try command.run(["run", scenario, "--time-budget=\(text)"])
      #expect(wrong.status == 2, "\(text): \(wrong.output)")
    }
  }

  @Test("a model of one's own finds what its base forbids, and its token needs no file")
  func modelFile() throws {
    let command = try FaultlineCommand()
    let model = try command.write(
      "name: no-auto\nbase: ext4-ordered\nsafeReplaceByRename: false\n", to: "no-auto.yaml")
    let arguments = FaultlineCommand.example("safe-replace", workload: "no-fsync")
    let base = try command.run(arguments + ["--model", "ext4-ordered", "--budget", "200"])
    #expect(base.status == 0, "\(base.output)")
    let own = try command.run(arguments + ["--model-file", model, "--budget", "200"])
    #expect(own.status == 1, "\(own.output)")
    #expect(own.output.contains("no-auto: "))
    try FileManager.default.removeItem(atPath: model)
    let token = try #require(own.replayToken)
    let again = try command.run(["replay", token])
    #expect(again.status == 1 && again.output.contains("verdict: broken, reproduced"))
    _ = try command.write("name: no-auto\nbase: ext4\n", to: "wrong.yaml")
    let wrong = try command.run(
      arguments + ["--model-file", command.directory.file("wrong.yaml")])
    #expect(wrong.status == 2)
    #expect(wrong.output.contains("wrong.yaml:2:7: 'ext4' is not a stock model"))
  }

  @Test("run takes a model in place, by file, and replays its finding")
  func modelInScenario() throws {
    let command = try FaultlineCommand()
    _ = try command.write("name: filed\nbase: posix\nsectorBytes: none\n", to: "filed.yaml")
    let path = try command.write(
      """
      title: A sync that is ignored is found under any model
      schema: {Dog: {_id: int primary, name: string}}
      processes: {app: [ui]}
      steps:
        - ui: open
        - ui: {repeat: 3, write: [{upsert: Dog, _id: 1..3, name: random}]}
      faults:
        - {on: sync, ofCommit: 1, ignore: true}
      crash: {model: [filed.yaml, {name: inline, base: xfs, sectorBytes: none}]}

      """, to: "s.yaml")
    let result = try command.run(["run", path, "--budget", "200", "--json", "r.json"])
    #expect(result.status == 1, "\(result.output)")
    let item = try command.report("r.json").cases[0]
    #expect(item.explorations.map(\.model) == ["filed", "inline"])
    #expect(
      item.findings.allSatisfy { $0.models.contains("filed") || $0.models.contains("inline") })
    let again = try command.run(["replay", try #require(result.replayToken)])
    #expect(again.status == 1, "\(again.output)")
  }
}
