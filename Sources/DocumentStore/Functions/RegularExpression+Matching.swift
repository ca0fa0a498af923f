// RegularExpression+Matching.swift: runs a pattern over a text. Invariant: `waiting` has the
// alternatives of a match in order of preference, each step at most once; so a letter costs at most
// one visit per step.

extension RegularExpression {
  /// The first match at or after a position of a text.
  /// - Parameters:
  ///   - text: The text's scalars.
  ///   - start: Where a match may begin.
  ///   - left: The remaining number of letters that may be visited; decremented.
  /// - Returns: Where the match and its groups begin and end, in scalars; nil for groups that did
  ///   not participate; nil for no match.
  /// - Complexity: O(letters · steps).
  func match(_ text: [UInt32], from start: Int, left: inout Int) -> [Int?]? {
    var run = RegularExpressionRun(self, text)
    defer { left -= run.looked }
    return run.match(from: start)
  }

  /// The first match in a text.
  func match(_ text: [UInt32]) -> [Int?]? {
    var left = 0
    return match(text, from: 0, left: &left)
  }
}

/// A run of a pattern.
private struct RegularExpressionRun {
  /// An alternative of a match: its current step, and its marks.
  private struct Way {
    let step: Int
    let marks: [Int?]
  }

  private let pattern: RegularExpression
  private let text: [UInt32]
  private var seen: [Int]
  private var waiting: [Way] = []
  private var generation = 0
  /// The number of letters visited.
  private(set) var looked = 0

  init(_ pattern: RegularExpression, _ text: [UInt32]) {
    self.pattern = pattern
    self.text = text
    seen = [Int](repeating: -1, count: pattern.steps.count)
  }

  mutating func match(from start: Int) -> [Int?]? {
    var found: [Int?]?
    guard start <= text.count else { return nil }
    for place in start...text.count {
      generation += 1
      looked += 1
      let ways = waiting
      waiting = []
      for way in ways where accepts(pattern.steps[way.step], text[place - 1]) {
        add(way.step + 1, way.marks, at: place)
      }
      cutAtMatch(&found)
      if found == nil {
        add(0, [Int?](repeating: nil, count: 2 * pattern.groups), at: place)
        cutAtMatch(&found)
      }
      if waiting.isEmpty, found != nil { break }
    }
    return found
  }

  /// Drops the alternatives after one that has matched: they are less preferred.
  private mutating func cutAtMatch(_ found: inout [Int?]?) {
    for (index, way) in waiting.enumerated() {
      guard case .match = pattern.steps[way.step] else { continue }
      found = way.marks
      waiting.removeSubrange(index...)
      return
    }
  }

  private func accepts(_ step: RegularExpression.Step, _ letter: UInt32) -> Bool {
    switch step {
    case .scalar(let wanted): letter == wanted
    case .any: letter != 10 && letter != 13 && letter != 0x2028 && letter != 0x2029
    case .set(let set): set.contains(letter)
    default: false
    }
  }

  /// Follows the steps that consume no letter.
  private mutating func add(_ first: Int, _ marks: [Int?], at place: Int) {
    var pending = [(step: first, marks: marks)]
    while let way = pending.popLast() {
      let step = way.step
      var marks = way.marks
      guard seen[step] != generation else { continue }
      seen[step] = generation
      switch pattern.steps[step] {
      case .jump(let next): pending.append((next, marks))
      case .fork(let preferred, let other):
        pending.append((other, marks))
        pending.append((preferred, marks))
      case .mark(let index):
        marks[index] = place
        pending.append((step + 1, marks))
      case .start: if place == 0 { pending.append((step + 1, marks)) }
      case .end: if place == text.count { pending.append((step + 1, marks)) }
      case .boundary(let isWanted):
        if isBoundary(place) == isWanted { pending.append((step + 1, marks)) }
      default: waiting.append(Way(step: step, marks: marks))
      }
    }
  }

  private func isBoundary(_ place: Int) -> Bool {
    let before = place > 0 && RegularExpressionSet.words.contains(text[place - 1])
    let behind = place < text.count && RegularExpressionSet.words.contains(text[place])
    return before != behind
  }
}
