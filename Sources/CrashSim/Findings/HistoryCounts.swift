// HistoryCounts.swift: what the histories drawn for a scenario came to: how often each feature was
// on, how often each thing was done, and which steps of commits the engine went through, those
// included that never came up.

import LabCore

/// How often something came up.
public struct Tally: Codable, Sendable, Hashable {
  /// What.
  public var name: String
  /// How often; 0 when never.
  public var count: Int

  /// Counts something.
  public init(name: String, count: Int = 0) {
    self.name = name
    self.count = count
  }
}

/// What drawn histories came to.
public struct HistoryCounts: Codable, Sendable, Hashable {
  /// Histories that were run.
  public var histories = 0
  /// Histories that the scenario asks for.
  public var declared: Int
  /// Steps of all of them, as somebody would have written them.
  public var steps = 0
  /// Commands that workers were told.
  public var commands = 0
  /// Rows that were written or deleted, rolled-back ones included.
  public var rows = 0
  /// Operations of the file system that were recorded.
  public var operations = 0
  /// Histories in which each feature was on.
  public var features: [Tally]
  /// Commands by what they do.
  public var actions: [Tally]
  /// Steps of the engine's commits that began, and what it did to its files.
  public var engine: [Tally]
  /// Wall time of planning and running them, without crash states; no decision may use it.
  public var seconds = 0.0

  /// Counts from nothing.
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
  /// Counts something that the engine did.
  package mutating func add(engine: String) { Self.add(engine, to: &self.engine) }

  private static func add(_ name: String, to tallies: inout [Tally]) {
    guard let place = tallies.firstIndex(where: { $0.name == name }) else { return }
    tallies[place].count += 1
  }

  /// The counts for people.
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
