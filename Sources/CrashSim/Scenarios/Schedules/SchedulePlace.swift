// SchedulePlace.swift: the place of an actor when the scheduler must choose the next one.

import DocumentLab
import Engine

/// An actor's next operation on the file.
enum FileCall: String, Sendable, Hashable, CaseIterable {
  case write
  case allocate
  case truncate
  case sync
}

/// A point in an actor's execution.
enum SchedulePlace: Sendable, Hashable, CustomStringConvertible {
  /// Before its first step.
  case start
  /// Where it waits or has ended.
  case pause
  /// Before one of its commands, counted from 1.
  case command(Int)
  case engine(SchedulePoint)
  case file(FileCall)
  /// A place of a program that is not a database, or a call of SQLite.
  case named(String)

  /// The name in scripts, for example `publish version` or `file sync`.
  var description: String {
    switch self {
    case .start: "start"
    case .pause: "pause"
    case .command(let number): "command \(number)"
    case .engine(let point): point.description
    case .file(let call): "file \(call.rawValue)"
    case .named(let name): name
    }
  }

  /// The names of all places of a database, for messages.
  static let names: [String] =
    ["start"] + (SchedulePoint.all + SchedulePoint.allShared).map(\.description)
    + FileCall.allCases.map { "file \($0.rawValue)" } + SQLiteCall.allCases.map(\.name)

  /// Whether a script may use the name.
  static func isName(_ text: String) -> Bool {
    if names.contains(text) { return true }
    let words = text.split(separator: " ")
    return words.count == 2 && words[0] == "command" && Int(words[1]).map { $0 > 0 } ?? false
  }
}
