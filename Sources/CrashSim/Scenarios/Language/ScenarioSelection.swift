// ScenarioSelection.swift: selects the scenarios of a run among the loaded ones.
// Invariant: a selection that no scenario fits is an error, never an empty run that holds.

import LabCore
import Workload

/// A selection of scenarios by their files, titles and tags.
package struct ScenarioSelection: Sendable, Hashable {
  /// Globs over paths, or parts of a path or a title.
  ///
  /// At least one must fit; without filters, all scenarios fit.
  package var filters: [String]
  /// Tags of which a scenario must have at least one, if there are any.
  package var tags: [String]
  /// Tags of which a scenario must have none.
  package var excludedTags: [String]

  /// Makes a selection; without arguments it selects everything.
  package init(filters: [String] = [], tags: [String] = [], excludedTags: [String] = []) {
    self.filters = filters
    self.tags = tags
    self.excludedTags = excludedTags
  }

  /// The selection in one line, the same for equal selections, for `ProgressJournal`.
  package var identity: String {
    "filter=\(filters) tag=\(tags) without-tag=\(excludedTags)"
  }

  /// The selected scenarios, in their order.
  /// - Throws: `LabError` with code `.usage` when a filter or a tag fits no scenario, or none is
  ///   left.
  package func chosen(from scenarios: [Scenario]) throws(LabError) -> [Scenario] {
    for filter in filters where !scenarios.contains(where: { Self.fits(filter, $0) }) {
      throw .usage(
        "--filter '\(filter.prefix(100))' fits none of \(scenarios.count) scenarios; give a part "
          + "of a path or title, or a glob ('faultline run --list' names them)")
    }
    let present = Self.tags(of: scenarios)
    for tag in tags where !present.contains(tag) {
      let known =
        present.isEmpty ? "they have no tags" : "they have: \(present.joined(separator: ", "))"
      let nearest = nearestWord(to: tag, among: present).map { "; nearest is '\($0)'" } ?? ""
      throw .usage(
        "--tag '\(tag.prefix(100))': none of \(scenarios.count) scenarios has it\(nearest); "
          + known)
    }
    let chosen = scenarios.filter(fits)
    guard !chosen.isEmpty else {
      throw .usage(
        "none of \(scenarios.count) scenarios is left by --filter, --tag and --without-tag "
          + "together; leave one of them out")
    }
    return chosen
  }

  private func fits(_ scenario: Scenario) -> Bool {
    (filters.isEmpty || filters.contains { Self.fits($0, scenario) })
      && (tags.isEmpty || tags.contains { scenario.tags.contains($0) })
      && !excludedTags.contains { scenario.tags.contains($0) }
  }

  private static func fits(_ filter: String, _ scenario: Scenario) -> Bool {
    if filter.contains("*") || filter.contains("?") {
      let path = Array(scenario.file.utf8)
      return Glob(filter).matches(path) || Glob("**/" + filter).matches(path)
    }
    let wanted = filter.lowercased()
    return scenario.file.lowercased().contains(wanted)
      || scenario.title.lowercased().contains(wanted)
  }

  /// All tags of some scenarios, each once, in alphabetical order.
  static func tags(of scenarios: [Scenario]) -> [String] {
    Set(scenarios.flatMap(\.tags)).sorted()
  }
}
