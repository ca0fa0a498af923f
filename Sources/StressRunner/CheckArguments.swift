// CheckArguments.swift: the checker of a program: `explore`, `certify` and `stress`.

import ArgumentParser
import Exploration
import Findings
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

}

/// How crash states are judged without a checker: `explore` and `certify`.
struct JudgingArguments: ParsableArguments {
  /// What judges: a checker, or nobody.
  enum Choice {
    case checker(CheckArguments.Choice)
    case none(JudgingOptions)
  }

  @Option(
    name: .customLong("ignore"),
    help: "Without --check: do not judge files that match this glob. Can be repeated.")
  var ignored: [String] = []
  @Flag(
    name: .customLong("durable"),
    help: "Without --check: each line of output promises that what came before it is durable.")
  var isDurable = false

  /// Whether none is given.
  var isEmpty: Bool { ignored.isEmpty && !isDurable }

  /// What judges.
  /// - Throws: `LabError` with code `.usage` when options contradict each other.
  func judging(_ checker: CheckArguments.Choice?) throws(LabError) -> Choice {
    guard let checker else {
      return .none(JudgingOptions(ignored: ignored, isDurable: isDurable))
    }
    guard isEmpty else {
      throw .usage("--ignore and --durable are about judging without a checker; drop one")
    }
    return .checker(checker)
  }
}

extension ProgramUnderTest {
  /// A program with what judges it.
  init(workload: String, setup: String?, _ judging: JudgingArguments.Choice) {
    switch judging {
    case .none(let options): self.init(workload: workload, judging: options, setup: setup)
    case .checker(let checker):
      self.init(workload: workload, check: checker.command, setup: setup)
      checkStays = checker.stays
    }
  }
}
