// BadEndingTests.swift: negative controls of the harness: a process that traps, hangs or is killed
// over one state of the engine has judged that state, and the others are judged all the same.

import Foundation
import TestSupport
import Testing

@testable import CrashStates
@testable import EngineExploration
@testable import Exploration
@testable import Findings
@testable import LabCore
@testable import Scenarios
@testable import Workload

@Suite(
  "run: judges that end badly",
  .requires(.fuse))
struct BadEndingTests {
  /// A recorded run of the engine, and the keys of its crash states by ordinal.
  private struct Recording {
    let folder: TemporaryDirectory
    let job: EngineJob
    let keys: [String]

    init(commits: Int) throws {
      let mount = try MountedFaultFS()
      folder = try TemporaryDirectory()
      let scenario = try ScenarioParser.parse(
        """
        title: Some commits
        schema: {Dog: {_id: int primary, name: string}}
        processes: {app: [ui]}
        steps:
          - ui: open
          - ui: {repeat: \(commits), write: [{insert: Dog, _id: sequence, name: random}]}
        """, file: "commits.yaml")
      let plan = try WorkloadPlan(scenario, seed: Seed(rawValue: 8412))
      try mount.client.beginRecording()
      let run = try ScenarioRecorder(
        backend: mount.client, timeoutSeconds: 20, errorPath: folder.file("errors")
      ).run(plan)
      try #require(run.death == nil && run.violations.isEmpty)
      let path = folder.file("trace.sqlite")
      try mount.client.endRecording(savingTo: path)
      job = EngineJob(tracePath: path, plan: plan, model: "ext4-ordered", seed: 1)
      let enumerator = try job.enumerator()
      var keys: [String] = []
      try enumerator.visit(try enumerator.plan()) { explored, _ in
        keys.append(enumerator.key(of: explored.state).description)
        return .goOn
      }
      self.keys = keys
    }

    func explore(
      _ endings: [PlantedEnding], jobs: Int, recoveryBudgets: [Int] = []
    ) throws -> ExplorationReport {
      var job = job
      job.plantedEndings = endings
      job.recoveryBudgets = recoveryBudgets
      var settings = ExplorationSettings()
      settings.jobs = jobs
      settings.timeoutSeconds = 2
      return try EngineExplorer(
        job: job, directory: folder.path, settings: settings, console: Console(),
        token: { state, second, _ in second.map { "\(state) \($0)" } ?? state }
      ).explore(title: "planted", firstNumber: 1)
    }
  }

  @Test("each bad end is the verdict of its state, and all states are counted", arguments: [1, 2])
  func planted(jobs: Int) throws {
    let recording = try Recording(commits: 18)
    let keys = recording.keys
    // Enough for more than one process.
    try #require(keys.count >= 200)
    let clean = try recording.explore([], jobs: jobs)
    #expect(clean.findings.isEmpty)
    #expect(clean.exploredCount == keys.count)

    let places = [keys[3], keys[keys.count / 2], keys[keys.count - 1]]
    let report = try recording.explore(
      [
        PlantedEnding(at: places[0], .trap), PlantedEnding(at: places[1], .kill),
        PlantedEnding(at: places[2], .hang),
      ], jobs: jobs)
    #expect(report.exploredCount == keys.count)
    #expect(report.distinctCount == keys.count)
    #expect(!report.isInterrupted)
    #expect(report.findings.map(\.stateCount) == [1, 1, 1])
    #expect(report.findings.map(\.token) == places)
    let headlines = report.findings.map(\.headline)
    let survived = "structure: the engine did not survive the state: "
    #expect(headlines.allSatisfy { $0.hasPrefix(survived) }, "\(headlines)")
    #expect(headlines[0].hasSuffix("killed by SIGILL") || headlines[0].hasSuffix("SIGTRAP"))
    #expect(headlines[1].hasSuffix("killed by SIGKILL"))
    #expect(headlines[2].hasSuffix("no answer within 2 s"))
  }

  @Test("an engine that traps at every state is one finding, and the rest is given up")
  func everyState() throws {
    let recording = try Recording(commits: 4)
    let report = try recording.explore([PlantedEnding(at: nil, .trap)], jobs: 1)
    #expect(report.exploredCount == EngineShards.deathsMax)
    #expect(report.distinctCount == recording.keys.count)
    #expect(report.findings.count == 1)
    #expect(report.findings.first?.stateCount == EngineShards.deathsMax)
  }

  @Test("an end during a recovery is the verdict of that recovery's state, and comes back there")
  func recovery() throws {
    let recording = try Recording(commits: 2)
    let budgets = [3, 2]
    var job = recording.job
    job.recoveryBudgets = budgets
    let enumerator = try job.enumerator()
    let judge = try EngineJudge(job, enumerator: enumerator)
    var paths: [(state: String, path: RecoveryPath)] = []
    try enumerator.visit(try enumerator.plan()) { (explored, image) throws(LabError) in
      let state = enumerator.key(of: explored.state).description
      #expect(try judge.judge(explored, image) { paths.append((state, $0)) } == nil)
      return .goOn
    }
    let deep = paths.filter { $0.path.keys.count == 2 }
    let places = [try #require(deep.first), try #require(deep.last)]
    try #require(places[0].state != places[1].state)
    job.plantedEndings = zip(places, [PlantedEnding.Kind.trap, .hang]).map {
      PlantedEnding(at: $0.state, second: $0.path.description, $1)
    }

    let report = try recording.explore(job.plantedEndings, jobs: 1, recoveryBudgets: budgets)
    #expect(report.findings.map(\.token) == places.map { "\($0.state) \($0.path)" })
    #expect(report.findings.map(\.headline).last?.hasSuffix("no answer within 2 s") == true)
    let jobPath = recording.folder.file("job.json")
    try job.save(to: jobPath)
    let client = EngineJudgeClient(jobPath: jobPath, timeoutSeconds: 2)
    for (place, finding) in zip(places, report.findings) {
      let question = JudgeQuestion.state(key: place.state, second: place.path.description)
      #expect(try client.ask(question).headline == finding.headline)
      #expect(try client.ask(.state(key: place.state, second: nil)).ending == .exited(0))
    }
  }
}
