// StepTests.swift: a failure is walked through from a pipe, looked at under gdb, and told apart
// from one of another scenario or engine.

import CrashSim
import Foundation
import TestSupport
import Testing

@Suite(
  "replay --step",
  .enabled(if: MountedFaultFS.isAvailable, "\(MountedFaultFS.skipReason)"))
struct StepTests {
  private static let scenario = """
    title: Three commits survive
    schema: {Dog: {_id: int primary, name: string}}
    processes: {app: [ui]}
    steps:
      - ui: open
      - ui: {repeat: 3, write: [{insert: Dog, _id: sequence, name: random}]}
    faults:
      - {on: sync, ofCommit: 2, ignore: true}
    crash: {model: ext4-ordered, explore: all, budget: {states: 200}}

    """
  private static let gdb = FaultlineCommand.isInstalled("gdb")

  /// The token of a failure.
  private func failure(_ command: FaultlineCommand) throws -> String {
    let path = try command.write(Self.scenario, to: "s.yaml")
    let result = try command.run(["run", path])
    #expect(result.status == 1, "\(result.output)")
    return try #require(result.replayToken, "\(result.output)")
  }

  private func step(
    _ command: FaultlineCommand, _ token: String, _ words: String, _ options: String = ""
  ) throws -> CommandResult {
    let result = try runShell(
      "printf '\(words)' | '\(FaultlineCommand.program)' replay '\(token)' --step \(options)",
      in: command.directory.path)
    return CommandResult(status: result.status, output: result.output)
  }

  @Test("commands from a pipe: next, continue, to, print, quit")
  func commands() throws {
    let command = try FaultlineCommand()
    let token = try failure(command)
    let result = try step(
      command, token, "n\\nnext 2\\nc\\nto 14\\np\\nto 1\\nfly\\nto x\\nquit\\nn\\n")
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("durable is what model ext4-ordered promises"))
    #expect(result.hasLine("before the first event"))
    #expect(result.lines.count { $0.hasPrefix("#0  ") } == 2, "next, and to 1: \(result.output)")
    #expect(result.hasLine("#2  "), "\(result.output)")
    #expect(result.output.contains("HERE: power fails after"))
    #expect(result.output.contains("    lost     #"), "\(result.output)")
    #expect(result.output.contains("fault    sync ignore"), "\(result.output)")
    #expect(result.lines.contains { $0.hasPrefix("  'data.realm': ") })
    #expect(result.hasLine("'fly' is no command") && result.hasLine("'to x' is no command"))
    #expect(result.lines.last == "nothing was judged; without --step the failure is")
    #expect(!result.output.contains("(step)"), "no prompt where nobody types")
    #expect(!result.output.contains("note:"), "\(result.output)")
    // The end of the input is the end, and the end of the recording is said.
    let toEnd = try step(command, token, "c\\nc\\nc\\n")
    #expect(toEnd.status == 0 && toEnd.output.contains("the recording ends after"))
    #expect(try step(command, token, "").status == 0)
  }

  @Test("source lines stand beside operations with --stacks")
  func stacks() throws {
    let command = try FaultlineCommand()
    let token = try failure(command)
    let result = try step(command, token, "c\\nq\\n", "--stacks")
    #expect(result.status == 0, "\(result.output)")
    // Where power fails after a mark there is no call; the operation before it has one.
    let before = try step(command, token, "n 20\\nn\\nn\\nn\\nn\\nq\\n", "--stacks")
    #expect(before.output.contains("called   CommitWriter.swift:"), "\(before.output)")
  }

  @Test("kills and explored programs are walked through, too")
  func others() throws {
    let command = try FaultlineCommand()
    let path = try command.write(Self.scenario, to: "s.yaml")
    let recipe = ScenarioRecipe(path: path, seed: 1, place: .kill(operation: 9, before: false))
    let killed = try step(command, ReplayToken.encode(.scenario(recipe)), "c\\nq\\n")
    #expect(killed.status == 0, "\(killed.output)")
    #expect(killed.output.contains("the process was killed after its file operation 9"))
    #expect(killed.output.contains("note: the token does not say which scenario text"))
    let far = ScenarioRecipe(path: path, seed: 1, place: .kill(operation: 9_000, before: false))
    #expect(try step(command, ReplayToken.encode(.scenario(far)), "").status == 4)
    let explored = try command.explore(
      workload: "echo hello > file; echo saved",
      check: "grep -q saved \"$FAULTLINE_OUTPUT\" && ! grep -q hello file && exit 1; :")
    let token = try #require(explored.replayToken, "\(explored.output)")
    let walked = try step(command, token, "n\\nc\\nq\\n")
    #expect(walked.status == 0, "\(walked.output)")
    #expect(walked.output.contains("creation of the file 'file'"), "\(walked.output)")
  }

  @Test("another text and another engine are said with both values, and the failure is judged")
  func fingerprints() throws {
    let command = try FaultlineCommand()
    let token = try failure(command)
    let same = try command.run(["replay", token])
    #expect(same.status == 1 && !same.output.contains("note:"), "\(same.output)")
    _ = try command.write("# a comment\n" + Self.scenario, to: "s.yaml")
    let commented = try command.run(["replay", token])
    #expect(commented.status == 1, "the failure is still there: \(commented.output)")
    guard case .scenario(var recipe) = try ReplayToken.decode(token),
      let seen = recipe.fingerprint
    else {
      Issue.record("the token has no fingerprint")
      return
    }
    let note = try #require(commented.lines.first { $0.contains("is another text") })
    #expect(note.contains(seen.scenario), "\(note)")
    #expect(seen.engine.hasPrefix("v") && seen.engine.contains("-"), "\(seen)")
    recipe.fingerprint?.engine = "v1-0000000000000000"
    let other = try command.run(["replay", ReplayToken.encode(.scenario(recipe))])
    let engine = try #require(other.lines.first { $0.contains("the engine is another one") })
    #expect(engine.contains("v1-0000000000000000") && engine.contains(seen.engine), "\(engine)")
  }

  @Test(
    "options that do not go together",
    arguments: [
      (["--step", "--gdb"], "give one of them"), (["--step", "--keep", "d"], "judge nothing"),
      (["--at", "3"], "go with --gdb"),
    ])
  func misuse(options: [String], message: String) throws {
    let result = try FaultlineCommand().run(["replay", "fl1-x"] + options)
    #expect(result.status == 2 && result.output.contains(message), "\(result.output)")
  }

  // MARK: gdb

  @Test("without gdb it is said how to get it")
  func noDebugger() throws {
    let command = try FaultlineCommand()
    let token = try failure(command)
    let result = try command.run(
      ["replay", token, "--gdb"], environment: ["PATH": "/nowhere"])
    #expect(result.status == 2, "\(result.output)")
    #expect(result.output.contains("apt-get install gdb"), "\(result.output)")
  }

  /// Why gdb cannot be tried here; nil when it can.
  private static let whyNoTracing: String? = {
    guard gdb else { return "gdb is not installed" }
    let tried = try? runShell(
      "sleep 5 & gdb -q -batch -p $! -ex quit 2>&1 | grep -i 'not permitted'; kill %1", in: "/tmp")
    return tried?.output.lowercased().contains("not permitted") == true
      ? "processes cannot be traced here" : nil
  }()

  @Test(
    "gdb stands in the operation, and the worker goes on after it",
    .enabled(if: whyNoTracing == nil, "skipped: \(whyNoTracing ?? "")"))
  func debugger() throws {
    let command = try FaultlineCommand()
    let token = try failure(command)
    let result = try command.run(["replay", token, "--gdb", "--gdb-command", "bt 20"])
    #expect(result.status == 0, "\(result.output)")
    let stop = try #require(result.lines.first { $0.hasPrefix("stopping in #") })
    #expect(stop.contains("data.realm"), "\(stop)")
    #expect(result.output.contains("CommitWriter"), "\(result.output.suffix(4_000))")
    #expect(result.output.contains("gdb ended with exit status 0"))
    #expect(result.output.contains("the worker went on"))
    let never = try command.run(["replay", token, "--gdb", "--at", "100000"])
    #expect(never.status == 2, "\(never.output)")
    #expect(never.output.contains("see --step for the numbers"), "\(never.output)")
  }
}
