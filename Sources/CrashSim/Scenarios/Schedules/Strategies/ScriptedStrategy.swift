// ScriptedStrategy.swift: one run that follows a script written by the user. A script is less
// specific than a schedule: after its last line, and where an actor waits, the running actor
// continues.
//   ui 3                              ui passes 3 points
//   background until publish version  background continues until it reaches that place
//   ui to end                         ui continues until it ends or waits

/// One line of a script.
enum ScriptLine: Sendable, Hashable, Codable {
  case count(actor: String, Int)
  case until(actor: String, place: String)
  case end(actor: String)

  /// Most points of one line.
  static let countMax = 1_000_000

  /// The actor that continues.
  var actor: String {
    switch self {
    case .count(let actor, _), .until(let actor, _), .end(let actor): actor
    }
  }

  /// The line as written.
  var text: String {
    switch self {
    case .count(let actor, let count): "\(actor) \(count)"
    case .until(let actor, let place): "\(actor) until \(place)"
    case .end(let actor): "\(actor) to end"
    }
  }

  /// Parses a line; nil when it has none of the three forms.
  init?(_ text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard words.count >= 2, !words[0].isEmpty else { return nil }
    if words.count == 2, let count = Int(words[1]), (1...Self.countMax).contains(count) {
      self = .count(actor: words[0], count)
    } else if words[1...] == ["to", "end"] {
      self = .end(actor: words[0])
    } else if words[1] == "until", words.count > 2 {
      self = .until(actor: words[0], place: words[2...].joined(separator: " "))
    } else {
      return nil
    }
  }
}

/// Follows a script once.
struct ScriptedStrategy: ScheduleStrategy {
  private let lines: [ScriptLine]
  private let actors: [String]
  private var isDone = false

  init(_ lines: [ScriptLine], actors: [String]) {
    self.lines = lines
    self.actors = actors
  }

  var isComplete: Bool { isDone }

  mutating func nextRun() -> (any ScheduleChooser)? {
    guard !isDone else { return nil }
    isDone = true
    return Chooser(lines: lines, actors: actors)
  }

  private struct Chooser: ScheduleChooser {
    let lines: [ScriptLine]
    let actors: [String]
    var line = 0
    var taken = 0

    mutating func choose(_ decision: ScheduleDecision) -> ScheduleChoice {
      while line < lines.count {
        guard let actor = actors.firstIndex(of: lines[line].actor) else {
          return .refuse("'\(lines[line].text)' names no actor of this run")
        }
        if isOver(decision, actor) {
          line += 1
          taken = 0
          continue
        }
        guard decision.enabled.contains(actor) else {
          if case .until = lines[line] {
            return .refuse(
              "'\(lines[line].text)': it waits or ends before it comes there; the places that a "
                + "script can name are in docs/reference/schedules.md")
          }
          line += 1
          taken = 0
          continue
        }
        taken += 1
        return .actor(actor)
      }
      return .actor(decision.usual)
    }

    /// Whether the line is complete at this decision.
    private func isOver(_ decision: ScheduleDecision, _ actor: Int) -> Bool {
      switch lines[line] {
      case .count(_, let count): taken == count
      case .until(_, let place):
        taken > 0 && decision.current == actor && decision.place.description == place
      case .end: false
      }
    }
  }
}
