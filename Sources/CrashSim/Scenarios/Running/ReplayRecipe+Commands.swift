// ReplayRecipe+Commands.swift: what the replay of a token runs, for a person to read before.

import Findings

extension ReplayRecipe {
  /// The shell commands that the token brings with it, each with what it is for.
  ///
  /// A scenario's token has none: it names a file, and scenarios run no shell.
  package var commands: [(purpose: String, text: String)] {
    let all: [(String, String?)] =
      switch self {
      case .explore(let recipe):
        [
          ("setup", recipe.setup), ("workload", recipe.workload), ("recover", recipe.recover),
          ("check", recipe.check),
        ]
      case .stress(let recipe):
        [
          ("setup", recipe.program.setup), ("workload", recipe.program.workload),
          ("recover", recipe.program.recover), ("check", recipe.program.check),
        ]
      case .scenario: []
      }
    return all.compactMap { purpose, text in text.map { (purpose, $0) } }
  }

  /// The same as lines; each line of a command is a line, in which nothing is obeyed or hidden.
  package var commandLines: [String] {
    if case .scenario(let recipe) = self {
      return ["the token is of the scenario \(recipe.path)".visibleLine]
    }
    let width = 10
    return ["the token runs these commands:"]
      + commands.flatMap { purpose, text in
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
          .enumerated().map { index, line in
            let label = index == 0 ? purpose : ""
            return "  \(label)" + String(repeating: " ", count: width - label.count)
              + String(line).visibleLine
          }
      }
  }
}
