// FuzzSubcommand.swift: `faultline fuzz`: every fuzz target, by the words that `fuzz` takes too.

import ArgumentParser
import Foundation
import Fuzz
import FuzzLab

struct FuzzSubcommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fuzz", abstract: "Feed the readers of the database and the lab hostile bytes.",
    discussion: """
      Each target is a function from bytes to an outcome; a trap, a hang, more than a second, and \
      a wrong answer are findings (docs/fuzzing.md).

      Examples:
        faultline fuzz --list
        faultline fuzz run query --seed 0 --count 10000
        faultline fuzz replay query-crash-1a2b
        faultline fuzz minimise query-crash-1a2b

      Exit codes: 0 nothing found, 1 a finding, 2 wrong arguments or an unreadable file.
      """)

  @Argument(parsing: .captureForPassthrough, help: "What to do; none shows what there is.")
  var words: [String] = []

  func run() throws {
    Foundation.exit(FuzzCommandLine(FuzzTarget.all, prefix: ["fuzz"]).run(words))
  }
}
