// TraceStepper.swift: the commands for stepping through the recordings of a failure, from a
// terminal or a pipe.

import Findings
import LabCore

/// Executes the user's commands for stepping through the recordings of a failure.
package struct TraceStepper {
  private enum Command {
    case next(Int)
    case goOn
    case to(EventPlace)
    case files
    case help
    case quit
  }

  static let help = [
    "next [N] (n, or an empty line)  the next event, or the N-th from here",
    "continue (c)                    to the failure, or else to the end; through each recovery",
    "to N (t N)                      to where N events are done, back too; R:N in recovery R",
    "print (p)                       every file: as the program sees it, and what is pending",
    "quit (q)                        leave; so does the end of the input",
  ]

  private let walk: FailureWalk
  private let console: Console
  private var input: StandardInput

  /// Steps through the recordings of a failure.
  package init(_ walk: FailureWalk, console: Console, input: StandardInput) {
    self.walk = walk
    self.console = console
    self.input = input
  }

  /// Executes commands until the input ends or quits.
  /// - Throws: `LabError` of a recording or the input.
  package mutating func run() throws(LabError) {
    for line in walk.heading { console.say(line) }
    if input.isTerminal { console.say("type help for the commands") }
    for line in try walk.recording.lines() { console.say(line) }
    while true {
      if input.isTerminal { console.prompt("(step) ") }
      guard let line = try input.next() else { return }
      guard let command = Self.command(line) else {
        console.say("'\(line.prefix(60))' is not a command; use one of:")
        for line in Self.help { console.say("  \(line)") }
        continue
      }
      guard try obey(command) else { return }
    }
  }

  /// Executes one command.
  /// - Returns: False at the end.
  private func obey(_ command: Command) throws(LabError) -> Bool {
    switch command {
    case .quit: return false
    case .help: for line in Self.help { console.say("  \(line)") }
    case .files: for line in try walk.recording.files() { console.say("  \(line)") }
    case .next(let count):
      try move { () throws(LabError) in
        for _ in 0..<count { guard try walk.advance() else { return false } }
        return true
      }
    case .to(let place):
      guard place.recovery <= walk.recoveryCount else {
        console.say("no recovery \(place.recovery) was recorded")
        return true
      }
      try move { () throws(LabError) in
        try walk.go(to: place)
        return place.number <= walk.recording.count
      }
    case .goOn: try move { () throws(LabError) in try walk.goOn() }
    }
    return true
  }

  /// Moves, and prints the new position.
  /// - Parameter body: The move; false if a recording ends before the target.
  /// - Throws: `LabError` of a recording.
  private func move(_ body: () throws(LabError) -> Bool) throws(LabError) {
    let before = walk.place
    if try !body() { console.say(walk.end) }
    guard walk.place != before else { return }
    if walk.place.recovery != before.recovery { for line in walk.heading { console.say(line) } }
    for line in try walk.recording.lines() { console.say(line) }
  }

  private static func command(_ line: String) -> Command? {
    let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
    let number = words.count == 2 ? Int(words[1]) : nil
    let place = words.count == 2 ? EventPlace(parsing: words[1]) : nil
    switch (words.first, words.count) {
    case (nil, _), ("next", 1), ("n", 1): return .next(1)
    case ("next", 2), ("n", 2): return number.flatMap { $0 > 0 ? .next($0) : nil }
    case ("to", 2), ("t", 2): return place.map { .to($0) }
    case ("continue", 1), ("c", 1): return .goOn
    case ("print", 1), ("p", 1): return .files
    case ("help", 1), ("h", 1): return .help
    case ("quit", 1), ("q", 1): return .quit
    default: return nil
    }
  }
}
