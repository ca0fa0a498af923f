// TokenTrust.swift: whether the commands of a token are run. They are those of whoever made it.

import Findings
import LabCore
import Scenarios

/// The question that stands before a replay.
enum TokenTrust {
  /// Prints what a token runs, and asks when no run of this user made it.
  /// - Throws: `LabError` with code `.usage` when the answer is no, or nobody can be asked.
  static func confirm(
    _ recipe: ReplayRecipe, of token: String, isTrusted: Bool, console: Console
  ) throws(LabError) {
    for line in recipe.commandLines { console.say(line) }
    if recipe.commands.isEmpty || isTrusted || TokenSeal.isOwn(token) { return }
    let lack = "no run of yours on this machine made this token"
    var input = StandardInput()
    guard input.isTerminal else {
      throw .usage("\(lack); read its commands above, and give --trust to run them")
    }
    console.prompt("\(lack); run its commands? [y/N] ")
    guard let answer = try input.next(), ["y", "yes"].contains(answer.lowercased()) else {
      throw .usage("the token's commands were not run")
    }
  }
}
