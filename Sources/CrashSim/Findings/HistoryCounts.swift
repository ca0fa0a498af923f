// HistoryCounts.swift: statistics of the histories drawn for a scenario: how often each feature was
// on, how often each action was performed, and which steps of commits the engine executed,
// including those that never occurred.

import LabCore

/// The number of occurrences of something.
public struct Tally: Codable, Sendable, Hashable {
  /// Its name.
  public var name: String
  /// The number; 0 for never.
  public var count: Int

  /// Makes a count.
  public init(name: String, count: Int = 0) {
    self.name = name
    self.count = count
  }
}

/// Statistics of drawn histories.
public struct HistoryCounts: Codable, Sendable, Hashable {
  /// Histories that were run.
  public var histories = 0
  /// Number of histories that the scenario requests.
  public var declared: Int
  /// Number of their steps, as written in a scenario.
  public var steps = 0
  /// Number of commands sent to workers.
  public var commands = 0
  /// Number of rows written or deleted, including those rolled back.
  public var rows = 0
  /// Number of recorded file system operations.
  public var operations = 0
  /// Histories in which each feature was on.
  public var features: [Tally]
  /// Commands by action.
  public var actions: [Tally]
  /// Steps of the engine's commits that began, and its operations on its files.
  public var engine: [Tally]
  /// Wall time of planning and running them, without crash states; no decision may use it.
  public var seconds = 0.0

  /// Starts with zero counts.
  public init(declared: Int, features: [String], actions: [String], engine: [String]) {
    self.declared = declared
    self.features = features.map { Tally(name: $0) }
    self.actions = actions.map { Tally(name: $0) }
    self.engine = engine.map { Tally(name: $0) }
  }

  /// Counts a feature that was on.
  package mutating func add(feature: String) { Self.add(feature, to: &features) }
  /// Counts a command.
  package mutating func add(action: String) { Self.add(action, to: &actions) }
  /// Counts an operation of the engine.
  package mutating func add(engine: String) { Self.add(engine, to: &self.engine) }

  private static func add(_ name: String, to tallies: inout [Tally]) {
    guard let place = tallies.firstIndex(where: { $0.name == name }) else { return }
    tallies[place].count += 1
  }

  /// The counts for display.
  package var lines: [String] {
    let minutes = seconds / 60
    let perMinute = minutes > 0 ? Double(histories) / minutes : 0
    let perSecond = seconds > 0 ? Double(commands) / seconds : 0
    let first =
      "\(Formatting.grouped(histories)) of \(Formatting.grouped(declared)) histories, "
      + "\(Formatting.counted(steps, "step")), \(Formatting.counted(commands, "command")), "
      + "\(Formatting.counted(rows, "row")) written, "
      + "\(Formatting.counted(operations, "file operation")) in \(Formatting.fixed(seconds, 1)) s: "
      + "\(Formatting.rate(perMinute)) histories/min, \(Formatting.rate(perSecond)) commands/s"
    return [first] + Self.lines("drawn", features) + Self.lines("done", actions)
      + Self.lines("engine", engine)
  }

  private static func lines(_ label: String, _ tallies: [Tally]) -> [String] {
    let seen = tallies.filter { $0.count > 0 }.map { "\($0.name) \(Formatting.grouped($0.count))" }
    let unseen = tallies.filter { $0.count == 0 }.map(\.name)
    return (seen.isEmpty ? [] : ["\(label): \(seen.joined(separator: ", "))"])
      + (unseen.isEmpty ? [] : ["never \(label): \(unseen.joined(separator: ", "))"])
  }
}
