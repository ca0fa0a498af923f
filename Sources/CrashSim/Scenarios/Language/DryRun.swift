// DryRun.swift: describes what a run of a scenario would do: the actions of each actor, the
// disturbances and their places, the maximum number of states judged, and the promises checked.
// Nothing is run: the steps are expanded with the seed, as for a run, and the rest is in the file.

import CrashStates
import Exploration
import FaultFS
import Findings
import LabCore
import Workload

/// Explains a scenario without running it.
package struct DryRun {
  private let scenario: Scenario
  /// The drawn histories, and the first of them, which is the one explained.
  private var histories: [String] = []
  private let plan: WorkloadPlan
  private let settings: ExplorationSettings

  /// Expands a scenario's steps.
  /// - Parameters:
  ///   - scenario: The scenario.
  ///   - settings: The options of the run.
  ///   - workMax: See `WorkloadPlan`.
  /// - Throws: `LabError` with code `.usage` when the steps cannot be run.
  /// - Complexity: O(work of the plan).
  package init(
    _ scenario: Scenario, settings: ExplorationSettings, workMax: Int = ScenarioBounds.planWork
  ) throws(LabError) {
    var scenario = scenario
    if let history = scenario.history {
      let first = try scenario.drawn(0, seed: Self.seed(of: scenario, settings))
      histories = [
        "\(Formatting.grouped(history.histories)) histories of about "
          + "\(Formatting.counted(history.steps, "step")) are drawn from the seed; each is run as "
          + "the first one is, which follows",
        "history 0: \(first.parameters.description)",
      ]
      scenario = first.scenario
    }
    self.scenario = scenario
    self.settings = settings
    plan = try WorkloadPlan(
      scenario, seed: Self.seed(of: scenario, settings), workMax: workMax)
  }

  private static func seed(of scenario: Scenario, _ settings: ExplorationSettings) -> Seed {
    settings.seedIsChosen ? settings.seed : scenario.seed ?? settings.seed
  }

  /// The explanation, one sentence or part of a sentence per line.
  /// - Throws: `LabError` with code `.usage` for a model that is not available.
  package func lines() throws(LabError) -> [String] {
    var text = Labelled()
    text.add("tags", scenario.tags.isEmpty ? [] : [scenario.tags.joined(separator: ", ")])
    text.add("histories", histories)
    if let documents {
      text.add("documents", documents)
    } else if let sync = scenario.sync {
      text.add("nodes", ["server \(sync.server); clients " + sync.clients.joined(separator: ", ")])
      text.add("steps", ["\(sync.before.count) before, \(sync.steps.count) in the run"])
    } else {
      text.add("database", database)
      text.add("processes", processes)
      text.add("steps", DryRunSteps(scenario).lines + [total])
    }
    text.add("together", together)
    text.add("faults", try faults())
    text.add("pages", pages)
    text.add("cuts", try cuts())
    text.add("medium", medium)
    text.add("kills", kills)
    text.add("sweep", try sweep())
    text.add("judged", judged)
    text.add("verdict", [verdict])
    return text.lines
  }

  // MARK: What is done

  /// What is done with documents; nil for a scenario of tables or objects.
  private var documents: [String]? {
    guard let documents = scenario.documents else { return nil }
    let format = documents.format.map { "; it begins in format \($0)" } ?? ""
    let steps = "\(documents.before.count) steps before, \(documents.steps.count) steps"
    return [
      "a data file with synchronous \(documents.sync.rawValue.uppercased())\(format)",
      "processes: \(documents.processes.joined(separator: ", ")); \(steps)",
    ]
      + documents.together.map { actor in
        "beside the others: \(actor.name), \(Formatting.counted(actor.steps.count, "step"))"
      }
  }

  private var database: [String] {
    let commit =
      switch scenario.database.commit {
      case .twoPhase: "two syncs for each commit"
      case .checksummed: "one sync for each commit"
      }
    let key =
      scenario.database.key == .none
      ? "not encrypted" : "encrypted with the \(scenario.database.key.rawValue) key"
    let tables = scenario.tables.map { table in
      "table \(table.name): \(([table.key] + table.columns.map(\.name)).joined(separator: ", "))"
    }
    return ["\(commit); \(key)"] + tables
  }

  private var processes: [String] {
    scenario.processes.map { process in
      let threads = Formatting.counted(process.actors.count, "thread")
      return "\(process.name): a worker process with \(threads): "
        + process.actors.joined(separator: ", ")
    }
  }

  private var total: String {
    let transactions = plan.transactions
    let cancelled = transactions.count { $0.cancels }
    let failing = transactions.count { $0.fails != nil }
    let rows = transactions.reduce(0) { $0 + $1.mutations.count }
    var text =
      "in all, under seed \(plan.seed): \(Formatting.counted(plan.commands.count, "command")) with "
      + "\(Formatting.counted(transactions.count, "transaction")) and "
      + Formatting.counted(rows, "statement")
    if cancelled > 0 { text += "; \(Formatting.grouped(cancelled)) are rolled back" }
    if failing > 0 { text += "; \(Formatting.grouped(failing)) must fail" }
    return text
  }

  // MARK: What goes wrong

  private func faults() throws(LabError) -> [String] {
    var lines: [String] = []
    for fault in scenario.faults {
      lines.append("in every run, line \(fault.position.line): \(Self.text(try fault.rule()))")
    }
    return lines
  }

  private var pages: [String] {
    guard let rule = scenario.writeBack?.rule(plan.seed) else { return [] }
    return [
      "dirty mapped pages are written back before one of \(Formatting.grouped(rule.rate)) file "
        + "operations on average, under seed \(rule.seed)"
    ]
  }

  /// A rule in one line; the marks in it end with a line feed.
  static func text(_ rule: FaultRule) -> String {
    rule.description.replacing("\n", with: "\\n")
  }

  private func cuts() throws(LabError) -> [String] {
    guard let crash = scenario.crash else { return [] }
    var models = settings.models
    if !settings.modelsAreChosen {
      if crash.models.isEmpty { return systems(of: crash) }
      models = try PersistenceModel.chosen(crash.models.joined(separator: ","))
    }
    let declared = crash.budgetStates ?? ScenarioRunner.defaultBudget
    var budget = min(declared, settings.budget ?? declared)
    if crash.recoveryDepth > 0 { budget = min(budget, ScenarioRunner.recoveredStatesMax) }
    let which =
      switch crash.explore {
      case .all: "what any order of writing back may leave, torn writes too"
      case .prefixes: "what is left when the first operations survive and the later ones do not"
      }
    var lines = [
      "one run is recorded; then power fails after each of its file operations and marks",
      "each time under \(models.map(\.name).joined(separator: ", ")): \(which)",
      "at most \(Formatting.counted(budget, "state")) for each model, "
        + "\(Formatting.grouped(budget * models.count)) in all",
    ]
    if crash.recoveryDepth > 0 {
      var states = 1
      var each = 0
      for level in ScenarioRunner.recoveryBudgets(crash.recoveryDepth) {
        states *= level
        each += states
      }
      lines.append(
        "from each state the database recovers, and power fails again during the recovery or the "
          + "first commit after it")
      let deep = crash.recoveryDepth > 1 ? ", \(crash.recoveryDepth) recoveries deep" : ""
      lines.append(
        "at most \(Formatting.counted(each, "state")) of recovery for each\(deep), "
          + "\(Formatting.grouped(each * budget * models.count)) in all")
    }
    return lines + systems(of: crash)
  }

  private func systems(of crash: CrashDeclaration) -> [String] {
    guard !settings.modelsAreChosen, !crash.systems.isEmpty else { return [] }
    let declared = crash.budgetStates ?? ScenarioRunner.defaultBudgetOfSystem
    let names = crash.systems.map(\.description).joined(separator: ", ")
    return [
      "the same steps on a device with \(names): "
        + "what block writes since the last flush may leave",
      "at most \(Formatting.counted(min(declared, settings.budget ?? declared), "state")) of each, "
        + "mounted",
    ]
  }

  private var medium: [String] {
    guard let media = scenario.media else { return [] }
    let kinds = media.kinds.map(\.phrase).joined(separator: ", ")
    let moment =
      switch media.moment {
      case .end: "after the last step"
      case .everyCommit: "after each acknowledged commit and after the last step"
      }
    let each = media.each == 1 ? "one at a time" : "one or two at a time"
    let budget = min(media.budgetStates, settings.budget ?? media.budgetStates)
    return [
      "\(moment) files that fit '\(media.fileGlob)' are damaged, \(each): \(kinds)",
      "at most \(Formatting.counted(budget, "state")); the fault budget says which must be "
        + "survived",
    ]
  }

  private var together: [String] {
    guard let block = scenario.blocks.first else { return [] }
    let actors = scenario.processes.flatMap(\.actors).filter { actor in
      block.contains { $0.actors.contains(actor) }
    }
    let lines = "lines \(block[0].position.line) to \(block[block.count - 1].position.line)"
    guard let schedule = scenario.schedule else {
      return ["\(lines): \(actors.joined(separator: ", ")) in their order, one after the other"]
    }
    return [
      "\(lines): \(actors.joined(separator: ", ")) side by side, \(schedule.name)",
      "at most \(Formatting.counted(schedule.runs, "schedule")), some run twice and compared",
    ]
  }

  private var kills: [String] {
    guard let kill = scenario.kill else { return [] }
    let place =
      switch kill.place {
      case .everyOperation: "at each file operation that changes or syncs something"
      case .everySync: "at each sync"
      case .everyWrite: "at each write"
      case .everyTruncate: "at each truncate"
      case .everyCommand: "between its commands"
      case .everyCommitStep: "before each step of its commits"
      case .operation(let number): "at its file operation \(number)"
      }
    var sides = ""
    if kill.sides.count == 2 {
      sides = ", once before it takes effect and once after it"
    } else if kill.place != .everyCommand, kill.place != .everyCommitStep {
      sides = kill.sides == [true] ? ", before it takes effect" : ", after it took effect"
    }
    var most = DisturbanceRunner.placesMax * kill.sides.count
    if case .operation = kill.place { most = kill.sides.count }
    let verb = kill.manner == .stop ? "stopped" : "killed"
    let cuts = kill.crashStates.map { states in
      "in each of them power fails, too: at most \(Formatting.counted(states, "crash state")) of "
        + "each, under the models named above"
    }
    let others = scenario.processes.filter { $0.name != kill.process }.map(\.name)
    return [
      "\(kill.process) is \(verb) \(place)\(sides): one run for each",
      others.isEmpty
        ? "then a new process opens what is left"
        : "\(others.joined(separator: ", ")) \(others.count == 1 ? "goes" : "go") on; at the end a "
          + "new process opens what is left",
      "at most \(Formatting.counted(most, "run")); how many places there are is known when it runs",
    ] + (cuts.map { [$0] } ?? [])
  }

  private func sweep() throws(LabError) -> [String] {
    guard let sweep = scenario.sweep else { return [] }
    let later = sweep.lasts ? ", and all later ones until the next open" : ""
    let rule = Self.text(try sweep.moved(to: 1).rule())
    return [
      "in each of many runs another operation fails\(later): \(rule)",
      "its actor opens the database again and continues; then a new process opens what is left",
      "at most \(Formatting.counted(DisturbanceRunner.placesMax, "run")); the last is the one in "
        + "which nothing is left to fail",
    ]
  }

  // MARK: What is judged

  private var judged: [String] {
    if scenario.documents != nil {
      return DocumentPromise.allCases.map { "\($0.name): \($0.sentence)" }
    }
    if scenario.sync != nil {
      return SyncPromise.allCases.map { "\($0.name): \($0.sentence)" }
    }
    var oracles: [OracleName] = []
    let isReopened = scenario.crash != nil || scenario.kill != nil || scenario.sweep != nil
    if isReopened {
      oracles += [
        .durability, .prefix, .atomicity, .referenceModel, .structure, .usableAfterRecovery,
      ]
    }
    if scenario.media != nil { oracles.append(.media) }
    if scenario.kill != nil || scenario.sweep != nil { oracles.append(.liveness) }
    let isPinned = plan.commands.contains { if case .pin = $0.action { true } else { false } }
    if isPinned { oracles.append(.isolation) }
    oracles.append(.expectation)
    return oracles.map { "\($0.rawValue): \($0.promise)" }
  }

  private var verdict: String {
    guard let negative = scenario.negative else { return "it holds when no promise is broken" }
    let names = negative.oracles.map(\.rawValue).joined(separator: " or ")
    return "a bug is planted, \(negative.because): it holds only when \(names) finds it"
  }
}

/// Lines with labels.
private struct Labelled {
  private(set) var lines: [String] = []

  /// Adds the texts for one label; nothing if there are none.
  mutating func add(_ label: String, _ texts: [String]) {
    for (index, text) in texts.enumerated() {
      let name = (index == 0 ? label : "").padding(toLength: 11, withPad: " ", startingAt: 0)
      lines.append("  " + name + text)
    }
  }
}
