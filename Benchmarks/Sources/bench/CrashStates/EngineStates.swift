// EngineStates.swift: the row states/process: crash states of the engine judged per second, by our
// explorer in one process, and by a process of its own for each state.
// Both sides judge alike: open, version, verify, content hash, a commit, verify, open again, hash.
// Ours counts everything: both passes of the enumeration, the images, and the judgement. The peer
// counts writing the image into a file on tmpfs, the process, and its judgement; the images are
// there before, and enumerating them costs it nothing.

import CrashStates
import EngineExploration
import Foundation
import LabCore
import Oracles
import Recording
import Scenarios
import Workload

/// A recorded run over a database of about 1 MB, ready to be explored.
private final class EngineRun {
  static let budget = 12_000

  let enumerator: CrashStateEnumerator
  let check: EngineCheck
  let timeline: OutcomeTimeline

  init() throws {
    let scenario = try ScenarioParser.parse(
      """
      title: commits on a database of 1 MB
      schema: {Dog: {_id: int primary, name: string, age: int}}
      processes: {app: [ui]}
      steps:
        - ui: open
        - ui:
            repeat: 4
            write:
              - {insert: Dog, _id: sequence, name: {random: letters 60}, age: random, times: 3000}
        - ui:
            repeat: 760
            write: [{update: Dog, _id: 1..12000, name: {random: letters 60}, age: random, times: 3}]
      """, file: "bench.yaml")
    let plan = try WorkloadPlan(scenario, seed: Seed(rawValue: 20))
    let recording = try EngineRecording(plan)
    guard recording.violations.isEmpty else { throw BenchError("\(recording.violations)") }
    enumerator = try CrashStateEnumerator(
      trace: recording.trace, model: .ext4Ordered, seed: Seed(rawValue: 20))
    check = try EngineCheck(plan, marks: recording.trace.marks)
    timeline = check.timeline
  }

  /// States per second of the explorer.
  func explore() throws -> Double {
    let backend = ImageBackend()
    let plan: ExplorationPlan
    var broken = 0
    var states = 0
    let clock = ContinuousClock()
    let start = clock.now
    plan = try enumerator.plan(budget: Self.budget)
    try enumerator.visit(plan) { (explored, image) throws(LabError) in
      states += 1
      let isThere = try backend.load(image, at: DatabaseFile.name)
      let found = check.judge(
        isThere ? backend : nil, marksSeen: explored.state.acknowledgedMarks,
        ordinal: explored.ordinal)
      if !found.isEmpty { broken += 1 }
      return .goOn
    }
    let seconds = start.duration(to: clock.now) / .seconds(1)
    guard broken == 0, states == Self.budget else {
      throw BenchError("\(broken) of \(states) states broke a promise, of \(Self.budget) wanted")
    }
    return Double(states) / seconds
  }

  /// Some states spread over the whole run: their images, and what a judge is told of each.
  func samples(_ count: Int) throws -> [(image: [UInt8], allowed: [String])] {
    let plan = try enumerator.plan(budget: Self.budget)
    var found: [(image: [UInt8], allowed: [String])] = []
    var number = 0
    try enumerator.visit(plan) { (explored, image) throws(LabError) in
      defer { number += 1 }
      let outcomes = timeline.outcomes(marksSeen: explored.state.acknowledgedMarks)
      guard number % (Self.budget / count) == 0, outcomes.mustExist,
        let bytes = image.content(at: DatabaseFile.name)
      else { return .goOn }
      let allowed = outcomes.states.map {
        "\($0.version):\($0.contentHash):\($0.hashWithSentinel ?? 0)"
      }
      found.append((bytes, allowed))
      return .goOn
    }
    return found
  }
}

/// The judge that is started once per state.
private struct ProcessJudge {
  let directory: URL
  private let program: String

  init() throws {
    directory = try Scratch.makeDirectory("judge")
    let folder = Bundle.main.executableURL?.deletingLastPathComponent()
    program = folder?.appending(path: "judge-state").path ?? "judge-state"
  }

  /// States per second.
  func judge(_ states: [(image: [UInt8], allowed: [String])]) throws -> Double {
    let path = directory.appending(path: "data.realm").path
    let clock = ContinuousClock()
    let start = clock.now
    for (image, allowed) in states {
      try Processes.overwrite(path, with: image)
      let arguments = [program, path, "Dog", "name:string", "age:int", "--"] + allowed
      let status = try Processes.status(of: arguments)
      guard status == 0 else { throw BenchError("the judge of one state exits with \(status)") }
    }
    let seconds = start.duration(to: clock.now) / .seconds(1)
    return Double(states.count) / seconds
  }
}

extension Benchmark {
  static let crashStates: [Benchmark] = [engineStates, flatStates]

  private static let engineStates = Benchmark(name: "states/process") { settings in
    let run = try EngineRun()
    let judge = try ProcessJudge()
    defer { try? FileManager.default.removeItem(at: judge.directory) }
    let samples = try run.samples(400)
    let measured = try alternating(rounds: settings.rounds) {
      settings.peerOnBothSides ? try judge.judge(samples) : try run.explore()
    } peer: {
      try judge.judge(samples)
    }
    return .rate(
      "states/process", ours: measured.ours, peer: measured.peer,
      peerName: "one process per state, file on tmpfs", unit: "states/s")
  }
}
