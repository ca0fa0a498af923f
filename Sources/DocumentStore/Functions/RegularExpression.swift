// RegularExpression.swift: patterns in ECMAScript syntax, matched in time linear in the text: all
// alternatives of a match advance together, the preferred one first, so no pattern can make a query
// hang. Back-references, lookahead and lookbehind are not supported, and are rejected.
//   pattern = branch { "|" branch }      branch = { item [ "*" | "+" | "?" | "{" n [ "," [ m ] ]
// "}" [ "?" ] ] }   item = "." | "^" | "$" | "\" letter | "[" set "]" | "(" pattern ")" | "(?:"
// pattern ")" | letter

/// A pattern that was read.
struct RegularExpression {
  /// A step of a match.
  enum Step {
    case scalar(UInt32)
    /// Anything but the end of a line.
    case any
    case set(RegularExpressionSet)
    case start
    case end
    case boundary(Bool)
    /// Continues at the first step, or else at the second.
    case fork(Int, Int)
    case jump(Int)
    /// Records the current position.
    case mark(Int)
    case match
  }

  /// Limit of the steps of a pattern: each is visited once per letter of a text.
  static let stepsMax = 2000

  private(set) var steps: [Step] = []
  /// Groups, with the whole match.
  private(set) var groups = 1

  /// Reads a pattern.
  /// - Returns: Nil for an invalid pattern, and for one with too many steps.
  init?(_ pattern: String) {
    var reader = RegularExpressionReader(pattern)
    guard let tree = reader.read() else { return nil }
    groups = reader.groups
    steps.append(.mark(0))
    guard emit(tree) else { return nil }
    steps += [.mark(1), .match]
  }

  private mutating func emit(_ tree: RegularExpressionReader.Tree) -> Bool {
    guard steps.count < Self.stepsMax else { return false }
    switch tree {
    case .step(let step): steps.append(step)
    case .sequence(let trees):
      for tree in trees { guard emit(tree) else { return false } }
    case .choice(let trees):
      var ends: [Int] = []
      for (index, tree) in trees.enumerated() {
        guard index < trees.count - 1 else {
          guard emit(tree) else { return false }
          break
        }
        let fork = steps.count
        steps.append(.jump(0))
        guard emit(tree) else { return false }
        ends.append(steps.count)
        steps.append(.jump(0))
        steps[fork] = .fork(fork + 1, steps.count)
      }
      for end in ends { steps[end] = .jump(steps.count) }
    case .group(let number, let inner):
      steps.append(.mark(2 * number))
      guard emit(inner) else { return false }
      steps.append(.mark(2 * number + 1))
    case .repeated(let inner, let least, let most, let isLazy):
      for _ in 0..<least { guard emit(inner) else { return false } }
      guard let most else { return emitLoop(inner, isLazy) }
      guard most > least else { break }
      var forks: [Int] = []
      for _ in least..<most {
        forks.append(steps.count)
        steps.append(.jump(0))
        guard emit(inner) else { return false }
      }
      for fork in forks {
        steps[fork] = isLazy ? .fork(steps.count, fork + 1) : .fork(fork + 1, steps.count)
      }
    }
    return steps.count <= Self.stepsMax
  }

  private mutating func emitLoop(_ inner: RegularExpressionReader.Tree, _ isLazy: Bool) -> Bool {
    let fork = steps.count
    steps.append(.jump(0))
    guard emit(inner) else { return false }
    steps.append(.jump(fork))
    steps[fork] = isLazy ? .fork(steps.count, fork + 1) : .fork(fork + 1, steps.count)
    return true
  }
}

/// A set of letters.
struct RegularExpressionSet {
  var ranges: [ClosedRange<UInt32>] = []
  var isNegated = false

  func contains(_ scalar: UInt32) -> Bool {
    ranges.contains { $0.contains(scalar) } != isNegated
  }

  static let digits = RegularExpressionSet(ranges: [0x30...0x39])
  static let words = RegularExpressionSet(
    ranges: [0x30...0x39, 0x41...0x5a, 0x5f...0x5f, 0x61...0x7a])
  static let spaces = RegularExpressionSet(
    ranges: [
      9...13, 32...32, 0xa0...0xa0, 0x1680...0x1680, 0x2000...0x200a, 0x2028...0x2029,
      0x202f...0x202f, 0x205f...0x205f, 0x3000...0x3000, 0xfeff...0xfeff,
    ])

  /// The complement.
  var inverted: [ClosedRange<UInt32>] {
    var (inverted, next) = ([ClosedRange<UInt32>](), UInt32(0))
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if range.lowerBound > next { inverted.append(next...(range.lowerBound - 1)) }
      next = max(next, range.upperBound + 1)
    }
    if next <= 0x10_ffff { inverted.append(next...0x10_ffff) }
    return inverted
  }
}
