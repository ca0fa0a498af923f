// FuzzTarget.swift: what a fuzz target is: a function from bytes to an outcome. A trap, a hang or
// unbounded memory is a finding whatever the bytes say, and so is a wrong answer, which a target
// says itself. Targets stand in modules beside what they fuzz; this one has what they share, and
// knows none of what is fuzzed.

/// What became of an input.
package enum FuzzOutcome: Equatable, Sendable {
  /// It was taken, and everything that was asked about it was right.
  case accepted
  /// It was refused with an error.
  case refused
  /// Something was wrong; the text says what.
  case finding(String)

  /// The outcome in a word.
  package var word: String {
    switch self {
    case .accepted: "accepted"
    case .refused: "refused"
    case .finding: "FINDING"
    }
  }
}

/// What an operation that must go well, or must not, did otherwise.
package struct FuzzFailure: Error {
  package let text: String

  package init(text: String) { self.text = text }
}

/// Changes an input in a way that fits what it means; nil leaves it to a mutator of bytes.
package typealias FuzzMutation =
  @Sendable (_ input: [UInt8], _ sizeMax: Int, _ choices: inout MutantChoices) -> [UInt8]?

/// A function that must survive any bytes, and judges what it sees.
package struct FuzzTarget: Sendable {
  package let name: String
  /// What input means, and what counts as a finding besides a trap, in one line.
  package let judges: String
  /// How many inputs a smoke run gives it.
  package let smokeCount: UInt64
  /// Inputs to start from.
  package let seeds: @Sendable () -> [[UInt8]]
  package let run: @Sendable ([UInt8]) -> FuzzOutcome
  /// What it knows of its inputs' structure.
  package var mutate: FuzzMutation?
  /// Words that its inputs are made of, for libFuzzer's `-dict` and AFL++'s `-x`.
  package var dictionary: [String] = []
  /// An input in words, a line each.
  package var describe: @Sendable ([UInt8]) -> [String] = { InputText.lines($0) }
  /// Whether a bug is planted in it, which every campaign must find.
  package var isPlanted = false
  /// The longest input that makes sense.
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

  /// The same target with something set.
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
