// TraceStepper.swift: the words by which a person goes through a recording, from a terminal or from
// a pipe.

/// Obeys a person who goes through a recording.
public struct TraceStepper {
  private enum Command {
    case next(Int)
    case goOn
    case to(Int)
    case files
    case help
    case quit
  }

  static let help = [
    "next [N] (n, or an empty line)  the next event, or the N-th from here",
    "continue (c)                    to the failure, or else to the end",
    "to N (t N)                      to where N events are done, back too",
    "print (p)                       every file: as the program sees it, and what is pending",
    "quit (q)                        leave; so does the end of the input",
  ]

  private let walk: TraceWalk
  private let console: Console
  private var input: StandardInput

  /// Goes through a recording.
  public init(_ walk: TraceWalk, console: Console, input: StandardInput) {
    self.walk = walk
    self.console = console
    self.input = input
  }

  /// Obeys until the input ends or says so.
  /// - Throws: `LabError` of the recording or the input.
  public mutating func run() throws(LabError) {
    for line in walk.introduction { console.say(line) }
    if input.isTerminal { console.say("type help for the commands") }
    for line in try walk.lines() { console.say(line) }
    while true {
      if input.isTerminal { console.prompt("(step) ") }
      guard let line = try input.next() else { return }
      guard let command = Self.command(line) else {
        console.say("'\(line.prefix(60))' is no command; one of:")
        for line in Self.help { console.say("  \(line)") }
        continue
      }
      guard try obey(command) else { return }
    }
  }

  /// Does one command.
  /// - Returns: False at the end.
  private func obey(_ command: Command) throws(LabError) -> Bool {
    switch command {
    case .quit: return false
    case .help: for line in Self.help { console.say("  \(line)") }
    case .files: for line in try walk.files() { console.say("  \(line)") }
    case .next(let count): try move(to: walk.position + min(count, walk.count))
    case .to(let target): try move(to: target)
    case .goOn:
      try move(to: walk.position < walk.failurePosition ? walk.failurePosition : walk.count)
    }
    return true
  }

  private func move(to target: Int) throws(LabError) {
    if target > walk.count || (target == walk.position && target == walk.count) {
      console.say("the recording ends after \(Formatting.counted(walk.count, "event"))")
    }
    if target == walk.position || (target > walk.count && walk.position == walk.count) { return }
    try walk.go(to: target)
    for line in try walk.lines() { console.say(line) }
  }

  private static func command(_ line: String) -> Command? {
    let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
    let number = words.count == 2 ? Int(words[1]) : nil
    switch (words.first, words.count) {
    case (nil, _), ("next", 1), ("n", 1): return .next(1)
    case ("next", 2), ("n", 2): return number.flatMap { $0 > 0 ? .next($0) : nil }
    case ("to", 2), ("t", 2): return number.flatMap { $0 >= 0 ? .to($0) : nil }
    case ("continue", 1), ("c", 1): return .goOn
    case ("print", 1), ("p", 1): return .files
    case ("help", 1), ("h", 1): return .help
    case ("quit", 1), ("q", 1): return .quit
    default: return nil
    }
  }
}
