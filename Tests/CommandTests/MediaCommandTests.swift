// MediaCommandTests.swift: faults of the medium at rest from the command line: scenarios with a
// fault budget, and any program with a checker that says what it noticed.

import Foundation
import TestSupport
import Testing

@testable import CrashStates

@Suite("media faults", .requires(.fuse))
struct MediaCommandTests {
  private static let scenario = """
    title: A budget that is broken
    schema: {Dog: {_id: int primary, name: string}}
    processes: {app: [ui]}
    steps:
      - ui: open
      - ui: {repeat: 3, write: [{insert: Dog, _id: sequence, name: random}]}
      - ui: close
    media: {faults: [zeroSector, staleSector], at: {structure: slots}, survives: {slots: 1}}

    """

  @Test("a broken budget is a finding in words, in every report, and its token brings it back")
  func finding() throws {
    let command = try FaultlineCommand()
    let path = try command.write(Self.scenario, to: "s.yaml")
    let result = try command.run(["run", path, "--json", "r.json", "--html", "r.html"])
    #expect(result.status == 1, "\(result.output)")
    #expect(result.output.contains("a sector of zeros in root slot"))
    #expect(result.output.contains("lost       bytes "))
    let exploration = try #require(try command.report("r.json").cases.first?.explorations.first)
    #expect(exploration.model == "media")
    #expect(exploration.line == 8)
    let outcome = try #require(exploration.media)
    let failing = exploration.findings.reduce(0) { $0 + $1.stateCount }
    #expect(
      outcome.detectedCount + outcome.unharmedCount + outcome.wentBackCount + failing
        == exploration.exploredCount)
    let change = try #require(exploration.findings.first?.evidence?.files.first)
    #expect(change.path == "data.realm")
    #expect(change.ranges.map(\.count) == [4096])
    #expect(!change.differences.isEmpty)
    #expect(try command.text("r.html").contains("read as zeros"))

    let token = try #require(result.replayToken)
    let replayed = try command.run(["replay", token, "--keep", "kept"])
    #expect(replayed.status == 1, "\(replayed.output)")
    #expect(replayed.hasLine("verdict: broken, reproduced"))
    let kept = try Data(contentsOf: URL(fileURLWithPath: command.directory.file("kept/data.realm")))
    let range = change.ranges[0]
    #expect(kept[Int(range.offset)..<Int(range.offset + range.count)].allSatisfy { $0 == 0 })
  }

  @Test("shards of an exploration of the medium add up to the whole")
  func shards() throws {
    let command = try FaultlineCommand()
    let path = try command.write(Self.scenario, to: "s.yaml")
    _ = try command.run(["run", path, "--json", "whole.json"])
    for number in 1...2 {
      _ = try command.run(["run", path, "--shard", "\(number)/2", "--json", "part\(number).json"])
    }
    _ = try command.run(["merge", "part1.json", "part2.json", "--json", "merged.json"])
    let whole = try #require(try command.report("whole.json").cases.first?.explorations.first)
    let merged = try #require(try command.report("merged.json").cases.first?.explorations.first)
    #expect(merged.exploredCount == whole.exploredCount)
    #expect(merged.media == whole.media)
    #expect(merged.findings.map(\.classKey) == whole.findings.map(\.classKey))
  }

  private func explore(_ check: String, _ more: [String]) throws -> (
    FaultlineCommand, CommandResult
  ) {
    let command = try FaultlineCommand()
    let result = try command.explore(
      workload: "echo old > a; sync a; echo hello > a; cp a b; sync a b; echo saved",
      check: "[ -s $FAULTLINE_OUTPUT ] || exit 0; " + check, more)
    return (command, result)
  }

  @Test("a program that notices nothing is found out, for each kind of fault")
  func unnoticed() throws {
    for kind in MediumFault.Kind.allCases where kind != .misdirectedSector {
      let (command, result) = try explore(
        "grep -qx hello a", ["--media", kind.rawValue, "--media-files", "a", "--json", "r.json"])
      #expect(result.status == 1, "\(kind): \(result.output)")
      let exploration = try #require(try command.report("r.json").cases.first?.explorations.first)
      #expect(exploration.findings.count == 1)
      #expect(exploration.findings.first?.stateCount == exploration.exploredCount)
      if kind == .bitFlip { #expect(exploration.exploredCount == 48) }
      let token = try #require(result.replayToken)
      let replayed = try command.run(["replay", token])
      #expect(replayed.status == 1, "\(replayed.output)")
    }
  }

  @Test("a checker that has a word for each damaged byte tells of one cause for each kind of fault")
  func words() throws {
    let (command, result) = try explore(
      "read -r text < a; [ \"$text\" = hello ] || { echo \"read $text\"; exit 1; }",
      ["--media", "bitFlip,zeroSector", "--media-files", "a", "--json", "r.json"])
    #expect(result.status == 1, "\(result.output)")
    let exploration = try #require(try command.report("r.json").cases.first?.explorations.first)
    #expect(exploration.findings.count == 2)
    #expect(try #require(exploration.findings.first?.alsoSeenAs).count > 12)
    #expect(result.output.contains(" other ways in "))
    let failing = exploration.findings.reduce(0) { $0 + $1.rootCauseStateCount }
    #expect(failing == exploration.exploredCount)
  }

  @Test(
    "a program that compares two copies notices every fault; a promise to survive one is broken")
  func noticed() throws {
    let compare = "cmp -s a b || exit ${FAULTLINE_DETECTED:-1}; grep -qx hello a"
    let (_, noticed) = try explore(compare, ["--media", "all"])
    #expect(noticed.status == 0, "\(noticed.output)")
    #expect(noticed.output.contains(" detected, 0 harmless"))
    let (command, broken) = try explore(compare, ["--media", "all", "--media-survives", "1"])
    #expect(broken.status == 1)
    let replayed = try command.run(["replay", try #require(broken.replayToken)])
    #expect(replayed.status == 1, "\(replayed.output)")
  }

  @Test("options that fit nothing are refused")
  func usage() throws {
    let (_, kind) = try explore("true", ["--media", "bitflip"])
    #expect(kind.status == 2)
    #expect(kind.output.contains("bitFlip, zeroSector"))
    let (_, alone) = try explore("true", ["--media-survives", "1"])
    #expect(alone.status == 2)
    let (_, many) = try explore("true", ["--media", "all", "--media-survives", "3"])
    #expect(many.status == 2)
    let (_, nothing) = try explore("true", ["--media", "all", "--media-files", "*.db"])
    #expect(nothing.status == 2)
    #expect(nothing.output.contains("hit nothing"))
  }
}
