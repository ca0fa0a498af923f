// ScenarioList.swift: lists the scenarios of a run, as text and as JSON; nothing is run.

import CrashStates
import LabCore
import Workload

/// A list of scenarios, as shown by `faultline run --list`.
package struct ScenarioList: JSONReport, Codable, Sendable, Hashable {
  /// One scenario.
  package struct Entry: Codable, Sendable, Hashable {
    /// Its file, as found.
    package var file: String
    /// The line of its title, from 1.
    package var line: Int?
    /// Its property in one sentence.
    package var title: String
    /// Its tags.
    package var tags: [String]
    /// Whether it plants a bug that must be found.
    package var isNegative: Bool
    /// Its disturbances: those of `crash`, `media`, `killSweep`, `sweep` and `faults` that it has.
    package var disturbances: [String]
    /// The persistence models that it names.
    package var models: [String]
    /// Most crash states of each model; nil without power cuts.
    package var budgetStates: Int?
    /// Why it cannot run in-process; nil if it can.
    package var needsMount: String?
  }

  /// Format of the JSON; increases when a field changes its meaning.
  package var formatVersion = 2
  /// The scenarios, in the order in which they run.
  package var scenarios: [Entry]

  /// Lists scenarios.
  package init(_ scenarios: [Scenario]) { self.scenarios = scenarios.map(Entry.init) }

  /// One line for each scenario: its file, its tags in brackets, its title.
  package var lines: [String] {
    scenarios.map { entry in
      let tags = entry.tags.isEmpty ? "" : "  [\(entry.tags.joined(separator: ", "))]"
      return "\(entry.file)\(tags)  \(entry.title)"
    }
  }
}

extension ScenarioList.Entry {
  fileprivate init(_ scenario: Scenario) {
    file = scenario.file
    line = scenario.lines.title
    title = scenario.title
    tags = scenario.tags
    isNegative = scenario.negative != nil
    disturbances = [
      scenario.crash.map { _ in "crash" }, scenario.media.map { _ in "media" },
      scenario.kill.map { _ in "killSweep" }, scenario.sweep.map { _ in "sweep" },
      scenario.faults.isEmpty ? nil : "faults",
    ].compactMap { $0 }
    models = scenario.crash?.models.map { PersistenceModel.name(ofSpecification: $0) } ?? []
    budgetStates = scenario.crash.map { $0.budgetStates ?? ScenarioRunner.defaultBudget }
    needsMount =
      scenario.kill != nil || scenario.sweep != nil && scenario.sync == nil
      ? "killSweep and sweep need a FUSE mount" : scenario.needsMount
  }
}
