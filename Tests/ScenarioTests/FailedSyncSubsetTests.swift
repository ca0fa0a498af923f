// FailedSyncSubsetTests.swift: a sync that fails has written any of the pages that it was to write.
// Each subset that matters is tried: every page alone lost, every page alone kept, and drawn ones,
// at each sync of either protocol.

import Foundation
import TestSupport
import Testing

@testable import Exploration
@testable import Findings
@testable import LabCore
@testable import Scenarios

@Suite("Syncs that fail with some pages written")
struct FailedSyncSubsetTests {
  /// Either protocol and a sync of a commit, by number.
  static let syncs = [("two-phase", 1), ("two-phase", 2), ("checksummed", 1)]

  /// Pages that a commit of these scenarios writes at most.
  private static let pages = 1...8

  private static let subsets =
    ["first 0", "first 1", "last 1"] + (1...2).map { "random, seed: \($0)" }
    + pages.map { lost in list((1...40).filter { $0 != lost }) }

  private static func list(_ pages: [Int]) -> String {
    "[\(pages.map { "\($0)" }.joined(separator: ", "))]"
  }

  private static func text(_ commit: String, _ sync: Int, _ subset: String) -> String {
    """
    title: a test
    schema: {Dog: {_id: int primary, name: string}}
    processes: {app: [ui]}
    database: {commitProtocol: \(commit)}
    steps:
      - ui: open
      - ui: {write: [{insert: Dog, _id: sequence, name: {random: letters 200}, times: 500}]}
      - ui: {write: [{upsert: Dog, _id: random 1..500, name: doubtful, times: 6}], fails: io}
      - ui: reopen
      - ui: verify
      - ui: {write: [{upsert: Dog, _id: random 1..500, name: random, times: 3}]}
    faults:
      - {on: sync, ofCommit: \(sync), commit: 2, failSync: ext4-ordered, keep: \(subset)}
    crash: {model: ext4-ordered, explore: all, budget: {states: 40}}
    """
  }

  @Test(
    "whatever arrived, each version is whole, and none that was shown goes back", arguments: syncs)
  func subsets(commit: String, sync: Int) throws {
    let folder = try TemporaryDirectory()
    for (number, subset) in Self.subsets.enumerated() {
      let path = folder.file("\(number).yaml")
      try Self.text(commit, sync, subset).write(toFile: path, atomically: true, encoding: .utf8)
      var settings = ExplorationSettings()
      settings.jobs = 1
      let runner = try ScenarioRunner(settings: settings, console: .silent, backend: .inProcess)
      let report = try runner.run(try ScenarioRunner.load([path])[0])
      try runner.end()
      let words = report.complaints + report.findings.map(\.headline)
      #expect(report.outcome == .held, "keep: \(subset): \(words)")
      #expect(report.explorations.allSatisfy { $0.distinctCount > 20 }, "keep: \(subset)")
    }
  }
}
