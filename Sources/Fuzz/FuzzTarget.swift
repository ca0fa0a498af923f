// FuzzTarget.swift: a fuzz target: a function from bytes to an outcome. A trap, a hang or unbounded
// memory is a finding for any bytes, and so is a wrong answer, which the target itself reports.
// Targets are in modules next to what they fuzz; this module has what they share, and does not
// depend on what is fuzzed.

/// The outcome of an input.
package enum FuzzOutcome: Equatable, Sendable {
  /// It was accepted, and all checks passed.
  case accepted
  /// It was rejected with an error.
  case refused
  /// A check failed; the text describes it.
  case finding(String)

  /// The outcome as a word.
  package var word: String {
    switch self {
    case .accepted: "accepted"
    case .refused: "refused"
    case .finding: "FINDING"
    }
  }
}

/// The unexpected result of an operation that must succeed, or must fail.
package struct FuzzFailure: Error {
  package let text: String

  package init(text: String) { self.text = text }
}

/// Changes an input in accordance with its structure; nil leaves it to a byte mutator.
package typealias FuzzMutation =
  @Sendable (_ input: [UInt8], _ sizeMax: Int, _ choices: inout MutantChoices) -> [UInt8]?

/// A function that must survive any bytes, and judges the results.
package struct FuzzTarget: Sendable {
  package let name: String
  /// The meaning of its input, and what counts as a finding besides a trap, in one line.
  package let judges: String
  /// Number of inputs in a smoke run.
  package let smokeCount: UInt64
  /// Inputs to start from.
  package let seeds: @Sendable () -> [[UInt8]]
  package let run: @Sendable ([UInt8]) -> FuzzOutcome
  /// A mutator for its inputs' structure.
  package var mutate: FuzzMutation?
  /// Words that its inputs are made of, for libFuzzer's `-dict` and AFL++'s `-x`.
  package var dictionary: [String] = []
  /// An input as text, in lines.
  package var describe: @Sendable ([UInt8]) -> [String] = { InputText.lines($0) }
  /// Whether it has a planted bug, which every campaign must find.
  package var isPlanted = false
  /// The longest useful input.
  package var sizeMax = 4096

  package init(
    name: String, judges: String, smokeCount: UInt64,
    seeds: @escaping @Sendable () -> [[UInt8]],
    run: @escaping @Sendable ([UInt8]) -> FuzzOutcome
  ) {
    self.name = name
    self.judges = judges
    self.smokeCount = smokeCount
    self.seeds = seeds
    self.run = run
  }

  /// The same target with changed properties.
  package func with(_ change: (inout FuzzTarget) -> Void) -> FuzzTarget {
    var changed = self
    change(&changed)
    return changed
  }

  /// Seeds for targets that decode choices: bytes of several lengths, the same on every run.
  package static func choiceSeeds(_ name: String) -> [[UInt8]] {
    let salt = name.utf8.reduce(7 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    var choices = MutantChoices(seed: salt)
    return [[]]
      + [8, 24, 80, 240, 1000].map { count in
        (0..<count).map { _ in UInt8(truncatingIfNeeded: choices.number(1)) }
      }
  }
}
