// ScenarioRunner+Certificate.swift: `faultline certify` for scenarios: each is recorded once, and
// explored with each of its syncs ignored; one on a synchronized realm for each node.

import CrashStates
import Exploration
import Findings
import LabCore
import Recording
import Workload

extension ScenarioRunner {
  /// Records a scenario and iterates over its syncs.
  /// - Returns: The certificate, or one for each node's life that issues syncs; the last is partial
  ///   when Faultline is asked to stop.
  /// - Throws: `LabError` with code `.usage` for a scenario whose crashes cannot be explored.
  package func certify(_ scenario: Scenario) throws(LabError) -> [Certificate] {
    guard let crash = scenario.crash else {
      throw .usage("\(scenario.file): a certificate explores crashes; add a 'crash:' section")
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
    if let sync = scenario.sync { return try certifySync(scenario, sync, crash) }
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
      return [try CertificateMaker(run: run, name: scenario.file, title: scenario.title).make()]
    } catch {
      guard error.code == .interrupted else { throw error }
      var certificate = Certificate(name: scenario.file, title: scenario.title)
      certificate.isInterrupted = true
      return [certificate]
    }
  }

  private func certifySync(
    _ scenario: Scenario, _ declared: SyncDeclaration, _ crash: CrashDeclaration
  ) throws(LabError) -> [Certificate] {
    let run = SyncRun(self, scenario, declared)
    let recorded = try run.record()
    if let breach = recorded.breaches.first {
      throw .usage("\(scenario.file): without any crash: \(breach)")
    }
    var certificates: [Certificate] = []
    for life in recorded.lives where !life.trace.workingSyncs.isEmpty {
      let certifiable = CertifiableLife(
        run: run, life: life, models: try models(of: crash), console: console)
      certificates.append(
        try CertificateMaker(
          run: certifiable, name: "\(scenario.file) at \(life.name)", title: scenario.title
        ).make())
      if certificates.last?.isInterrupted == true { break }
    }
    return certificates
  }
}

/// A recorded life of a node.
private struct CertifiableLife: CertifiableRun {
  let run: SyncRun
  let life: SyncRun.Life
  let models: [PersistenceModel]
  let console: Console

  var trace: Trace { life.trace }

  func explore(
    ignoring ignoredSyncs: [Int], under model: PersistenceModel, progress: String
  ) throws(LabError) -> ExplorationReport {
    var life = life
    life.ignoredSyncs = ignoredSyncs
    return try run.explore(
      life, of: 1, under: model, firstNumber: 1, console.about("\(life.name): \(progress)"))
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
