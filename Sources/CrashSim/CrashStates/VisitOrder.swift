// VisitOrder.swift: the single order of all states of an exploration; a budget of states is a
// prefix of it, and a budget of time ends it when the time is up.
// Invariants: the order depends only on the trace, the model and the seed; of two budgets, the
// smaller one's states are among the larger one's.
// Groups of states take turns by their weights, each in an order that is informative from its
// start: the two plainest states after each mark (nothing survived, everything did), those of the
// first crash points, where files are created, and of the last one, one state for each set of call
// stacks that lost something (many states of one loop that loses its writes show one bug), files
// with a partial write, and every crash point: one state of each, plain ones first, then another.
// Most states belong to few crash points, so some are drawn from all states. The turns of an
// exhausted group go to the others.

import LabCore

/// Deals states, the most informative ones early.
package struct VisitOrder {
  /// One group of states.
  private struct Group {
    /// The group's share of turns among all groups that are not exhausted.
    let weight: Int
    var credit = 0
    let states: [Int]
    var next = 0
  }

  private var groups: [Group]
  private var dealt: KeptSet
  private var random: PRNG

  /// An order of `count` states without groups.
  init(of count: Int, _ random: PRNG) {
    groups = []
    dealt = KeptSet(count: count)
    self.random = random
  }

  /// Adds a group; a state may be in several.
  mutating func add(_ states: [Int], weight: Int) {
    if !states.isEmpty { groups.append(Group(weight: weight, states: states)) }
  }

  /// The next state; nil when all groups are exhausted.
  ///
  /// Turns follow nginx's smooth weighted round robin: those of a group are spread evenly.
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

  /// Numbers below `count` in an order in which every prefix is spread over the whole range.
  package static func spread(_ count: Int, seed: Seed) -> [Int] {
    var order = VisitOrder(of: 0, PRNG(seed))
    return order.spread(Array(0..<count))
  }

  // MARK: Orders within a group

  /// All elements in an order in which every prefix is spread over the whole: that of reversed bits
  /// (van der Corput's sequence), with a start drawn from the seed.
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

  /// All elements in random order.
  mutating func drawn(_ elements: [Int]) -> [Int] {
    var result = elements
    for at in result.indices.dropFirst() { result.swapAt(at, random.below(at + 1)) }
    return result
  }

  /// One of each list, then another of each, until all are exhausted.
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
