// ScenarioParser+Schedule.swift: parses the schedules that a scenario requests.

import LabCore
import Workload

extension ScenarioParser {
  func readSchedule(_ node: ScenarioNode) -> ScheduleDeclaration? {
    guard let fields = reader.fields(node, .schedule, required: ["strategy"]) else { return nil }
    var schedule = ScheduleDeclaration()
    let words = DeclaredStrategy.allCases.map(\.rawValue)
    guard let node = fields["strategy"],
      let strategy = reader.word(node, "strategy", of: words).flatMap({
        DeclaredStrategy(rawValue: $0)
      })
    else { return nil }
    schedule.strategy = strategy
    for (key, owners) in Self.scheduleKeyOwners where !owners.contains(strategy) {
      guard let position = fields.keyPosition(key) else { continue }
      reader.report(
        position, "'\(key)' does not go with the strategy \(strategy.rawValue)",
        "remove it, or use \(owners.map(\.rawValue).joined(separator: " or "))")
    }
    func number(_ key: String, _ what: String, most: Int) -> Int? {
      fields[key].flatMap { reader.integer($0, what, in: 0...Int64(most)) }.map { Int($0) }
    }
    schedule.depth =
      max(number("depth", "a depth", most: ScheduleDeclaration.depthMax) ?? schedule.depth, 1)
    schedule.preemptions =
      number("preemptions", "a number of preemptions", most: ScheduleDeclaration.preemptionsMax)
      ?? schedule.preemptions
    schedule.runs =
      max(number("runs", "a number of runs", most: ScheduleDeclaration.runsMax) ?? schedule.runs, 1)
    if let node = fields["points"],
      let word = reader.word(node, "points", of: DeclaredPoints.allCases.map(\.rawValue))
    {
      schedule.points = DeclaredPoints(rawValue: word) ?? .steps
    }
    if let node = fields["script"] {
      schedule.script = readScript(node)
    } else if strategy == .scripted {
      reader.report(
        fields.position, "the strategy scripted lacks the key 'script'",
        "add 'script:' with a line for each turn, as in '- \(actors.first ?? "ui") until publish "
          + "version'")
    }
    return schedule
  }

  private static let scheduleKeyOwners: [(String, [DeclaredStrategy])] = [
    ("depth", [.pct]), ("preemptions", [.exhaustive]), ("runs", [.random, .pct, .exhaustive]),
    ("script", [.scripted]),
  ]

  private func readScript(_ node: ScenarioNode) -> [String] {
    let items = reader.list(node, of: "turns")
    guard items.count <= ScheduleDeclaration.scriptLinesMax else {
      reader.report(
        node.position,
        "\(items.count) turns are more than \(ScheduleDeclaration.scriptLinesMax)",
        "write fewer turns")
      return []
    }
    return items.compactMap { item in
      guard let text = reader.text(item, "a turn") else { return nil }
      guard let line = ScriptLine(text) else {
        reader.report(
          item.position, "'\(text.prefix(60))' is not a turn of a script",
          "write 'ACTOR 3', 'ACTOR until PLACE' or 'ACTOR to end'")
        return nil
      }
      guard actors.contains(line.actor) else {
        reader.report(
          item.position, "no actor '\(line.actor.prefix(60))'",
          nearest: nearestWord(to: line.actor, among: actors),
          "write one of: \(actors.joined(separator: ", "))")
        return nil
      }
      if case .until(_, let place) = line, !SchedulePlace.isName(place) {
        reader.report(
          item.position, "'\(place.prefix(60))' is not a place of a schedule",
          nearest: nearestWord(to: place, among: SchedulePlace.names),
          "write one of: \(SchedulePlace.names.joined(separator: ", ")), command 2")
      }
      return text
    }
  }
}
