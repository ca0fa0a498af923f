// DocumentLabTests.swift: failures of scenarios on documents have tokens that bring them back.

import TestSupport
import Testing

@Suite("scenarios on documents, replayed", .requires(.fuse))
struct DocumentLabTests {
  @Test(
    "a token brings the failure back",
    arguments: [
      // A lost commit: a crash state, so the token is one of a program.
      (
        "", "faults: [{on: sync, file: \"*-wal\", ignore: true}]\ncrash: {model: ext4-ordered}\n",
        "documents: prefix:"
      ),
      // A change that no crash is needed for: the token is one of a scenario.
      ("    - plant: UPDATE kvmeta SET lastSeq = 0\n", "", "documents: lastSequence:"),
    ])
  func replayed(steps: String, disturbance: String, promise: String) throws {
    let command = try FaultlineCommand()
    let text = """
      title: A broken promise
      documents:
        steps:
          - {save: a, body: {name: Ann}, blob: 40}
          - {save: b, body: {name: Bob}}
      \(steps)\(disturbance)
      """
    let file = try command.write(text, to: "broken.yaml")
    let failure = try command.run(["run", file, "--budget", "60"])
    #expect(failure.status == 1, "\(failure.output)")
    #expect(failure.output.contains(promise), "\(failure.output)")
    let token = try #require(failure.replayToken, "\(failure.output)")
    let replay = try command.run(["replay", token])
    #expect(replay.status == 1, "\(replay.output)")
    #expect(replay.output.contains(promise), "\(replay.output)")
    #expect(replay.output.contains("verdict: broken, reproduced"), "\(replay.output)")
    // After a change of the scenario, the token says so.
    _ = try command.write(text + "# changed\n", to: "broken.yaml")
    let changed = try command.run(["replay", token])
    #expect(changed.output.contains("is another text than the one that failed"))
  }
}
