// HistoryDeclaration.swift: what a scenario says of the histories that are drawn for it, and what a
// history is drawn under. Invariant: a history depends on the declaration, the seed and its number,
// and on nothing else.

import LabCore

/// What a history writes.
package enum HistoryContent: String, Codable, Sendable, Hashable, CaseIterable {
  /// Rows of drawn tables.
  case tables
  /// Objects of the lab's classes.
  case objects
}

/// What a scenario says of drawn histories.
package struct HistoryDeclaration: Sendable, Hashable {
  /// Number of histories.
  package var histories = 10
  /// Steps of each, about.
  package var steps = 60
  /// Keys among which rows come and go, at most.
  package var rows = 400
  /// Most processes.
  package var processes = 3
  package var content = HistoryContent.tables
  /// Whether each has a block of steps side by side, for the scenario's `schedule`.
  package var isScheduled = false
  /// Features that are on in each history, unless they exclude each other.
  package var always: Set<HistoryFeature> = []
  /// Features that are on in none.
  package var never: Set<HistoryFeature> = []
  /// The scenario's text: what a history is put into.
  package var source = ""

  package init() {}

  /// Bounds of the number of histories.
  package static let historyCounts: ClosedRange<Int64> = 1...100_000
  /// Bounds of the number of steps; more could come to a text that is too long for a scenario.
  package static let stepCounts: ClosedRange<Int64> = 1...1_000
  /// Bounds of the number of keys.
  package static let rowCounts: ClosedRange<Int64> = 1...5_000
  /// Bounds of the number of processes.
  package static let processCounts: ClosedRange<Int64> = 1...8
  /// Most actors of a process.
  static let actorsMax = 3

  /// Features that its histories may have at all.
  package var features: [HistoryFeature] {
    let others = content == .objects ? HistoryFeature.ofTables : HistoryFeature.ofObjects
    return HistoryFeature.allCases.filter {
      !others.contains($0) && !(isScheduled && HistoryFeature.notOfSchedules.contains($0))
    }
  }

  /// Processes that a history may have, with all the actors that they may have.
  package var declaredProcesses: [ProcessDeclaration] {
    (1...processes).map { number in
      ProcessDeclaration(
        name: "p\(number)",
        actors: ["a", "b", "c"].prefix(Self.actorsMax).map { "p\(number)\($0)" })
    }
  }

  /// Whether a history may do what only a mount can.
  package var needsMount: Bool {
    features.contains { feature in
      HistoryFeature.ofMounts.contains(feature)
        && !never.contains(feature) && (feature != .processes || processes > 1)
        && (feature != .stops || processes > 1)
    }
  }
}

/// What was drawn for one history before its first step.
package struct HistoryParameters: Sendable, Hashable {
  /// Which of the scenario's histories it is, from 0.
  package var number: Int
  /// Features that are on.
  package var features: Set<HistoryFeature>
  var content = HistoryContent.tables
  /// Whether it has a block of steps side by side.
  var isScheduled = false
  /// Tables; none for objects.
  var tables: [TableDeclaration] = []
  /// Processes with their actors.
  var processes: [ProcessDeclaration] = []
  /// Keys among which rows come and go.
  var rows = 1
  /// Most rows of a statement.
  var statementRows = 1
  /// Most transactions of one step.
  var runLength = 1
  /// One step of so many is followed by a look at the content.
  var checkEvery = 1
  /// Most pins at a time.
  var pinsMax = 0
  /// Actors of the process that is to be killed, who come first and write most.
  var doomed: [String] = []
  /// Whether only upserts are written, because nobody knows which rows are there.
  var writesUpserts = false

  /// What was drawn, for people.
  package var description: String {
    let on = HistoryFeature.allCases.filter { features.contains($0) }
    let actors = processes.map { "\($0.name) (\($0.actors.count))" }.joined(separator: " ")
    let columns = tables.map { "\($0.columns.count)" }.joined(separator: "+")
    let written = content == .objects ? "objects" : "columns=\(columns)"
    return "processes=\(actors) \(written) rows=\(rows) statement=\(statementRows) "
      + "run=\(runLength) check=1/\(checkEvery) pins=\(pinsMax); "
      + on.map(\.rawValue).joined(separator: " ")
  }
}

/// A history as the sections of a scenario.
package struct DrawnHistory: Sendable, Hashable {
  /// What was drawn first.
  package var parameters: HistoryParameters
  /// `schema`, `processes`, `database` and `steps` in YAML.
  package var text: String
}
