// ScenarioList.swift: the scenarios of a run by name, for people and for programs; nothing is run.

import CrashStates
import LabCore
import Workload

/// A list of scenarios, as `faultline run --list` shows it.
public struct ScenarioList: JSONReport, Codable, Sendable, Hashable {
  /// One scenario.
  public struct Entry: Codable, Sendable, Hashable {
    /// Its file, as it was found.
    public var file: String
    /// The line of its title, from 1.
    public var line: Int?
    /// Its property in one sentence.
    public var title: String
    /// Its tags.
    public var tags: [String]
    /// Whether it plants a bug that must be found.
    public var isNegative: Bool
    /// What goes wrong in it: `crash`, `media`, `kill`, `sweep` and `faults`, those that it has.
    public var disturbances: [String]
    /// The persistence models that it names.
    public var models: [String]
    /// Most crash states of each model; nil without power cuts.
    public var budgetStates: Int?
    /// Why it cannot run in-process; nil when it can.
    public var needsMount: String?
  }

  /// Format of the JSON; rises when a field changes its meaning.
  public var formatVersion = 1
  /// The scenarios, in the order in which they run.
  public var scenarios: [Entry]

  /// Lists scenarios.
  public init(_ scenarios: [Scenario]) { self.scenarios = scenarios.map(Entry.init) }

  /// One line for each scenario: its file, its tags in brackets, its title.
  public var lines: [String] {
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
      scenario.kill.map { _ in "kill" }, scenario.sweep.map { _ in "sweep" },
      scenario.faults.isEmpty ? nil : "faults",
    ].compactMap { $0 }
    models = scenario.crash?.models.map { PersistenceModel.name(ofSpecification: $0) } ?? []
    budgetStates = scenario.crash.map { $0.budgetStates ?? ScenarioRunner.defaultBudget }
    needsMount =
      scenario.kill != nil || scenario.sweep != nil
      ? "kill and sweep need the FUSE door" : scenario.needsMount
  }
}
