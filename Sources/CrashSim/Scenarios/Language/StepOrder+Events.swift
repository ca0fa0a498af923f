// StepOrder+Events.swift: checks whether events of processes and files are possible at their place.

import Workload

extension StepOrder {
  /// An action that must fail: it changes nothing.
  mutating func checkAttempt(_ tried: WorkerAction, _ step: ScenarioStep, _ actor: String) {
    if let disturbance = scenario.kill.map({ _ in "killSweep" })
      ?? scenario.sweep.map({ _ in "sweep" })
    {
      reader.report(
        step.position, "with '\(disturbance)' it is unknown whether this is refused",
        "remove one of them")
    }
    if tried == .open {
      guard open.contains(actor) else { return }
      reader.report(
        step.position, "'\(actor)' has the database open already", "add '- \(actor): close' before")
    } else {
      _ = hasOpen(actor, step)
    }
  }

  mutating func checkProcess(_ event: ProcessEvent, _ step: ScenarioStep, _ actor: String) {
    let process = scenario.process(of: actor)
    refuseSweep(step)
    guard started.contains(process.name) || isLimit(event) else {
      reader.report(
        step.position, "'\(process.name)' does not run",
        "let one of its actors open the database before")
      return
    }
    switch event {
    case .kill, .exit:
      if event == .exit { refuseStopped(process.name, step) }
      stopped.remove(process.name)
      started.remove(process.name)
      open.subtract(process.actors)
      pins = pins.filter { !process.actors.contains($0.value) }
    case .stop:
      if !stopped.insert(process.name).inserted {
        reader.report(step.position, "'\(process.name)' is stopped already", "remove the step")
      }
    case .resume:
      if stopped.remove(process.name) == nil {
        reader.report(
          step.position, "'\(process.name)' is not stopped", "add '- stop: \(process.name)' before")
      }
    case .limit: refuseStopped(process.name, step)
    }
  }

  private func isLimit(_ event: ProcessEvent) -> Bool {
    if case .limit = event { true } else { false }
  }

  mutating func checkFile(_ event: FileEvent, _ step: ScenarioStep) {
    refuseSweep(step)
    switch event {
    case .remove(.database), .cut:
      guard scenario.crash == nil, scenario.kill == nil, scenario.media == nil else {
        reader.report(
          step.position, "a removed or shortened database cannot be judged after a crash or a kill",
          "remove 'crash', 'media' and 'killSweep'")
        return
      }
    case .remove: break
    case .overwrite:
      guard let user = open.sorted().first else { return }
      reader.report(
        step.position, "'\(user)' uses the lock file that would be written over",
        "add '- \(user): close' before")
    }
  }

  /// Reports a step of a stopped process.
  func refuseStopped(_ process: String, _ step: ScenarioStep) {
    guard stopped.contains(process) else { return }
    reader.report(
      step.position, "'\(process)' is stopped", "add '- continue: \(process)' before")
  }

  private func refuseSweep(_ step: ScenarioStep) {
    guard scenario.sweep != nil else { return }
    reader.report(
      step.position, "a sweep disturbs a run of its own, in which nothing else goes wrong",
      "remove the step, or write 'killSweep' instead of 'sweep'")
  }
}
