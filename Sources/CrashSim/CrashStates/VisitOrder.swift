// VisitOrder.swift: the one order of all states of an exploration; a budget of states is a prefix
// of it, and a budget of time cuts it where the time ends.
// Invariants: which state comes when depends on the trace, the model and the seed alone; of two
// budgets the smaller one's states are among the larger one's.
// Groups of states take turns by their weights, each in an order that is telling from its start:
// the two plainest states behind each mark (nothing survived, everything did), those of the first
// crash points, where files are made, and of the last one, a state of each set of call stacks that
// lost something (many states of one loop that loses its writes show one bug), files of which a
// write arrived in part, and every crash point: one state of each, plain ones first, then one more.
// Most states are at few crash points, so some are drawn from all. A group that is used up leaves
// its turns to the others.

import LabCore

/// Deals states out, the most telling ones early.
package struct VisitOrder {
  /// One group of states.
  private struct Group {
    /// Turns, of those of all groups that are not used up.
    let weight: Int
    var credit = 0
    let states: [Int]
    var next = 0
  }

  private var groups: [Group]
  private var dealt: KeptSet
  private var random: PRNG

  /// An order of `count` states in which nothing is grouped yet.
  init(of count: Int, _ random: PRNG) {
    groups = []
    dealt = KeptSet(count: count)
    self.random = random
  }

  /// Adds a group; a state may be in several.
  mutating func add(_ states: [Int], weight: Int) {
    if !states.isEmpty { groups.append(Group(weight: weight, states: states)) }
  }

  /// The next state; nil when all groups are used up.
  ///
  /// Turns as nginx's smooth weighted round robin has them: those of a group are spread evenly.
  /// - Complexity: O(groups) amortized.
  mutating func next() -> Int? {
    while !groups.isEmpty {
      var chosen = 0
      var total = 0
      for at in groups.indices {
        groups[at].credit += groups[at].weight
        total += groups[at].weight
        if groups[at].credit > groups[chosen].credit { chosen = at }
      }
      groups[chosen].credit -= total
      while groups[chosen].next < groups[chosen].states.count {
        let state = groups[chosen].states[groups[chosen].next]
        groups[chosen].next += 1
        if !dealt.contains(state) {
          dealt.insert(state)
          return state
        }
      }
      groups.remove(at: chosen)
    }
    return nil
  }

  /// Numbers below `count` in an order of which every prefix is spread over the whole.
  package static func spread(_ count: Int, seed: Seed) -> [Int] {
    var order = VisitOrder(of: 0, PRNG(seed))
    return order.spread(Array(0..<count))
  }

  // MARK: Orders within a group

  /// All in an order of which every prefix is spread over the whole: that of reversed bits (van der
  /// Corput's sequence), begun where the seed says.
  mutating func spread<Element>(_ elements: [Element]) -> [Element] {
    guard elements.count > 2 else { return elements }
    let bits = Int.bitWidth - (elements.count - 1).leadingZeroBitCount
    let begin = random.below(elements.count)
    return (0..<1 << bits).compactMap { number in
      var reversed = 0
      for bit in 0..<bits where number & 1 << bit != 0 { reversed |= 1 << (bits - 1 - bit) }
      guard reversed < elements.count else { return nil }
      return elements[(reversed + begin) % elements.count]
    }
  }

  /// All in an order drawn by chance.
  mutating func drawn(_ elements: [Int]) -> [Int] {
    var result = elements
    for at in result.indices.dropFirst() { result.swapAt(at, random.below(at + 1)) }
    return result
  }

  /// One of each list, then one more of each, until all are used up.
  /// - Complexity: O(lists + elements).
  func inTurns(_ lists: [[Int]]) -> [Int] {
    var result: [Int] = []
    result.reserveCapacity(lists.reduce(0) { $0 + $1.count })
    var open = lists.filter { !$0.isEmpty }
    var round = 0
    while !open.isEmpty {
      for list in open { result.append(list[round]) }
      round += 1
      open.removeAll { $0.count == round }
    }
    return result
  }
}
