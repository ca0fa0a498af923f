// CanaryTrapTarget.swift: a parser with a planted trap. It is used to test the code that names
// findings by their stacks: `replay` and `minimise`.

package enum CanaryTrapTarget {
  package static let target = FuzzTarget(
    name: "canary-trap", judges: "a length and as many bytes, with a planted trap; must be found",
    smokeCount: 1000, seeds: { [[2, 65, 66]] }, run: { run($0) }
  ).with { $0.isPlanted = true }

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    guard let count = input.first, count > 0 else { return .refused }
    return last(of: input, count: Int(count)) < 128 ? .accepted : .refused
  }

  /// The planted bug: the length is not checked.
  @inline(never)
  private static func last(of input: [UInt8], count: Int) -> UInt8 { input[count] }
}
