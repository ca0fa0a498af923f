// ShrinkTests.swift: `faultline shrink`: what a failure does not need goes, what it needs stays.

import TestSupport
import Testing

@Suite(
  "shrink",
  .requires(.fuse))
struct ShrinkTests {
  /// The copy's name is not durable when it is acknowledged; the rest has nothing to do with it.
  private static let scenario = """
    title: A copy without a sync of its folder
    schema: {Dog: {_id: int primary, age: int}}
    processes: {app: [ui]}
    steps:
      - ui: open
      - ui: {repeat: 2, write: [{insert: Dog, _id: sequence, age: 1..9, times: 8}]}
      - ui: verify
      - ui: {copy: spare}
      - ui: {write: [{insert: Dog, _id: sequence, age: 1}, {delete: Dog, _id: 1..2}]}
      - ui: reopen
    faults:
      - {on: syncDirectory, nth: 2, ignore: true}
    crash: {model: posix, budget: {states: 3000}}

    """

  @Test("the steps that the failure needs stay, all others go, and the token replays")
  func copy() throws {
    let command = try FaultlineCommand()
    let path = try command.write(Self.scenario, to: "big.yaml")
    let result = try command.run(["shrink", path, "--out", "small.yaml"])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("shrunk from 6 steps, 3 statements"), "\(result.output)")
    #expect(result.output.contains("to 2 steps, 0 statements"), "\(result.output)")
    let small = try command.text("small.yaml")
    #expect(small.contains("copy: spare"))
    let run = try command.run(["run", "small.yaml"])
    #expect(run.status == 1, "\(run.output)")
    #expect(run.output.contains("durability: there is no file spare.realm"), "\(run.output)")
    let token = try #require(result.replayToken, "\(result.output)")
    let replay = try command.run(["replay", token])
    #expect(replay.status == 1, "\(replay.output)")
    // The same again, and nothing more to take away.
    let again = try command.run(["shrink", path, "--out", "again.yaml"])
    #expect(again.status == 0)
    #expect(try command.text("again.yaml") == small)
    let least = try command.run(["shrink", "small.yaml", "--out", "least.yaml"])
    #expect(least.status == 0, "\(least.output)")
    #expect(try command.text("least.yaml") == small)
  }

  @Test("a token says which failure is kept")
  func token() throws {
    let command = try FaultlineCommand()
    let path = try command.write(Self.scenario, to: "big.yaml")
    let failure = try command.run(["run", path])
    let token = try #require(failure.replayToken, "\(failure.output)")
    let result = try command.run(["shrink", token])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("to 2 steps, 0 statements"), "\(result.output)")
    #expect(!result.output.contains("faultline replay"), "its file was not written")
  }

  @Test("a budget costs smallness only")
  func budget() throws {
    let command = try FaultlineCommand()
    let path = try command.write(Self.scenario, to: "big.yaml")
    let result = try command.run(["shrink", path, "--budget", "1", "--out", "same.yaml"])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("the budget ended"))
    #expect(try command.run(["run", "same.yaml"]).status == 1)
  }

  @Test("what cannot be shrunk is a usage error that says why")
  func refused() throws {
    let command = try FaultlineCommand()
    let held = Self.scenario.replacing("nth: 2, ignore: true", with: "nth: 9, ignore: true")
    let idle = try command.run(["shrink", try command.write(held, to: "idle.yaml")])
    #expect(idle.status == 2)
    #expect(idle.output.contains("this fault never hit anything"), "\(idle.output)")
    let holds = try command.run([
      "shrink", "\(FaultlineCommand.repository)/scenarios/durability/reopen.yaml", "--states", "50",
    ])
    #expect(holds.status == 2)
    #expect(holds.output.contains("breaks no promise"), "\(holds.output)")
    let explored = try command.explore(
      workload: "echo a > f; echo saved",
      check: "grep -q saved \"$FAULTLINE_OUTPUT\" && ! grep -q a f && exit 1; exit 0")
    let token = try #require(explored.replayToken, "\(explored.output)")
    let program = try command.run(["shrink", token])
    #expect(program.status == 2)
    #expect(program.output.contains("token is of a program"), "\(program.output)")
    #expect(try command.run(["shrink", "/nowhere.yaml"]).status == 2)
  }
}
