// CheckArguments.swift: the checker of a program: `explore`, `certify` and `stress`.

import ArgumentParser
import LabCore

/// What judges crash states: a process for each, or one that stays.
struct CheckArguments: ParsableArguments {
  /// A checker as it was given.
  struct Choice: Equatable {
    let command: String
    let stays: Bool

    /// The option that gave it.
    var option: String { stays ? "check-loop" : "check" }
  }

  @Option(help: "Shell command that checks a directory after a power failure, by its exit status.")
  var check: String?
  @Option(
    name: .customLong("check-loop"),
    help: """
      In place of --check, a shell command that stays: it reads a line of JSON for each directory, \
      and answers a line: held, broken WORDS or noticed WORDS (docs/reference/check-loop.md).
      """)
  var checkLoop: String?

  /// The checker, if there is one.
  /// - Throws: `LabError` with code `.usage` when there are two.
  func chosen() throws(LabError) -> Choice? {
    guard check == nil || checkLoop == nil else {
      throw .usage("--check and --check-loop: give one of them")
    }
    if let checkLoop { return Choice(command: checkLoop, stays: true) }
    return check.map { Choice(command: $0, stays: false) }
  }

  /// The checker.
  /// - Throws: `LabError` with code `.usage` when there is not exactly one.
  func required() throws(LabError) -> Choice {
    guard let choice = try chosen() else {
      throw .usage("give --check COMMAND, or --check-loop COMMAND for a checker that stays")
    }
    return choice
  }
}
