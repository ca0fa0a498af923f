// ScenarioShrinker.swift: `faultline shrink`: finds the smallest scenario that still breaks its
// promise.
// Invariants: every candidate is run completely, as by `faultline run`; the best one with the
// wanted class of finding is kept, so that a budget or an interruption affects only the size. The
// candidates and their order depend only on the scenario and the seed.

import Exploration
import Findings
import Foundation
import LabCore
import Workload

/// A shrunk scenario.
package struct ShrunkScenario: Sendable {
  /// Sizes of a scenario.
  package struct Size: Sendable, Hashable, CustomStringConvertible {
    /// Steps.
    package var steps: Int
    /// Statements of all steps, each counted once.
    package var statements: Int
    /// Operations that a run recorded.
    package var operations: Int

    /// For example `3 steps, 1 statement, 40 operations`.
    package var description: String {
      [
        Formatting.counted(steps, "step"), Formatting.counted(statements, "statement"),
        Formatting.counted(operations, "operation"),
      ].joined(separator: ", ")
    }
  }

  /// The scenario as YAML.
  package var text: String
  /// Its original size.
  package var before: Size
  /// Its final size.
  package var after: Size
  /// The finding of the smaller scenario.
  package var finding: Finding
  /// Number of scenarios that were run.
  package var runCount: Int
  /// True when the budget of runs was used up, or Faultline was asked to stop, before the end.
  package var isCutShort: Bool
}

/// Shrinks failing scenarios.
package final class ScenarioShrinker {
  private let runner: ScenarioRunner
  private let console: Console
  private let runBudget: Int
  private var runCount = 0
  /// What happens to nodes in each run, if the failure is of a stress run.
  private var accidents: [NodeAccident]?
  private var isCutShort = false

  /// Prepares for one scenario.
  /// - Parameters:
  ///   - settings: The extent of crash exploration in each run.
  ///   - console: The output for progress.
  ///   - backend: The backend; see `ScenarioRunner`.
  ///   - runBudget: Most scenarios to run.
  /// - Throws: `LabError` when the backend cannot be opened.
  package init(
    settings: ExplorationSettings, console: Console, backend: BackendChoice?, runBudget: Int
  ) throws(LabError) {
    self.console = console
    self.runBudget = runBudget
    runner = try ScenarioRunner(settings: settings, console: .silent, backend: backend)
  }

  /// Ends the backend.
  package func end() throws(LabError) { try runner.end() }

  /// Shrinks a scenario while it gives one class of finding.
  /// - Parameters:
  ///   - path: The scenario's file.
  ///   - recipe: The failure to keep; nil for the first one that a run finds.
  ///   - out: The file for the smaller scenario, to be named in its token; nil for none.
  /// - Returns: The smaller scenario; nil if it breaks no promise.
  /// - Throws: `LabError` when the file cannot be read or Faultline fails.
  package func shrink(
    _ path: String, keeping recipe: ScenarioRecipe?, out: String?
  ) throws(LabError) -> ShrunkScenario? {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw .usage("cannot read \(path); give a scenario's file, or a token of one")
    }
    var text = String(decoding: data, as: UTF8.self)
    let scenario = try Self.parse(text, file: path)
    if scenario.history != nil {
      guard let recipe, let number = recipe.history else {
        throw .usage("\(path) draws histories; give the token of one that fails")
      }
      text = try scenario.drawn(number, seed: Seed(rawValue: recipe.seed)).text
    }
    guard let recipe else { return try shrink(text: text, path: path, wanted: nil, out: out) }
    if case .accidents(let happened) = recipe.place { accidents = happened }
    guard let found = try runner.replay(recipe, keepingImageIn: nil) else { return nil }
    return try shrink(text: text, path: path, wanted: found.classKey, out: out)
  }

  /// Shrinks a scenario while it gives one class of finding.
  /// - Parameters:
  ///   - text: The scenario.
  ///   - path: Its file, for messages.
  ///   - wanted: The class of finding to keep; nil for that of the first one that a run finds.
  ///   - out: The file for the smaller scenario, to be named in its token; nil for none.
  /// - Returns: The smaller scenario; nil if it breaks no promise.
  /// - Throws: `LabError` when the text is not a scenario or Faultline fails.
  func shrink(
    text: String, path: String, wanted: String?, out: String?
  ) throws(LabError) -> ShrunkScenario? {
    let source = try ScenarioSource(text, file: path)
    var found = wanted
    if found == nil {
      found = try run(try Self.parse(text, file: path), wanted: nil)?.finding.classKey
    }
    guard let key = found else { return nil }
    // Random values depend on the position of a statement in the file.
    guard let first = try run(try Self.parse(try source.text(), file: path), wanted: key) else {
      throw .usage(
        "\(path): the failure needs the very values that were drawn, which depend on the line and "
          + "column of each statement; give the values that matter as constants")
    }
    var search = Search(best: source, path: path, wanted: key, operations: first.operations)
    do throws(LabError) {
      try reduce(&search)
    } catch {
      guard error.code == .interrupted else { throw error }
      isCutShort = true
    }
    return try result(search, source, first, out: out)
  }

  private struct Search {
    var best: ScenarioSource
    let path: String
    let wanted: String
    var operations: Int
  }

  private static func parse(_ text: String, file: String) throws(LabError) -> Scenario {
    do throws(ScenarioError) {
      return try ScenarioParser.parse(text, file: file)
    } catch {
      throw .usage("\(error)")
    }
  }

  // MARK: - Running

  /// Runs a scenario.
  /// - Returns: The wanted finding and the number of operations; nil without that finding.
  private func run(
    _ scenario: Scenario, wanted: String?
  ) throws(LabError) -> (finding: Finding, operations: Int)? {
    try Interruption.check()
    runCount += 1
    if let accidents {
      guard let (finding, count) = try runner.finding(of: accidents, in: scenario),
        wanted == nil || finding.classKey == wanted
      else { return nil }
      return (finding, count)
    }
    let item = try runner.run(scenario)
    if item.isInterrupted { throw .interrupted }
    let operations = item.explorations.map(\.operationCount).max() ?? 0
    let all = RootCause.separated(item.findings) + [runner.runFinding].compactMap { $0 }
    guard let finding = all.first(where: { wanted == nil || $0.classKey == wanted }) else {
      return nil
    }
    return (finding, operations)
  }

  /// Tries a smaller scenario, and keeps it if it gives the wanted finding.
  private func keep(_ candidate: ScenarioSource, _ search: inout Search) throws(LabError) -> Bool {
    guard runCount < runBudget else {
      isCutShort = true
      return false
    }
    console.progress("run \(runCount) of \(runBudget): \(search.best.stepCount) steps")
    let found: (finding: Finding, operations: Int)?
    do throws(LabError) {
      found = try run(
        try Self.parse(try candidate.text(), file: search.path), wanted: search.wanted)
    } catch {
      // For example, steps impossible without earlier ones, or a fault that no longer hits.
      guard error.code == .usage || error.code == .nondeterminism else { throw error }
      return false
    }
    guard let found else { return false }
    search.best = candidate
    search.operations = found.operations
    return true
  }

  // MARK: - Reducing

  private func reduce(_ search: inout Search) throws(LabError) {
    var isSmaller = true
    while isSmaller && !isCutShort {
      isSmaller = try removeSteps(&search)
      if try removeNodes(&search) { isSmaller = true }
      for step in (0..<search.best.stepCount).reversed() {
        if try removeStatements(ofStep: step, &search) { isSmaller = true }
      }
      for count in search.best.counts where try lower(count, &search) { isSmaller = true }
    }
  }

  private func removeSteps(_ search: inout Search) throws(LabError) -> Bool {
    let source = search.best
    return try remove(from: source.stepCount) { (kept) throws(LabError) in
      try keep(source.keeping(steps: kept), &search)
    }
  }

  /// Clients that no step names; the parser refuses what lacks any other node.
  private func removeNodes(_ search: inout Search) throws(LabError) -> Bool {
    let source = search.best
    return try remove(from: source.nodeCount) { (kept) throws(LabError) in
      try keep(source.keeping(nodes: kept), &search)
    }
  }

  private func removeStatements(
    ofStep step: Int, _ search: inout Search
  ) throws(LabError) -> Bool {
    let source = search.best
    return try remove(from: source.statementCount(ofStep: step)) { (kept) throws(LabError) in
      try keep(source.keeping(statements: kept, ofStep: step), &search)
    }
  }

  /// Removes ever smaller parts of `count` items, the last ones first, while `test` succeeds.
  /// - Returns: True when something was removed.
  private func remove(
    from count: Int, _ test: ([Int]) throws(LabError) -> Bool
  ) throws(LabError) -> Bool {
    var kept = Array(0..<count)
    var size = count / 2
    while size > 0 {
      var end = kept.count
      while end > 0 {
        let start = max(0, end - size)
        let rest = Array(kept[..<start] + kept[end...])
        if !rest.isEmpty, try test(rest) { kept = rest }
        end = start
      }
      size /= 2
    }
    return kept.count < count
  }

  /// Finds a smaller number: 1, or by halving.
  private func lower(
    _ count: ScenarioSource.Count, _ search: inout Search
  ) throws(LabError) -> Bool {
    let source = search.best
    func holds(_ value: Int) throws(LabError) -> Bool {
      try keep(source.setting(count, to: value), &search)
    }
    if try holds(1) { return true }
    var tooSmall = 1
    var enough = count.value
    while enough - tooSmall > 1 {
      let middle = (tooSmall + enough) / 2
      if try holds(middle) { enough = middle } else { tooSmall = middle }
    }
    return enough < count.value
  }

  // MARK: - The result

  private func result(
    _ search: Search, _ source: ScenarioSource, _ first: (finding: Finding, operations: Int),
    out: String?
  ) throws(LabError) -> ShrunkScenario {
    func size(_ source: ScenarioSource, _ operations: Int) -> ShrunkScenario.Size {
      ShrunkScenario.Size(
        steps: source.stepCount,
        statements: (0..<source.stepCount).reduce(0) { $0 + source.statementCount(ofStep: $1) },
        operations: operations)
    }
    let text = try search.best.text()
    var finding = first.finding
    // The token of the smaller scenario names its file.
    if !Interruption.isRequested,
      let last = try run(try Self.parse(text, file: out ?? search.path), wanted: search.wanted)
    {
      finding = last.finding
    }
    return ShrunkScenario(
      text: text, before: size(source, first.operations),
      after: size(search.best, search.operations), finding: finding, runCount: runCount,
      isCutShort: isCutShort)
  }
}
