// MagicTarget.swift: two numbers, one behind the other, that only coverage leads to. A campaign
// under libFuzzer that does not find them is not guided by what it reaches and compares.

enum MagicTarget {
  static let target = FuzzTarget(
    name: "magic", judges: "eight bytes that only coverage leads to; libFuzzer must find them",
    smokeCount: 1000, seeds: { [] }, run: { run($0) }
  ).with { $0.isPlanted = true }

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    var choices = MutantChoices(bytes: input)
    // Two steps: the second comparison is reached by those who passed the first.
    guard choices.number(4) == 0x4641_554c else { return .refused }
    guard choices.number(4) == 0x5401_7f17 else { return .accepted }
    return .finding("the magic number was found")
  }
}
