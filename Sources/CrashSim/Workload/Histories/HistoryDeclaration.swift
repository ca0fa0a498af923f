// HistoryDeclaration.swift: a scenario's declaration of drawn histories, and the parameters drawn
// for one history. Invariant: a history depends only on the declaration, the seed and its number.

import LabCore

/// The content of a history.
package enum HistoryContent: String, Codable, Sendable, Hashable, CaseIterable {
  /// Rows of drawn tables.
  case tables
  /// Objects of Faultline's classes.
  case objects
  /// Clients and a server that synchronize such objects.
  case sync
}

/// A scenario's declaration of drawn histories.
package struct HistoryDeclaration: Sendable, Hashable {
  /// Number of histories.
  package var histories = 10
  /// Approximate number of steps of each.
  package var steps = 60
  /// Most keys of rows that are added and deleted.
  package var rows = 400
  /// Most processes; of synchronization most clients.
  package var processes = 3
  package var content = HistoryContent.tables
  /// Whether each has a block of concurrent steps, for the scenario's `schedule`.
  package var isScheduled = false
  /// Features that each history has, unless they exclude each other.
  package var always: Set<HistoryFeature> = []
  /// Features that no history has.
  package var never: Set<HistoryFeature> = []
  /// A bug planted in histories of synchronization.
  package var plant: SyncPlant?
  /// The invariant of synchronization that the planted bug breaks.
  package var breaks: SyncPromise?
  /// The scenario's text, into which a history is inserted.
  package var source = ""

  package init() {}

  /// Bounds of the number of histories.
  package static let historyCounts: ClosedRange<Int64> = 1...100_000
  /// Bounds of the number of steps; more could exceed the length limit of a scenario.
  package static let stepCounts: ClosedRange<Int64> = 1...1_000
  /// Bounds of the number of keys.
  package static let rowCounts: ClosedRange<Int64> = 1...5_000
  /// Bounds of the number of processes.
  package static let processCounts: ClosedRange<Int64> = 1...8
  /// Most actors of a process.
  static let actorsMax = 3

  /// Features that its histories may have.
  package var features: [HistoryFeature] {
    let others =
      content == .objects ? HistoryFeature.ofTables : HistoryFeature.ofObjects
    return HistoryFeature.allCases.filter { feature in
      guard content != .sync else { return HistoryFeature.ofSync.contains(feature) }
      return !others.contains(feature) && !HistoryFeature.ofNodes.contains(feature)
        && !(isScheduled && HistoryFeature.notOfSchedules.contains(feature))
    }
  }

  /// Processes that a history may have, with all their possible actors.
  package var declaredProcesses: [ProcessDeclaration] {
    guard content != .sync else {
      let nodes = ["server"] + (1...processes).map { "c\($0)" }
      return nodes.map { ProcessDeclaration(name: $0, actors: [$0]) }
    }
    return (1...processes).map { number in
      ProcessDeclaration(
        name: "p\(number)",
        actors: ["a", "b", "c"].prefix(Self.actorsMax).map { "p\(number)\($0)" })
    }
  }

  /// Whether a history may need a mount.
  package var needsMount: Bool {
    guard content != .sync else { return false }
    return features.contains { feature in
      HistoryFeature.ofMounts.contains(feature)
        && !never.contains(feature) && (feature != .processes || processes > 1)
        && (feature != .stops || processes > 1)
    }
  }
}

/// The values drawn for one history before its first step.
package struct HistoryParameters: Sendable, Hashable {
  /// Number of the history among the scenario's, from 0.
  package var number: Int
  /// Its features.
  package var features: Set<HistoryFeature>
  var content = HistoryContent.tables
  /// Whether it has a block of concurrent steps.
  var isScheduled = false
  /// Tables; empty for objects.
  var tables: [TableDeclaration] = []
  /// Processes with their actors; of synchronization the nodes, the server first.
  var processes: [ProcessDeclaration] = []
  /// Number of keys of rows that are added and deleted.
  var rows = 1
  /// A planted bug, and what it breaks.
  var plant: SyncPlant?
  var breaks: SyncPromise?
  /// Most rows of a statement.
  var statementRows = 1
  /// Most transactions of one step.
  var runLength = 1
  /// One step in this many is followed by a check of the content.
  var checkEvery = 1
  /// Most pins at a time.
  var pinsMax = 0
  /// Actors of the process that will be killed, which start first and write most.
  var doomed: [String] = []
  /// Whether only upserts are written, because the existing rows are unknown.
  var writesUpserts = false

  /// The drawn values, for display.
  package var description: String {
    let on = HistoryFeature.allCases.filter { features.contains($0) }
    if content == .sync {
      return "clients=\(processes.count - 1) dogs=\(rows); "
        + on.map(\.rawValue).joined(separator: " ")
    }
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
  /// The values drawn first.
  package var parameters: HistoryParameters
  /// `schema`, `processes`, `database` and `steps` in YAML, or `sync`.
  package var text: String
}
