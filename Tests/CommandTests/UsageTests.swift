// UsageTests.swift: what the user did wrong is said in words, with exit code 2, first of all.

import Foundation
import TestSupport
import Testing

@Suite("usage")
struct UsageTests {
  @Test("--version and reports name the version, and the commit of a clone")
  func version() throws {
    let command = try FaultlineCommand()
    let printed = try command.run(["--version"]).output
    let pattern = /faultline (0\.\d+\.\d+( \(commit [0-9a-f]{12}\))?)\n/
    let version = try #require(printed.wholeMatch(of: pattern), "\(printed)")
    let git = FaultlineCommand.repository + "/.git"
    #expect((version.2 != nil) == FileManager.default.fileExists(atPath: git), "\(printed)")
    let scenario = FaultlineCommand.repository + "/scenarios/durability/commits.yaml"
    let options = ["--backend", "in-process", "--budget", "2", "--json", "r.json"]
    _ = try command.run(["run", scenario] + options)
    #expect(try command.report("r.json").version == String(version.1))
  }

  @Test(
    "a checker that rejects the untouched state is refused", .requires(.fuse),
    arguments: ["echo 'no: never'; exit 1", "test ! -e file"])
  func badChecker(check: String) throws {
    let result = try FaultlineCommand().explore(workload: "echo a > file", check: check)
    #expect(result.status == 2, "\(result.output)")
    #expect(
      result.output.contains("your checker rejects the state without any crash"), "\(result.output)"
    )
  }

  @Test("a failing workload or setup shows its output", .requires(.fuse))
  func failingProgram() throws {
    let workload = try FaultlineCommand().explore(
      workload: "echo out; echo trouble in paradise >&2; exit 7", check: "true")
    #expect(workload.status == 2, "\(workload.output)")
    #expect(workload.output.contains("the workload failed with exit status 7"))
    #expect(workload.output.contains("trouble in paradise"))
    let setup = try FaultlineCommand().explore(
      setup: "printf 'bad \\377 bytes'; exit 3", workload: "true", check: "true")
    #expect(setup.status == 2, "\(setup.output)")
    #expect(setup.output.contains("the setup failed with exit status 3"))
    #expect(setup.output.contains("bytes"))
  }

  @Test(
    "wrong options are refused with the option's name",
    arguments: [
      (["--model", "ext9"], "ext9"), (["--budget", "0"], "--budget"),
      (["--budget", "many"], "--budget"), (["--jobs", "0"], "--jobs"),
      (["--jobs", "257"], "--jobs"), (["--timeout", "0"], "--timeout"),
      (["--seed", "-1"], "--seed"), (["--colour"], "--colour"),
    ])
  func options(arguments: [String], named: String) throws {
    let command = try FaultlineCommand()
    let result = try command.explore(
      workload: "touch '\(command.directory.path)/ran'", check: "true", arguments)
    #expect(result.status == 2, "\(result.output)")
    #expect(result.output.contains(named), "\(result.output)")
    #expect(!FileManager.default.fileExists(atPath: command.directory.file("ran")))
  }

  @Test("missing arguments, files and folders are usage errors")
  func missing() throws {
    let command = try FaultlineCommand()
    #expect(try command.run(["explore"]).status == 2)
    #expect(try command.run(["explode"]).status == 2)
    let run = try command.run(["run", "nowhere.yaml"])
    #expect(run.status == 2)
    #expect(run.output.contains("nowhere.yaml: no such file or directory"))
    #expect(try command.run(["run", command.directory.path]).output.contains("no .yaml files"))
    let mount = try command.run(["mount", "nowhere"])
    #expect(mount.status == 2, "\(mount.output)")
    #expect(mount.output.contains("not a directory"))
  }

  @Test("a report that cannot be written is told before the work is done")
  func unwritableReport() throws {
    let command = try FaultlineCommand()
    let result = try command.explore(
      workload: "touch '\(command.directory.path)/ran'", check: "true",
      ["--json", "nowhere/r.json"])
    #expect(result.status == 2, "\(result.output)")
    #expect(result.output.contains("nowhere"))
    #expect(!FileManager.default.fileExists(atPath: command.directory.file("ran")))
  }

  @Test("a scenario error names its place, and nothing runs")
  func scenarioError() throws {
    let command = try FaultlineCommand()
    let good = "\(FaultlineCommand.repository)/scenarios/durability/reopen.yaml"
    let bad = try command.write(
      """
      title: A mistake
      schema: {Dog: {_id: int primary}}
      processes: {app: [ui]}
      steps:
        - nobody: open
      """, to: "bad.yaml")
    let result = try command.run(["run", good, bad])
    #expect(result.status == 2, "\(result.output)")
    #expect(result.output.contains("bad.yaml:5:5"), "\(result.output)")
    #expect(!result.output.contains("explored"))
  }

  @Test("a step that breaks without any crash is named with its line and column")
  func brokenStep() throws {
    let command = try FaultlineCommand()
    let scenario = try command.write(
      """
      title: One row, and two expected
      schema: {Dog: {_id: int primary}}
      processes: {app: [ui]}
      steps:
        - ui: open
        - ui: {write: [{insert: Dog, _id: sequence}]}
        - expect: {count: {Dog: 2}}
      """, to: "broken.yaml")
    let result = try command.run(["run", "--backend", "in-process", scenario])
    #expect(result.status == 1, "\(result.output)")
    #expect(
      result.output.contains("broken.yaml:7:5: without any crash: FAILED expectation"),
      "\(result.output)")
  }

  @Test(
    "help shows an example", arguments: [[], ["run"], ["explore"], ["replay"], ["mount"]])
  func help(subcommand: [String]) throws {
    let result = try FaultlineCommand().run(subcommand + ["--help"])
    #expect(result.status == 0)
    #expect(result.output.contains("Example"))
    #expect(result.output.contains("faultline "))
    for hidden in ["child", "guard", "judge", "worker"] {
      #expect(!result.output.contains("  \(hidden) "))
    }
  }

  @Test(
    "what the lab starts says so when a person does, and which variable is not as it must be",
    arguments: [
      (
        ["child", "stress-judge"], [:], "stress-judge is started by faultline, which sets $"
      ),
      (
        ["child", "stress-load", "0", "0"], ["FAULTLINE_DIR": "/", "FAULTLINE_ROUND": "x"],
        "$FAULTLINE_ROUND is not a number: 'x'"
      ),
      (
        ["child", "scenario-judge", "a.yaml", "1"],
        ["FAULTLINE_DIR": "/", "FAULTLINE_OUTPUT": "/nowhere"], "there is no file /nowhere"
      ),
      // The commands of replay tokens of older versions.
      (["stress-judge"], [:], "stress-judge is started by faultline, which sets $"),
      (["scenario-work", "a.yaml", "1"], [:], "scenario-work is started by faultline"),
    ] as [([String], [String: String], String)])
  func startedByTheLab(
    arguments: [String], environment: [String: String], message: String
  ) throws {
    let result = try FaultlineCommand().run(arguments, environment: environment)
    #expect(result.status == 2 && result.output.contains(message), "\(result.output)")
  }

  @Test(
    "a child that does not exist, or is started otherwise than it must be, is misuse",
    arguments: [
      (["child"], "Missing expected argument '<program>'"),
      (
        ["child", "jugde", "job"],
        "child jugde: no such program; there are check-shard, document-check, "
      ),
      (["child", "worker"], "faultline child worker DIRECTORY: 0 arguments given; faultline "),
      (["child", "judge", "a", "b"], "faultline child judge JOB: 2 arguments given; faultline "),
      (
        ["child", "check-shard", "job", "2", "2", "0", "progress"],
        "faultline child check-shard JOB INDEX COUNT FIRST PROGRESS: shard 2 of 2; faultline "
      ),
      (["child", "check-shard", "job", "0", "1", "x", "progress"], "FIRST is not a number: 'x'"),
      (["child", "stress-load", "--", "0"], "PROCESS is not a number: '--'"),
      (["child", "write-back", "now", "ext4"], "no such moment: 'now'"),
      (["child", "write-back", "all", "fat"], "no such file system"),
    ] as [([String], String)])
  func misusedChild(arguments: [String], message: String) throws {
    let result = try FaultlineCommand().run(arguments)
    #expect(result.status == 2 && result.output.contains(message), "\(result.output)")
  }
}
