// VisitOrderTests.swift: budgets of states and of time cut one list of states at different places.

import LabCore
import Testing

@testable import CrashStates

@Suite("Order of visits")
struct VisitOrderTests {
  private func enumerator() throws -> CrashStateEnumerator {
    let trace = makeRandomTrace(
      seed: Seed(rawValue: 77), operations: 60, syncChance: Ratio(1, in: 10))
    return try CrashStateEnumerator(
      trace: trace, model: .ext4Ordered, seed: Seed(rawValue: 1),
      options: ExplorationOptions(samplesPerCrashPoint: 8, unitsPerStrategy: 16, tornUnits: 2))
  }

  private func ordinals(
    _ budget: Int?, inWaves: Bool = false, shard: Shard = .whole
  ) throws -> [Int] {
    let enumerator = try enumerator()
    var ordinals: [Int] = []
    let plan = try enumerator.plan(budget: budget, inWaves: inWaves)
    try enumerator.visit(plan, shard: shard) { (state, _) in
      ordinals.append(state.ordinal)
      return .goOn
    }
    return ordinals
  }

  @Test("a smaller budget's states are among a larger one's")
  func nested() throws {
    var larger = Set(try ordinals(nil))
    for budget in [250, 100, 33, 32, 10, 1] {
      let smaller = Set(try ordinals(budget))
      #expect(smaller.count == budget && smaller.isSubset(of: larger))
      larger = smaller
    }
  }

  @Test("a visit in waves that is cut short has seen what a budget of that size selects")
  func waves() throws {
    let all = try ordinals(nil, inWaves: true)
    let inOrder = try ordinals(nil)
    #expect(all.count > 256 && all.sorted() == inOrder)
    for size in [32, 64, 128, 256] {
      let selected = try ordinals(size)
      #expect(all.prefix(size).sorted() == selected)
    }
  }

  @Test("shards visit each state once, in waves too, and in the whole's order")
  func shards() throws {
    let all = try ordinals(300, inWaves: true)
    let parts = try (0..<3).map {
      try ordinals(300, inWaves: true, shard: Shard(index: $0, of: 3))
    }
    #expect(parts.flatMap(\.self).sorted() == all.sorted())
    for (index, part) in parts.enumerated() { #expect(part == all.filter { $0 % 3 == index }) }
  }

  @Test("a plan says which of two states it visits first")
  func comparison() throws {
    let plan = try enumerator().plan(budget: 200, inWaves: true)
    let all = try ordinals(200, inWaves: true)
    for (first, second) in zip(all, all.dropFirst()) {
      #expect(plan.visits(first, before: second) && !plan.visits(second, before: first))
    }
    #expect(!plan.visits(all[0], before: all[0]))
  }

  @Test("a plan says which budget looks at each crash point once, and which finds a state")
  func budgets() throws {
    let plan = try enumerator().plan(budget: 40, inWaves: true)
    let enough = try #require(plan.budgetOfEachCrashPoint)
    let seen = { (budget: Int) in
      let plan = try enumerator().plan(budget: budget, inWaves: true)
      let trace = try enumerator().table.trace
      return plan.counts(in: .whole, of: trace, checked: { _ in true }, failures: [])
        .count { ($0.checked ?? 0) > 0 }
    }
    let all = try seen(plan.distinct)
    #expect(enough > 40 && enough < plan.distinct)
    #expect(try seen(enough) == all && seen(enough - 1) == all - 1)
    let whole = try enumerator().plan(budget: nil, inWaves: true)
    #expect(whole.budgetOfEachCrashPoint == enough)

    for ordinal in stride(from: 0, to: whole.distinct, by: 37) {
      let budget = try #require(whole.budget(findingAnyOf: [ordinal]))
      #expect(try ordinals(budget).contains(ordinal) && !ordinals(budget - 1).contains(ordinal))
    }
    #expect(whole.budget(findingAnyOf: []) == nil)
  }

  @Test("every prefix of a spread order is spread over the whole")
  func spread() {
    let order = VisitOrder.spread(100, seed: Seed(rawValue: 3))
    #expect(order.sorted() == Array(0..<100))
    for count in [8, 16, 32] {
      let places = order.prefix(count).sorted()
      let gaps = zip(places, Array(places.dropFirst()) + [places[0] + 100]).map { $1 - $0 }
      #expect(gaps.allSatisfy { $0 <= 4 * 100 / count })
    }
  }
}
