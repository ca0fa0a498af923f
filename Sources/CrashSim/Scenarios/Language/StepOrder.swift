// StepOrder.swift: checks whether the steps are possible in their order. Which actors have the
// database open, and which pins exist, is known in advance, because steps run in lockstep.

import LabCore
import Workload

/// Checks a scenario's steps against each other.
struct StepOrder {
  let scenario: Scenario
  let reader: ScenarioReader
  /// Actors that have the database open.
  var open: Set<String> = []
  /// The owner of each pin.
  var pins: [String: String] = [:]
  /// Stopped processes.
  var stopped: Set<String> = []
  /// Running processes.
  var started: Set<String> = []
  private var copies: Set<String> = []
  private var mutations = 0

  init(_ scenario: Scenario, _ reader: ScenarioReader) {
    self.scenario = scenario
    self.reader = reader
  }

  /// Reports impossible steps, at most once per step and actor.
  consuming func check() {
    for step in scenario.steps {
      if step.actors.isEmpty {
        checkExpectation(step)
      } else {
        for actor in step.actors { checkAction(step, actor) }
      }
    }
    if mutations > ScenarioBounds.mutations {
      reader.report(
        SourcePosition(line: 1, column: 1),
        "the steps come to \(mutations) statements, more than \(ScenarioBounds.mutations)",
        "lower 'repeat' or 'times'")
    }
  }

  private mutating func checkAction(_ step: ScenarioStep, _ actor: String) {
    switch step.action {
    case .command(.process(let event)): return checkProcess(event, step, actor)
    case .command(.file(let event)): return checkFile(event, step)
    default: break
    }
    let process = scenario.process(of: actor).name
    refuseStopped(process, step)
    started.insert(process)
    if case .attempt(let tried, _) = step.action { return checkAttempt(tried, step, actor) }
    if step.action == .command(.open) {
      if !open.insert(actor).inserted {
        reader.report(step.position, "'\(actor)' has the database open already", "remove the step")
      }
      return
    }
    guard hasOpen(actor, step) else { return }
    switch step.action {
    case .command(let action):
      checkObjects(step)
      check(action, step, actor)
    case .write(let write):
      if let copy = write.copy { add(copy, step) }
      checkObjects(step)
      checkSurvivor(step, actor, write)
      let rows = write.statements.reduce(0) { $0 &+ $1.times }
      let (total, overflow) = rows.multipliedReportingOverflow(by: write.repeats)
      let sum = mutations.addingReportingOverflow(total)
      mutations = overflow || sum.overflow ? Int.max : sum.partialValue
    case .expect, .attempt: break
    }
  }

  /// Checks an action of an actor that has the database open.
  private mutating func check(_ action: WorkerAction, _ step: ScenarioStep, _ actor: String) {
    switch action {
    case .misuse(let owner):
      if !open.contains(owner) {
        reader.report(
          step.position, "'\(owner)' does not have the database open",
          "add '- \(owner): open' before")
      }
    case .compact:
      // Concurrently it fails if others hold a pin, which is allowed.
      refusePins(of: { step.block == nil || $0 == actor }, step, "compact")
      let fellows = scenario.process(of: actor).actors
      for other in open.subtracting(fellows).sorted() {
        reader.report(
          step.position, "'\(other)' has the database open in another process at this compact",
          "add '- \(other): close' before")
      }
    case .copy(let copy): add(copy, step)
    case .close:
      refusePins(of: { $0 == actor }, step, "close")
      open.remove(actor)
    case .reopen:
      let fellows = scenario.process(of: actor).actors
      refusePins(of: { fellows.contains($0) }, step, "reopen")
    case .pin(let name):
      if let owner = pins[name] {
        reader.report(step.position, "'\(owner)' has a pin '\(name)' already", "use another name")
      }
      pins[name] = actor
      if scenario.sweep != nil {
        reader.report(
          step.position, "a sweep opens the database again after the failure, which no pin allows",
          "remove the pin, or use 'faults'")
      }
    case .release(let name):
      requirePin(name, actor, step)
      pins[name] = nil
    case .diff(let name): requirePin(name, actor, step)
    default: break
    }
  }

  /// Reports an actor that does not have the database open.
  func hasOpen(_ actor: String, _ step: ScenarioStep) -> Bool {
    if open.contains(actor) { return true }
    reader.report(
      step.position, "'\(actor)' does not have the database open", "add '- \(actor): open' before")
    return false
  }

  /// After a kill or a failure it is unknown which rows exist, so only statements that are valid in
  /// either case may be written.
  private func checkSurvivor(_ step: ScenarioStep, _ actor: String, _ write: WriteStep) {
    let reason: String
    if let kill = scenario.kill, scenario.process(of: actor).name != kill.process {
      reason = "'\(kill.process)' may be dead by then"
    } else if scenario.sweep != nil {
      reason = "an earlier write may have failed by then"
    } else {
      return
    }
    let isOfTables = scenario.database.objects == nil
    if isOfTables,
      let column = scenario.tables.flatMap(\.columns).first(where: { $0.type == .link })
    {
      reader.report(
        step.position, "\(reason), and '\(column.name)' links to a row that need not be there",
        "use a schema without links")
    }
    for statement in write.statements where statement.kind != .upsert {
      reader.report(
        statement.position,
        "\(reason), and '\(statement.kind.rawValue)' needs to know which rows are there",
        "write upsert")
    }
  }

  private mutating func add(_ copy: CopyStep, _ step: ScenarioStep) {
    guard !copies.insert(copy.name).inserted else { return }
    reader.report(step.position, "there is a copy '\(copy.name)' already", "use another name")
  }

  private func requirePin(_ name: String, _ actor: String, _ step: ScenarioStep) {
    guard let owner = pins[name] else {
      let near = nearestWord(to: name, among: Array(pins.keys))
      reader.report(
        step.position, "nothing is pinned as '\(name)'", nearest: near,
        "add '- \(actor): {pin: \(name)}' before")
      return
    }
    if owner != actor {
      reader.report(
        step.position, "the pin '\(name)' belongs to '\(owner)', not to '\(actor)'",
        "let '\(owner)' do it")
    }
  }

  private mutating func refusePins(
    of isMeant: (String) -> Bool, _ step: ScenarioStep, _ verb: String
  ) {
    for (name, owner) in pins.sorted(by: { $0.key < $1.key }) where isMeant(owner) {
      reader.report(
        step.position, "'\(owner)' still pins '\(name)' at this \(verb)",
        "add '- \(owner): {release: \(name)}' before")
      pins[name] = nil
    }
  }

  private func checkExpectation(_ step: ScenarioStep) {
    guard !open.isEmpty else {
      reader.report(
        step.position, "no process has the database open at this expectation",
        "put it before the last close")
      return
    }
    guard case .expect(let claims) = step.action else { return }
    guard open.contains(where: { !stopped.contains(scenario.process(of: $0).name) }) else {
      reader.report(
        step.position, "every process that has the database open is stopped",
        "add a 'continue' before")
      return
    }
    for case .pinnedUnchanged(let name) in claims {
      guard let owner = pins[name] else {
        reader.report(
          step.position, "nothing is pinned as '\(name)'",
          nearest: nearestWord(to: name, among: Array(pins.keys)), "add a pin before")
        continue
      }
      refuseStopped(scenario.process(of: owner).name, step)
    }
  }
}
