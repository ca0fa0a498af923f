// RunTests.swift: `faultline run` from a scenario file to a verdict and its reports.

import Foundation
import TestSupport
import Testing

@Suite(
  "run",
  .requires(.fuse, .python3))
struct RunTests {
  private static let scenario = """
    title: Three commits survive
    schema: {Dog: {_id: int primary, name: string}}
    processes: {app: [ui]}
    steps:
      - ui: open
      - ui: {repeat: 3, write: [{insert: Dog, _id: sequence, name: random}]}

    """

  /// The elements of an XML file, or nil when it is not well-formed.
  private func elements(_ command: FaultlineCommand, _ name: String) throws -> [String: Int]? {
    let program = "import sys,xml.dom.minidom as m; m.parse(sys.argv[1])"
    let parsed = try runShell(
      "/usr/bin/python3 -c '\(program)' \(name)", in: command.directory.path)
    guard parsed.status == 0 else { return nil }
    let text = try command.text(name)
    var counts: [String: Int] = [:]
    for part in text.split(separator: "<") {
      counts[String(part.prefix { $0.isLetter }), default: 0] += 1
    }
    return counts
  }

  @Test("a scenario that holds: verdict, JSON and JUnit")
  func held() throws {
    let command = try FaultlineCommand()
    let path = try command.write(
      Self.scenario + "crash: {model: ext4-ordered, explore: all, budget: {states: 200}}\n",
      to: "s.yaml")
    let result = try command.run(["run", path, "--json", "r.json", "--junit", "r.xml"])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.hasLine("verdict: held, 0 findings"))
    let report = try command.report("r.json")
    #expect(report.cases.count == 1)
    #expect(report.cases[0].explorations[0].exploredCount > 20)
    let counts = try #require(try elements(command, "r.xml"))
    #expect(counts["testcase"] == 1)
    #expect(counts["failure"] == nil)
  }

  @Test("a planted bug is found, and its scenario holds")
  func planted() throws {
    let path = "\(FaultlineCommand.repository)/scenarios/negative/first-sync-ignored.yaml"
    let result = try FaultlineCommand().run(["run", path, "--budget", "200"])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("found as planted:"))
    #expect(result.output.contains("1 of 1 planted bugs found"))
  }

  @Test("a negative scenario that plants nothing fails")
  func nothingPlanted() throws {
    let command = try FaultlineCommand()
    let path = try command.write(
      Self.scenario + """
        crash: {model: ext4-ordered, explore: all, budget: {states: 100}}
        negative: {expect: [durability], because: nothing was planted}

        """, to: "s.yaml")
    let result = try command.run(["run", path, "--junit", "r.xml"])
    #expect(result.status == 1, "\(result.output)")
    #expect(result.output.contains("the planted bug was not found"), "\(result.output)")
    #expect(try elements(command, "r.xml")?["failure"] == 1)
  }

  @Test("a broken promise gives a token that replays, and fails the JUnit case")
  func broken() throws {
    let command = try FaultlineCommand()
    let path = try command.write(
      Self.scenario + """
        faults:
          - {on: sync, ofCommit: 2, ignore: true}
        crash: {model: ext4-ordered, explore: all, budget: {states: 200}}

        """, to: "s.yaml")
    let result = try command.run(["run", path, "--junit", "r.xml"])
    #expect(result.status == 1, "\(result.output)")
    #expect((try elements(command, "r.xml")?["failure"] ?? 0) >= 1)
    let token = try #require(result.replayToken, "\(result.output)")
    let headline = try #require(result.lines.first { $0.hasPrefix("FINDING 1: ") })
    let replay = try command.run(["replay", token, "--keep", "crashed"])
    #expect(replay.status == 1, "\(replay.output)")
    #expect(replay.hasLine(headline), "\(replay.output)")
    let crashed = command.directory.file("crashed")
    let kept = try FileManager.default.contentsOfDirectory(atPath: crashed)
    #expect(!kept.isEmpty)
    // Another file of the same name is another scenario.
    _ = try command.write(
      Self.scenario.replacing("repeat: 3", with: "repeat: 4")
        + "crash: {model: ext4-ordered, explore: all}\n", to: "s.yaml")
    let changed = try command.run(["replay", token])
    #expect(changed.status == 4, "\(changed.output)")
  }

  @Test("a fault that never hits is an error, not a pass")
  func idleFault() throws {
    let command = try FaultlineCommand()
    let path = try command.write(
      Self.scenario + """
        faults:
          - {on: sync, count: 5000, ignore: true}
        crash: {model: ext4-ordered, explore: all}

        """, to: "s.yaml")
    let result = try command.run(["run", path])
    #expect(result.status == 2, "\(result.output)")
    #expect(!result.output.contains("verdict: held"))
  }
}
