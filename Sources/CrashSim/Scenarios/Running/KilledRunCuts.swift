// KilledRunCuts.swift: power cuts of runs in which a process was killed. Crash states include what
// the killed process left in the page cache, and what others built on it; a kill alone loses
// nothing, and with a power cut alone no process takes over from a dead one.

import EngineExploration
import Findings
import LabCore

/// Explores the crash states of killed runs, one after the other.
struct KilledRunCuts {
  private let disturbed: DisturbanceRunner
  private let states: Int?
  /// One for each model so far, in the scenario's order.
  private var wholes: [ExplorationReport] = []

  init(_ disturbed: DisturbanceRunner) {
    self.disturbed = disturbed
    states = if case .kill(let kill) = disturbed.disturbance { kill.crashStates } else { nil }
  }

  /// Where to record the next run; nil if its crash states are not explored.
  var tracePath: String? { states.map { _ in "\(disturbed.runner.run.path)/killed.sqlite" } }

  /// Explores the crash states of the run recorded last.
  mutating func explore(operation: Int, before: Bool) throws(LabError) {
    guard let states, let tracePath, let crash = disturbed.scenario.crash else { return }
    let (runner, scenario) = (disturbed.runner, disturbed.scenario)
    for (index, model) in try runner.models(of: crash).enumerated() {
      var job = runner.job(scenario, disturbed.plan, tracePath, model: model)
      job.budget = min(states, runner.settings.budget ?? states)
      let part = try explorer(job, operation: operation, before: before).explore(
        title: scenario.title, firstNumber: 1)
      if index < wholes.count {
        wholes[index] = wholes[index].joined(with: part)
      } else {
        wholes.append(part)
      }
      if part.isInterrupted { throw .interrupted }
    }
  }

  private func explorer(_ job: EngineJob, operation: Int, before: Bool) -> EngineExplorer {
    let (runner, scenario) = (disturbed.runner, disturbed.scenario)
    let seed = disturbed.plan.seed
    return EngineExplorer(
      job: job, directory: runner.run.path, settings: runner.settings, console: runner.console,
      token: { state, second, shape in
        let recipe = ScenarioRecipe(
          of: scenario, seed: seed,
          place: .killedCrash(
            operation: operation, before: before, model: job.model, state: state, shape: shape,
            second: second))
        return ReplayRecipe.scenario(recipe).token
      })
  }

  /// The results, one report for each model; findings of one class are reported once.
  func reports(firstNumber: Int) -> [ExplorationReport] {
    var number = firstNumber
    return wholes.map { whole in
      var report = whole
      report.line = disturbed.scenario.lines.crash
      // Counts of crash points are specific to one recording.
      report.crashPoints = nil
      var known: [String: Int] = [:]
      report.findings = []
      for var finding in whole.findings {
        let key = finding.classKey ?? finding.headline
        if let index = known[key] {
          report.findings[index].stateCount += finding.stateCount
          continue
        }
        known[key] = report.findings.count
        finding.number = number
        number += 1
        report.findings.append(finding)
      }
      return report
    }
  }
}
