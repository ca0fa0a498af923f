// ScenarioRunner+Certificate.swift: `faultline certify` for the engine: a scenario recorded once,
// explored with each of its syncs ignored.

import CrashStates
import Exploration
import Findings
import LabCore
import Recording
import Workload

extension ScenarioRunner {
  /// Records a scenario and iterates over its syncs.
  /// - Returns: The certificate, which is partial when Faultline is asked to stop.
  /// - Throws: `LabError` with code `.usage` for a scenario whose crashes cannot be explored.
  package func certify(_ scenario: Scenario) throws(LabError) -> Certificate {
    guard let crash = scenario.crash else {
      throw .usage("\(scenario.file): a certificate explores crashes; add a 'crash:' section")
    }
    guard scenario.sync == nil else {
      throw .usage("\(scenario.file): certificates are not for synchronization")
    }
    guard scenario.history == nil else {
      throw .usage(
        "\(scenario.file): it draws histories, and a certificate is of one run; write steps")
    }
    guard scenario.negative == nil, scenario.faults.isEmpty else {
      throw .usage(
        "\(scenario.file): faults are planted in it, and a certificate is of a disk that works; "
          + "give a scenario without 'faults:' and 'negative:'")
    }
    if let reason = scenario.needsMount, opened.mount == nil {
      throw .usage("\(scenario.file): \(reason), and here it is \(backendName)")
    }
    do throws(LabError) {
      let plan = try WorkloadPlan(scenario, seed: seed(of: scenario))
      let (tracePath, recorded) = try record(scenario, plan, as: "trace")
      if let violation = recorded.violations.first {
        throw .usage("\(scenario.file): without any crash: \(violation)")
      }
      let run = try CertifiableScenario(
        runner: self, scenario: scenario, crash: crash, plan: plan, tracePath: tracePath)
      return try CertificateMaker(run: run, name: scenario.file, title: scenario.title).make()
    } catch {
      guard error.code == .interrupted else { throw error }
      var certificate = Certificate(name: scenario.file, title: scenario.title)
      certificate.isInterrupted = true
      return certificate
    }
  }
}

/// A recorded scenario.
private struct CertifiableScenario: CertifiableRun {
  let runner: ScenarioRunner
  let scenario: Scenario
  let plan: WorkloadPlan
  let tracePath: String
  let models: [PersistenceModel]
  let trace: Trace

  init(
    runner: ScenarioRunner, scenario: Scenario, crash: CrashDeclaration, plan: WorkloadPlan,
    tracePath: String
  ) throws(LabError) {
    self.runner = runner
    self.scenario = scenario
    self.plan = plan
    self.tracePath = tracePath
    models = try runner.models(of: crash)
    trace = try runner.job(scenario, plan, tracePath, model: models[0]).trace()
  }

  func explore(
    ignoring ignoredSyncs: [Int], under model: PersistenceModel, progress: String
  ) throws(LabError) -> ExplorationReport {
    var job = runner.job(scenario, plan, tracePath, model: model)
    job.ignoredSyncs = ignoredSyncs
    return try runner.explore(
      scenario, job, firstNumber: 1, console: runner.console.about(progress))
  }
}
