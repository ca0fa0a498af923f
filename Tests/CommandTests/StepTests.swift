// StepTests.swift: a failure is walked through from a pipe, looked at under gdb, and told apart
// from one of another scenario or engine.

import CrashStates
import Foundation
import Scenarios
import TestSupport
import Testing

@Suite(
  "replay --step",
  .requires(.fuse))
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
    #expect(result.hasLine("'fly' is not a command") && result.hasLine("'to x' is not a command"))
    #expect(result.lines.last == "nothing was checked; without --step the failure is checked")
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

  @Test("of synchronization the life of the node is walked through whose power failed last")
  func nodes() throws {
    let command = try FaultlineCommand()
    let path = try command.write(
      """
      title: A server whose disk ignores syncs
      sync:
        nodes: {server: server, a: client}
        plant: serverSyncs
        steps: [{write: a, do: [{create: 1, age: 3}]}, settle]
      crash: {model: posix, budget: {states: 200}}

      """, to: "world.yaml")
    for arguments in [["run", path], ["stress", path, "--cuts", "100", "--fail-fast"]] {
      let found = try command.run(arguments)
      let token = try #require(found.replayToken, "\(found.output)")
      let result = try step(command, token, "c\nq\n")
      #expect(result.status == 0, "\(result.output)")
      #expect(result.output.contains("HERE: power fails after"), "\(result.output)")
      #expect(result.output.contains("'sync.realm'"), "\(result.output)")
    }
  }

  @Test("kills and explored programs are walked through, too")
  func others() throws {
    let command = try FaultlineCommand()
    let path = try command.write(Self.scenario, to: "s.yaml")
    let recipe = ScenarioRecipe(path: path, seed: 1, place: .kill(operation: 9, before: false))
    let killed = try step(command, ReplayRecipe.scenario(recipe).token, "c\\nq\\n")
    #expect(killed.status == 0, "\(killed.output)")
    #expect(killed.output.contains("the process was killed after its file operation 9"))
    #expect(killed.output.contains("note: the token does not say which scenario text"))
    let far = ScenarioRecipe(path: path, seed: 1, place: .kill(operation: 9_000, before: false))
    #expect(try step(command, ReplayRecipe.scenario(far).token, "").status == 4)
    let explored = try command.explore(
      workload: "echo hello > file; echo saved",
      check: "grep -q saved \"$FAULTLINE_OUTPUT\" && ! grep -q hello file && exit 1; :")
    let token = try #require(explored.replayToken, "\(explored.output)")
    let walked = try step(command, token, "n\\nc\\nq\\n")
    #expect(walked.status == 0, "\(walked.output)")
    #expect(walked.output.contains("creation of the file 'file'"), "\(walked.output)")
  }

  /// The failure of a program that drops its log before what the log says is durable.
  private func recovering(
    _ command: FaultlineCommand, _ recover: String, depth: Int
  ) throws -> CommandResult {
    try command.explore(
      setup: "printf old > f; sync f .",
      workload: "printf new > log && sync log && sync . && echo logged",
      check: """
        grep -q logged "$FAULTLINE_OUTPUT" || exit 0
        [ "$(cat f)" = new ] || [ "$(cat log 2>/dev/null)" = new ] && exit 0
        echo "new is lost"; exit 1
        """,
      ["--model", "posix", "--recover", recover, "--recover-depth", "\(depth)"])
  }

  /// The command that the last finding names.
  private func token(_ result: CommandResult) throws -> String {
    let line = try #require(result.lines.last { $0.hasPrefix("replay: ") }, "\(result.output)")
    return String(try #require(line.split(separator: " ").last))
  }

  @Test("of a crash during a program's recovery the recording of the recovery is walked through")
  func recovery() throws {
    let command = try FaultlineCommand()
    let result = try recovering(
      command, "if [ -f log ]; then cat log > f; rm log; sync .; fi", depth: 1)
    let words = "c\\nn\\nn\\nc\\nto 1:1\\nto 2:1\\nto 0\\n"
    let walked = try step(command, token(result), words)
    #expect(walked.status == 0, "\(walked.output)")
    #expect(walked.output.contains("the workload, and then 1 recovery: event N of recovery R is"))
    #expect(walked.output.contains(", and recovery 1 begins"), "\(walked.output)")
    let heading = try #require(walked.lines.first { $0.hasPrefix("recovery 1 of 1, ") })
    #expect(heading.contains("of the workload, crash state posix@"), "\(heading)")
    #expect(walked.hasLine("#1:0  process 1  "), "\(walked.output)")
    // What the recovery did: the file is written and the log removed; the crash keeps the latter.
    let last = walked.output.components(separatedBy: "HERE: power fails after").last ?? ""
    #expect(last.contains("lost     #1:"), "\(walked.output)")
    #expect(last.contains("write of 3 bytes at 0 to 'f'"), "\(walked.output)")
    #expect(walked.output.contains("no recovery 2 was recorded"))
    #expect(walked.lines.suffix(4).contains { $0 == "before the first event" })
    #expect(walked.lines.last == "nothing was checked; without --step the failure is checked")
    let stacks = try step(command, token(result), "c\\nc\\nn\\n", "--stacks")
    #expect(stacks.status == 0 && stacks.output.contains("recovery 1 of 1"), "\(stacks.output)")
    let calls = stacks.output.components(separatedBy: "recovery 1 of 1").last ?? ""
    #expect(calls.contains("    called   "), "\(stacks.output)")
  }

  @Test("recoveries in a row are walked through in turn, and so is one that fails by itself")
  func recoveries() throws {
    let command = try FaultlineCommand()
    let second = try recovering(
      command,
      """
      [ "$(cat log 2>/dev/null)" = new ] || exit 0
      [ -f tmp ] || { cat log > tmp; sync tmp; }; mv tmp f; sync .; rm log; sync .
      """, depth: 2)
    let walked = try step(command, token(second), "c\\nc\\nc\\nc\\nc\\n")
    #expect(walked.status == 0, "\(walked.output)")
    let headings = walked.lines.filter { $0.hasPrefix("recovery ") }
    #expect(headings.count == 2, "\(walked.output)")
    #expect(headings.last?.hasPrefix("recovery 2 of 2, from the power cut after ") == true)
    #expect(headings.last?.contains("of recovery 1, crash state posix@") == true)
    #expect(walked.lines.count { $0.hasPrefix("    HERE: power fails after ") } == 3)
    #expect(walked.hasLine("the recording of recovery 2 ends after "), "\(walked.output)")
    let failing = try recovering(command, "[ \"$(cat log)\" = new ]", depth: 1)
    let refused = try step(command, token(failing), "c\\nc\\n")
    #expect(refused.status == 0, "\(refused.output)")
    #expect(refused.output.contains("HERE: the recovery ends with exit status 1"))
  }

  @Test("of a scenario's crash during recovery the engine's recovery is walked through")
  func engineRecovery() throws {
    let command = try FaultlineCommand()
    guard case .scenario(var recipe) = try ReplayRecipe(token: try failure(command)),
      case .crash(let model, let state, let shape) = recipe.place
    else {
      Issue.record("the token is not of a crash state")
      return
    }
    // The crash before anything was lost, and then one in the recovery, and one in the next.
    let point = try #require(StateKey(parsing: state)).crashPoint
    let version = state.prefix { $0 != ":" }
    let second = "\(version):p6:lost=none>\(version):p4:lost=none"
    recipe.place = .recovery(
      model: model, state: "\(version):p\(point):lost=none", shape: shape, second: second)
    let token = ReplayRecipe.scenario(recipe).token
    let walked = try step(command, token, "c\\nc\\nn\\nto 1:3\\nc\\nc\\n", "--stacks")
    #expect(walked.status == 0, "\(walked.output)")
    let headings = walked.lines.filter { $0.hasPrefix("recovery ") }
    #expect(headings.count == 4, "\(walked.output)")
    #expect(
      headings[0].hasPrefix("recovery 1 of 2, from the power cut after \(point) events of the work")
    )
    #expect(headings[1].contains("after 6 events of recovery 1, crash state \(version):p6"))
    #expect(walked.hasLine("#1:5  "), "\(walked.output)")
    #expect(walked.hasLine("    step     "), "\(walked.output)")
    #expect(walked.output.contains("called   CommitWriter.swift:"), "\(walked.output)")
    #expect(walked.output.contains("'data.realm': "), "\(walked.output)")
    let debugged = try command.run(["replay", token, "--gdb", "--at", "1:5"])
    #expect(debugged.status == 2, "\(debugged.output)")
    #expect(debugged.output.contains("a recovery runs inside Faultline"))
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
    guard case .scenario(var recipe) = try ReplayRecipe(token: token),
      let seen = recipe.fingerprint
    else {
      Issue.record("the token has no fingerprint")
      return
    }
    let note = try #require(commented.lines.first { $0.contains("is another text") })
    #expect(note.contains(seen.scenario), "\(note)")
    #expect(seen.engine.hasPrefix("v") && seen.engine.contains("-"), "\(seen)")
    recipe.fingerprint?.engine = "v1-0000000000000000"
    let other = try command.run(["replay", ReplayRecipe.scenario(recipe).token])
    let engine = try #require(other.lines.first { $0.contains("the engine is another one") })
    #expect(engine.contains("v1-0000000000000000") && engine.contains(seen.engine), "\(engine)")
  }

  @Test(
    "options that do not go together",
    arguments: [
      (["--step", "--gdb"], "give one of them"), (["--step", "--keep", "d"], "check nothing"),
      (["--at", "3"], "go with --gdb"), (["--gdb", "--at", "x"], "invalid for '--at"),
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

  @Test(
    "gdb stands in the operation, and the worker goes on after it",
    .requires(.gdb))
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
