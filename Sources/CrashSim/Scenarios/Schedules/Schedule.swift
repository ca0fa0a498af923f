// Schedule.swift: the actor chosen at each decision of a run, as versioned text that replays it.
//   faultline schedule 1
//   actors ui background
//   ui 12                 the next 12 decisions are for ui
//   background 3
// Invariant: `parse` accepts exactly what `text` wrote, and anything else is an error that names
// the line; time and memory for a file of arbitrary bytes are proportional to its length.

import LabCore

/// A whole schedule.
struct Schedule: Sendable, Hashable {
  /// Names of the actors, in the order of their numbers.
  let actors: [String]
  let turns: [ScheduleTurn]

  static let header = "faultline schedule 1"
  private static let textBytesMax = 16 << 20
  private static let countMax = 1_000_000_000

  /// Number of decisions in the schedule.
  var decisionCount: Int { turns.reduce(0) { $0 + $1.count } }

  /// The schedule of these choices, one after the other.
  init(actors: [String], choices: some Sequence<Int>) {
    var turns: [ScheduleTurn] = []
    for actor in choices {
      if turns.last?.actor == actor {
        turns[turns.count - 1].count += 1
      } else {
        turns.append(ScheduleTurn(actor: actor, count: 1))
      }
    }
    self.init(actors: actors, turns: turns)
  }

  /// A schedule of these turns.
  init(actors: [String], turns: [ScheduleTurn]) {
    self.actors = actors
    self.turns = turns
  }

  /// The schedule as text, a line for each turn.
  var text: String {
    var lines = [Self.header, "actors " + actors.joined(separator: " ")]
    lines += turns.map { "\(actors[$0.actor]) \($0.count)" }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Each turn in words, without the places, which only the run has.
  var turnsInWords: [String] {
    turns.map { "'\(actors[$0.actor])' passes \(Formatting.counted($0.count, "point"))" }
  }

  /// Parses a schedule.
  /// - Throws: `LabError` with code `.usage`, the line and what to write there.
  static func parse(_ text: String) throws(LabError) -> Schedule {
    guard text.utf8.count <= textBytesMax else {
      throw .usage("a schedule of \(text.utf8.count) bytes; at most \(textBytesMax) are taken")
    }
    // By bytes: the last character of a name could form one grapheme with the line feed.
    let lines = parts(text.utf8[...], UInt8(ascii: "\n"))
    guard lines.first.map(String.init) == header else {
      throw .usage(
        "schedule:1: '\(lines.first?.prefix(40) ?? "")' begins no schedule; write '\(header)'")
    }
    let actors = try parseActors(lines.count > 1 ? lines[1] : "")
    var numbers: [Substring: Int] = [:]
    for (number, name) in actors.enumerated() { numbers[Substring(name)] = number }
    guard numbers.count == actors.count else {
      throw .usage("schedule:2: an actor occurs twice; name each one once")
    }
    var turns: [ScheduleTurn] = []
    for (index, line) in lines.enumerated().dropFirst(2) where !line.isEmpty {
      let words = parts(line.utf8, UInt8(ascii: " "))
      guard words.count == 2, let actor = numbers[words[0]] else {
        throw .usage(
          "schedule:\(index + 1): '\(line.prefix(60))' is not a turn; write an actor "
            + "(\(actors.joined(separator: ", "))) and a number of decisions")
      }
      guard let count = count(words[1]) else {
        throw .usage(
          "schedule:\(index + 1): '\(words[1].prefix(30))' is not a number of decisions; write one "
            + "in 1..\(countMax)")
      }
      turns.append(ScheduleTurn(actor: actor, count: count))
    }
    return Schedule(actors: actors, turns: turns)
  }

  private static func parts(_ text: Substring.UTF8View, _ separator: UInt8) -> [Substring] {
    text.split(separator: separator, omittingEmptySubsequences: false).map(Substring.init)
  }

  private static func parseActors(_ line: Substring) throws(LabError) -> [String] {
    let words = parts(line.utf8, UInt8(ascii: " "))
    guard words.first == "actors", (2...ActorSet.countMax + 1).contains(words.count),
      words.allSatisfy({ !$0.isEmpty })
    else {
      throw .usage(
        "schedule:2: '\(line.prefix(60))' names no actors; write 'actors' and 1 to "
          + "\(ActorSet.countMax) names")
    }
    return words.dropFirst().map(String.init)
  }

  /// A number without sign, leading zeros or anything else that `text` never writes.
  private static func count(_ word: Substring) -> Int? {
    guard let count = Int(word), (1...countMax).contains(count), String(count) == word else {
      return nil
    }
    return count
  }
}
