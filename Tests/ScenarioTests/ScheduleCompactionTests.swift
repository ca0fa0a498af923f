// ScheduleCompactionTests.swift: compactions beside other actors. Their schedules run on a mount,
// because a compaction renames files, and are the same again and again there, too.

import Foundation
import TestSupport
import Testing

@testable import Exploration
@testable import FaultFS
@testable import Findings
@testable import LabCore
@testable import Scenarios
@testable import Workload

@Suite(
  "Schedules: compaction",
  .requires(.fuse))
struct ScheduleCompactionTests {
  private static let text = """
    title: t
    schema: {Dog: {_id: int primary, name: string}}
    processes: {app: [ui, background]}
    database: {grouped: true}
    steps:
      - all: open
      - ui: {write: [{upsert: Dog, _id: 1..5, name: random}]}
      - together:
          - ui: {repeat: 2, write: [{upsert: Dog, _id: 1..5, name: random}]}
          - background: compact
      - ui: verify

    """

  private static func run(_ text: String, backend: BackendChoice) throws -> CaseReport {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/t.yaml"
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    var settings = ExplorationSettings()
    settings.jobs = 1
    let runner = try ScenarioRunner(settings: settings, console: .silent, backend: backend)
    defer { try? runner.end() }
    let item = try runner.run(try ScenarioRunner.load([path])[0])
    guard let finding = item.findings.first else { return item }
    guard case .scenario(let recipe) = try ReplayRecipe(token: finding.token) else {
      throw LabError.lab("the token is of something else")
    }
    let again = try runner.replay(recipe, keepingImageIn: "\(directory.path)/kept")
    #expect(again?.headline == finding.headline && again?.token == finding.token)
    #expect(FileManager.default.fileExists(atPath: "\(directory.path)/kept/data.realm"))
    return item
  }

  @Test("a schedule on a mount gives the same run again, and compacts where nobody is in the way")
  func replay() throws {
    // The stage keeps its trace beside the mount.
    let directory = try TemporaryDirectory()
    let mountPoint = directory.file("mount")
    try FileManager.default.createDirectory(atPath: mountPoint, withIntermediateDirectories: false)
    let mount = try FaultFSClient(mountPoint: mountPoint)
    defer { try? mount.shutdown() }
    let scenario = try ScenarioParser.parse(Self.text, file: "t.yaml")
    let plan = ScheduledPlan(
      try WorkloadPlan(scenario, seed: Seed(rawValue: 1)), rules: [], on: mount)
    var strategy = RandomStrategy(seed: Seed(rawValue: 5), runsMax: 8)
    var counts: Set<Int> = []
    while let chooser = strategy.nextRun() {
      let first = try plan.run(chooser)
      #expect(first.violations.isEmpty && first.record.ending == .finished)
      counts.insert(try #require(first.compactionCount))
      let schedule = try Schedule.parse(first.record.schedule.text)
      for _ in 0..<3 {
        #expect(try plan.run(ReplayChooser(schedule)).fingerprint == first.fingerprint)
      }
    }
    #expect(counts == [0, 1], "done in some runs, refused in others")
  }

  @Test("a crash that loses a compaction's sync is found and comes back by its token")
  func crash() throws {
    let text =
      Self.text + """
        schedule: {strategy: scripted, script: [background to end, ui to end]}
        crash: {model: posix, explore: all, budget: {states: 3000}}
        faults: [{on: sync, file: "*.compacting", nth: 1, ignore: true}]

        """
    let item = try Self.run(text, backend: .fuse)
    #expect(item.outcome == .broken && !item.findings.isEmpty, "\(item.complaints)")
    #expect(item.explorations.first?.schedules?.compactionCount == 1)
  }

  @Test("a compaction that others always keep from its work is an error; without a mount, a skip")
  func idle() throws {
    let pinned = Self.text.replacing("  - together", with: "  - ui: pin\n  - together")
      .replacing("  - ui: verify", with: "  - ui: release")
    let text = pinned + "schedule: {strategy: random, runs: 5}\n"
    let error = #expect(throws: LabError.self) { try Self.run(text, backend: .fuse) }
    #expect(error?.code == .usage && error?.message.contains("refused in all") == true)
    let skipped = try Self.run(Self.text, backend: .inProcess)
    #expect(skipped.skipped == ["compact and copy need a FUSE mount"])
  }

  @Test("whoever compacts holds no pin")
  func pins() {
    let text = Self.text.replacing(
      "      - background: compact", with: "      - background: pin\n      - background: compact")
    #expect(throws: ScenarioError.self) { try ScenarioParser.parse(text, file: "t.yaml") }
  }
}
