// SyncStress.swift: `faultline stress` with a scenario on synchronization: in each round its steps
// are done while power fails, processes are killed and disks have faults, at drawn places of any
// node and several times. A round of drawn histories has a history of its own.
// Invariant: a round follows from the scenario, the seed and its number alone, so all of it is in
// this process, and its token replays.

import Exploration
import Findings
import LabCore
import Recording
import SyncLab
import Workload

/// A stress run of a scenario on synchronization.
package struct SyncStress {
  private let scenario: Scenario
  private let settings: StressSettings
  private let console: Console
  private let runner: ScenarioRunner
  private var counts = StressCounts()
  private var rounds = 0
  private var findings: [Finding] = []
  private var places: [String: Int] = [:]

  /// Prepares a run.
  /// - Throws: `LabError` when no run directory can be made.
  package init(
    _ scenario: Scenario, _ settings: StressSettings, _ console: Console
  ) throws(LabError) {
    self.scenario = scenario
    self.settings = settings
    self.console = console
    var exploration = ExplorationSettings()
    exploration.seed = settings.seed
    exploration.seedIsChosen = true
    runner = try ScenarioRunner(settings: exploration, console: .silent, backend: .inProcess)
  }

  /// Runs until the cuts are made, the time is up, or Faultline is asked to stop.
  /// - Returns: The findings and counts.
  /// - Throws: `LabError` when Faultline fails.
  package mutating func stress() throws(LabError) -> CaseReport {
    let clock = ContinuousClock()
    let start = clock.now
    var seconds: Double { start.duration(to: clock.now).inSeconds }
    var metrics: StressMetrics {
      StressMetrics(counts: counts, findings: findings.count, seconds: seconds, footprints: [])
    }
    var board = StressBoard(console: console, path: settings.metricsPath)
    var isInterrupted = false
    do throws(LabError) {
      while !isOver(seconds) {
        try Interruption.check()
        try play(rounds)
        rounds += 1
        try board.show(metrics)
      }
    } catch {
      guard error.code == .interrupted else { throw error }
      isInterrupted = true
    }
    try board.finish(metrics)
    try runner.end()
    return report(isInterrupted, seconds)
  }

  /// Rounds without a power failure after which a run gives up.
  private static let idleRoundsMax = 1_000

  private func isOver(_ seconds: Double) -> Bool {
    if let cuts = settings.cuts, counts.cuts >= cuts { return true }
    if settings.failsFast, !findings.isEmpty { return true }
    if counts.cuts == 0, rounds >= Self.idleRoundsMax { return true }
    return settings.seconds.map { seconds >= Double($0) } ?? false
  }

  private mutating func play(_ number: Int) throws(LabError) {
    let seed = StressRound.seed(of: number, settings.seed)
    let played =
      scenario.history == nil ? scenario : try scenario.drawn(number, seed: settings.seed).scenario
    guard let declared = played.sync else {
      throw .usage("\(scenario.file) is no scenario on synchronization")
    }
    var random = PRNG(seed.derived("sizes"))
    var options = try StressLifeOptions.drawn(seed, ofLoad: false, faults: .none)
    options.within = [12, 40, 120, 400][random.below(4)]
    settings.choose(&options)
    let choices = NodeAccident.Choices(
      nodes: declared.nodes, model: options.model, kills: options.kills, within: options.within)
    let accidents = try NodeAccident.drawn(choices, &random)
    let run = SyncRun(runner, played, declared, seed: settings.seed)
    let disturbed = try run.run(with: accidents, drawing: seed)
    count(disturbed)
    guard !disturbed.breaches.isEmpty else { return }
    try add(disturbed, number, run)
  }

  private mutating func count(_ disturbed: SyncRun.Disturbed) {
    counts.lives += 1
    counts.commits += disturbed.commitCount
    counts.marks += disturbed.lives.reduce(0) { $0 + $1.trace.markCount }
    counts.operations += disturbed.lives.reduce(0) {
      $0 + $1.trace.events.count - $1.trace.markCount
    }
    if disturbed.accidents.isEmpty { counts.ownEnds += 1 }
    for accident in disturbed.accidents {
      switch accident.kind {
      case .power: counts.cuts += 1
      case .kill: counts.kills += 1
      case .fault(let rule): counts.faults[rule.what.word, default: 0] += 1
      }
    }
  }

  /// Makes a finding of a failing round, or counts it with those of the same class.
  private mutating func add(
    _ disturbed: SyncRun.Disturbed, _ number: Int, _ run: SyncRun
  ) throws(LabError) {
    let key = FailureClass.key(of: SyncRun.result(disturbed.breaches))
    if let place = places[key] {
      findings[place].stateCount += 1
      return
    }
    let seed = StressRound.seed(of: number, settings.seed)
    let least = settings.thins ? try run.thinned(disturbed, drawing: seed) : disturbed
    var finding = try run.finding(of: least, number: findings.count + 1)
    finding.crash = "round \(number): \(finding.crash)"
    places[key] = findings.count
    findings.append(finding)
    console.show(finding, Annotation(file: CaseReport.stressedName, line: nil))
    if least.accidents.count < disturbed.accidents.count {
      console.say(
        "  thinned: \(Formatting.counted(disturbed.accidents.count, "accident")) to "
          + "\(Formatting.counted(least.accidents.count, "accident"))")
    }
    console.say("  with fewer steps: faultline shrink \(finding.token) --out small.yaml")
  }

  private func report(_ isInterrupted: Bool, _ seconds: Double) -> CaseReport {
    var item = CaseReport(name: CaseReport.stressedName, title: scenario.title)
    item.isInterrupted = isInterrupted
    var exploration = ExplorationReport(
      title: scenario.title, model: "stress", seed: settings.seed.rawValue,
      operationCount: counts.operations, markCount: counts.marks, crashPointCount: counts.cuts,
      candidateCount: counts.cuts, distinctCount: counts.cuts, exploredCount: counts.cuts,
      bound: "\(counts.cuts)", isInterrupted: isInterrupted, seconds: seconds, findings: [])
    exploration.findings = findings
    item.explorations = [exploration]
    let rate = seconds > 0 ? Double(rounds) / seconds : 0
    let faults = counts.faults.values.reduce(0, +)
    console.say(
      "  \(Formatting.counted(rounds, "round")) in \(Formatting.fixed(seconds, 1)) s "
        + "(\(Formatting.fixed(rate, 1)) rounds/s): "
        + "\(Formatting.counted(counts.cuts, "power cut")), "
        + "\(Formatting.counted(counts.kills, "kill")), "
        + "\(Formatting.counted(faults, "fault")), "
        + "\(Formatting.counted(counts.commits, "commit"))")
    if counts.cuts == 0, !isInterrupted {
      item.complaints.append("no power failed: the steps end before; give a smaller --within")
    }
    for complaint in item.complaints { console.say("  " + console.red(complaint)) }
    item.decideStress()
    return item
  }
}
