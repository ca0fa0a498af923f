// ExplorationPlan.swift: how many states there are, and which of them a budget selects.
// The first and the last crash point's states come first, then class 1, then class 2; where a group
// does not fit whole, the seed chooses among it.

/// How many states there are, and which of them a budget selects.
public struct ExplorationPlan: Sendable {
  /// Kept sets that strategies proposed, repetitions included.
  public let candidates: Int
  /// Kept sets that were built and hashed.
  public let explored: Int
  /// States that differ in content or acknowledgements.
  public let distinct: Int
  /// Those of them that a structured strategy found.
  public let distinctOfClass1: Int
  /// States selected for visiting.
  public let selected: Int
  /// Number of all states that the model allows, exact or an upper bound.
  public let bound: StateBound
  fileprivate let selection: KeptSet?

  /// True when pass 2 visits a state.
  public func selects(_ ordinal: Int) -> Bool {
    precondition(ordinal < distinct, "the plan belongs to another exploration")
    return selection?.contains(ordinal) ?? true
  }
}

/// What pass 1 notes of each distinct state.
struct PlanRecord {
  private var classes: [UInt8] = []
  private var crashPoints: [Int] = []

  mutating func add(crashPoint: Int, strategy: Strategy) {
    classes.append(UInt8(strategy.priorityClass))
    crashPoints.append(crashPoint)
  }

  /// A better strategy found the same state again.
  mutating func upgrade(_ ordinal: Int, to strategy: Strategy) {
    classes[ordinal] = min(classes[ordinal], UInt8(strategy.priorityClass))
  }

  func plan(
    budget: Int?, seed: Seed, explored: Int, candidates: Int, bound: StateBound
  ) -> ExplorationPlan {
    let count = classes.count
    var selection: KeptSet?
    if let budget, budget < count { selection = select(max(0, budget), seed: seed) }
    return ExplorationPlan(
      candidates: candidates, explored: explored, distinct: count,
      distinctOfClass1: classes.count { $0 == 1 }, selected: min(count, max(0, budget ?? count)),
      bound: bound, selection: selection)
  }

  private func select(_ budget: Int, seed: Seed) -> KeptSet {
    var groups: [[Int]] = [[], [], []]
    for ordinal in classes.indices {
      let point = crashPoints[ordinal]
      if point == crashPoints.first || point == crashPoints.last {
        groups[0].append(ordinal)
      } else {
        groups[Int(classes[ordinal])].append(ordinal)
      }
    }
    var selection = KeptSet(count: classes.count)
    var left = budget
    var random = PRNG(seed)
    for group in groups {
      var wanted = min(left, group.count)
      left -= wanted
      // Knuth's algorithm S: each subset of the wanted size is as likely as any other.
      for (at, ordinal) in group.enumerated() where wanted > 0 {
        if random.below(group.count - at) < wanted {
          selection.insert(ordinal)
          wanted -= 1
        }
      }
    }
    return selection
  }
}
