// ScenarioRunner+History.swift: a scenario that draws histories: each is run and judged as a
// separate scenario, until one breaks a promise, which is then shrunk.

import Engine
import Findings
import LabCore
import Recording
import Workload

extension ScenarioRunner {
  /// Number of scenarios that are run to shrink a failing history.
  static let historyShrinkBudget = 80

  /// Runs the histories of a scenario.
  func performHistories(
    _ scenario: Scenario, _ history: HistoryDeclaration, _ item: inout CaseReport
  ) throws(LabError) {
    if let reason = scenario.needsMount, opened.mount == nil {
      item.skipped.append(reason)
      return
    }
    item.histories = Self.counts(history)
    for number in 0..<history.histories {
      try Interruption.check()
      let drawn = try scenario.drawn(number, seed: seed(of: scenario))
      console.say("  history \(number): \(drawn.parameters.description)")
      for place in item.explorations.indices { item.explorations[place].recording = nil }
      let known = item.findings.count
      try perform(drawn.scenario, &item, drawn.parameters)
      guard item.runToken != nil || item.findings.count > known else { continue }
      if settings.shard.count == 1, scenario.negative == nil {
        try shrink(drawn.text, drawn.scenario, &item)
      }
      // Other shards may have found nothing, and all must do the same explorations.
      if settings.shard.count == 1 || item.runToken != nil { break }
    }
  }

  /// Shrinks a failing history, and reports the result.
  private func shrink(
    _ text: String, _ scenario: Scenario, _ item: inout CaseReport
  ) throws(LabError) {
    let token = item.runToken ?? item.findings.first?.token
    var settings = self.settings
    settings.progress = nil
    let shrinker = try ScenarioShrinker(
      settings: settings, console: console.about("shrinking history"),
      backend: opened.mount == nil ? .inProcess : nil, runBudget: Self.historyShrinkBudget)
    let shrunk = try shrinker.shrink(text: text, path: scenario.file, wanted: nil, out: nil)
    try shrinker.end()
    guard let shrunk else { return }
    let number = scenario.historyNumber ?? 0
    console.say("  history \(number), made smaller in \(shrunk.runCount) runs:")
    for line in shrunk.text.split(separator: "\n") { console.say("    \(line)") }
    console.say("  from \(shrunk.before)")
    console.say("  to \(shrunk.after), which show: \(shrunk.finding.headline)")
    if let token { console.say("  its own token: faultline shrink \(token) --out small.yaml") }
  }

  // MARK: - What came up

  /// The actions of commands, and the feature that each belongs to, if any.
  private static let actions: [(name: String, feature: HistoryFeature?)] = [
    ("open", nil), ("close", nil), ("reopen", .reopens), ("pin", .pins), ("release", .pins),
    ("diff", .diffs), ("verify", nil), ("commit", nil), ("cancel", .cancels),
    ("refused", .refusals), ("compact", .compact), ("compact on launch", .launch),
    ("copy", .copies), ("copy in a write", .copiesInWrites), ("exit", .exits), ("kill", .kills),
    ("stop", .stops), ("continue", .stops), ("refresh", .refreshes), ("invalidate", .refreshes),
    ("query", .queries), ("observe", .observers), ("asynchronous write", .asyncWrites),
    ("misuse", .misuses), ("migration", .migrations),
  ]
  /// Those of synchronization.
  private static let actionsOfSync: [(name: String, feature: HistoryFeature?)] = [
    ("write", nil), ("settle", nil), ("connect", nil), ("disconnect", .disconnects),
    ("deliver", nil), ("drop", .losses), ("duplicate", .duplicates), ("delay", .overtaking),
    ("cut", .cuts), ("heal", .cuts), ("crash", .exits), ("clock", .clocks), ("copy", nil),
    ("restore", .restores), ("clone", .clones), ("trim", .trims),
  ]
  private static let fileOperations = ["growth", "write", "sync", "cut", "rename"]

  private static func counts(_ history: HistoryDeclaration) -> HistoryCounts {
    func mayBe(_ feature: HistoryFeature?) -> Bool {
      guard let feature else { return true }
      return history.features.contains(feature) && !history.never.contains(feature)
        && (history.processes > 1 || feature != .processes && feature != .stops)
    }
    let possible = history.content == .sync ? actionsOfSync : actions
    // Schedules and nodes record only operations on files.
    let hasSteps = !history.isScheduled && history.content != .sync
    return HistoryCounts(
      declared: history.histories,
      features: HistoryFeature.allCases.filter { mayBe($0) }.map(\.rawValue),
      actions: possible.filter { mayBe($0.feature) }.map(\.name),
      engine: (hasSteps ? CommitStep.allCases.map(\.description) : []) + fileOperations)
  }

  /// Counts the actions of a history.
  func note(
    _ parameters: HistoryParameters, _ scenario: Scenario, _ plan: WorkloadPlan, _ trace: Trace,
    seconds: Double, in counts: inout HistoryCounts
  ) {
    counts.histories += 1
    counts.steps += scenario.steps.count
    counts.commands += plan.commands.count
    counts.seconds += seconds
    for feature in HistoryFeature.allCases where parameters.features.contains(feature) {
      counts.add(feature: feature.rawValue)
    }
    for command in plan.commands {
      counts.rows += command.transaction?.mutations.count ?? 0
      for name in Self.names(of: command) { counts.add(action: name) }
    }
    for entry in trace.phases {
      if let step = entry.phase { counts.add(engine: step) }
    }
    for case .operation(let operation) in trace.events.map(\.body) {
      counts.operations += 1
      if let name = Self.name(of: operation) { counts.add(engine: name) }
    }
  }

  /// Counts the steps of a history of synchronization.
  func note(
    _ parameters: HistoryParameters, _ declared: SyncDeclaration, _ lives: [SyncRun.Life],
    seconds: Double, in counts: inout HistoryCounts
  ) {
    counts.histories += 1
    counts.seconds += seconds
    for feature in HistoryFeature.allCases where parameters.features.contains(feature) {
      counts.add(feature: feature.rawValue)
    }
    for step in declared.before + declared.steps {
      counts.steps += 1
      counts.commands += step.times
      if case .write(_, let edits) = step.action { counts.rows += edits.count }
      counts.add(action: step.action.verb)
    }
    for case .operation(let operation) in lives.flatMap(\.trace.events).map(\.body) {
      counts.operations += 1
      if let name = Self.name(of: operation) { counts.add(engine: name) }
    }
  }

  private static func names(of command: WorkerCommand) -> [String] {
    switch command.action {
    case .open:
      command.database?.compactsOnLaunch == true ? ["open", "compact on launch"] : ["open"]
    case .close: ["close"]
    case .reopen: ["reopen"]
    case .pin: ["pin"]
    case .release: ["release"]
    case .diff: ["diff"]
    case .refresh: ["refresh"]
    case .invalidate: ["invalidate"]
    case .query: ["query"]
    case .observe: ["observe"]
    case .misuse: ["misuse"]
    case .verify: ["verify"]
    case .compact: ["compact"]
    case .copy: ["copy"]
    case .transaction(let transaction) where transaction.schema != nil:
      [transaction.schema?.migration == DeclaredMigration.none ? "open" : "migration"]
    case .transaction(let transaction):
      [transaction.fails != nil ? "refused" : transaction.cancels ? "cancel" : "commit"]
        + (transaction.copy == nil ? [] : ["copy in a write"])
        + (transaction.isAsync ? ["asynchronous write"] : [])
    case .process(.exit): ["exit"]
    case .process(.kill): ["kill"]
    case .process(.stop): ["stop"]
    case .process(.resume): ["continue"]
    default: []
    }
  }

  private static func name(of operation: Operation) -> String? {
    switch operation {
    case .write: "write"
    case .allocate: "growth"
    case .sync: "sync"
    case .rename: "rename"
    case .truncate(_, let old, let new): new < old ? "cut" : "growth"
    default: nil
    }
  }
}
