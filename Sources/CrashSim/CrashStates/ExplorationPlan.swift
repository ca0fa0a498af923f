// ExplorationPlan.swift: how many states there are, and which of them a budget selects.
// First come, for a quarter of the budget each, the two plainest states behind each mark (nothing
// survived, everything did), and those of the first and the last crash point. A quarter of what is
// left goes evenly to the files of which a write arrived in part; then come class 1 and class 2, of
// which half goes evenly to all crash points, because most states are at few of them. Where a group
// does not fit, the seed chooses among it, and what was not chosen has another chance in its class.
// Where the trace has call stacks, one state of each set of call stacks that lost something comes
// before torn files: many states of one loop that loses its writes show one bug.

import LabCore
import Recording

/// How many states there are, and which of them a budget selects.
public struct ExplorationPlan: Sendable, Codable {
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
  /// Which proposals show the distinct states.
  let proposals: ProposalRecord

  /// True when pass 2 visits a state.
  public func selects(_ ordinal: Int) -> Bool {
    precondition(ordinal < distinct, "the plan belongs to another exploration")
    return selection?.contains(ordinal) ?? true
  }

  /// Number of states that pass 2 visits in a shard.
  public func selectedCount(in shard: Shard) -> Int {
    if shard.count == 1 { return selected }
    return stride(from: shard.index, to: distinct, by: shard.count).reduce(0) {
      $0 + (selects($1) ? 1 : 0)
    }
  }

  /// Crash points with their own states, counted.
  ///
  /// - Parameters:
  ///   - shard: The part that was visited.
  ///   - isCounted: Whether all that was selected in the shard was checked.
  ///   - failures: Ordinals of the states that failed, ascending.
  /// - Returns: One entry for each crash point at which states are, in order.
  package func counts(
    in shard: Shard, isCounted: Bool, failures: [Int]
  ) -> [CrashPointCount] {
    var rest = failures[...]
    return (0..<proposals.crashPointCount).compactMap { point in
      let ordinals = proposals.first(at: point).ordinal..<proposals.first(at: point + 1).ordinal
      guard !ordinals.isEmpty else { return nil }
      let failing = rest.prefix { $0 < ordinals.upperBound }
      rest = rest.dropFirst(failing.count)
      let checked = ordinals.count { $0 % shard.count == shard.index && selects($0) }
      return CrashPointCount(
        crashPoint: point, distinct: ordinals.count, checked: isCounted ? checked : nil,
        failing: failing.count)
    }
  }

  /// True when pass 2 visits a state of this crash point's own.
  package func judgesAny(at crashPoint: Int, _ shard: Shard) -> Bool {
    let ordinals =
      proposals.first(at: crashPoint).ordinal..<proposals.first(at: crashPoint + 1).ordinal
    return selectsAny(of: ordinals, shard)
  }

  /// True when pass 2 visits one of these states.
  func selectsAny(of ordinals: Range<Int>, _ shard: Shard) -> Bool {
    guard let selection else { return !ordinals.isEmpty }
    return ordinals.contains { $0 % shard.count == shard.index && selection.contains($0) }
  }
}

/// Which of the proposals of each crash point show a distinct state: with it, pass 2 knows a
/// state's ordinal without building the state.
struct ProposalRecord: Sendable, Codable {
  private var words: [UInt64] = []
  private var count = 0
  private var ordinal = 0
  private var firstProposals: [Int] = []
  private var firstOrdinals: [Int] = []

  var crashPointCount: Int { firstProposals.count }

  mutating func beginCrashPoint() {
    firstProposals.append(count)
    firstOrdinals.append(ordinal)
  }

  mutating func add(isDistinct: Bool) {
    if count & 63 == 0 { words.append(0) }
    if isDistinct {
      words[count >> 6] |= 1 << UInt64(count & 63)
      ordinal += 1
    }
    count += 1
  }

  func isDistinct(_ proposal: Int) -> Bool {
    words[proposal >> 6] >> UInt64(proposal & 63) & 1 == 1
  }

  /// Numbers of the first proposal and the first distinct state from a crash point on.
  func first(at crashPoint: Int) -> (proposal: Int, ordinal: Int) {
    guard crashPoint < firstProposals.count else { return (count, ordinal) }
    return (firstProposals[crashPoint], firstOrdinals[crashPoint])
  }
}

/// What pass 1 notes of each distinct state.
struct PlanRecord {
  private var classes: [UInt8] = []
  /// Of each state, the number of the file of which a write arrived in part, 0 when none did; files
  /// behind the 255th share a number.
  private var tornFiles: [UInt8] = []
  private var fileNumbers: [InodeNumber: UInt8] = [:]
  /// States in which nothing survived, or everything.
  private var plain: Set<Int> = []
  /// The first state of each set of call stacks.
  private var representatives: [Int] = []
  private var stackSets: Set<ContentHash> = []

  mutating func add(
    _ ordinal: Int, _ strategy: Strategy, _ tornFile: InodeNumber?, _ stackSet: ContentHash?
  ) {
    precondition(ordinal == classes.count, "ordinals rise by one")
    classes.append(UInt8(strategy.priorityClass))
    tornFiles.append(tornFile.map { number(of: $0) } ?? 0)
    if strategy == .nothingKept || strategy == .allKept { plain.insert(ordinal) }
    if let stackSet, stackSets.insert(stackSet).inserted { representatives.append(ordinal) }
  }

  private mutating func number(of file: InodeNumber) -> UInt8 {
    if let known = fileNumbers[file] { return known }
    let number = UInt8(min(fileNumbers.count + 1, Int(UInt8.max)))
    fileNumbers[file] = number
    return number
  }

  /// A better strategy found the same state again.
  mutating func upgrade(_ ordinal: Int, to strategy: Strategy) {
    classes[ordinal] = min(classes[ordinal], UInt8(strategy.priorityClass))
  }

  /// The plan for a trace that was explored.
  func plan(
    budget: Int?, seed: Seed, explored: Int, candidates: Int, bound: StateBound,
    proposals: ProposalRecord, of trace: Trace
  ) -> ExplorationPlan {
    let count = classes.count
    var selection: KeptSet?
    if let budget, budget < count { selection = select(max(0, budget), proposals, seed, trace) }
    return ExplorationPlan(
      candidates: candidates, explored: explored, distinct: count,
      distinctOfClass1: classes.count { $0 == 1 }, selected: min(count, max(0, budget ?? count)),
      bound: bound, selection: selection, proposals: proposals)
  }

  /// States that have a write in part, by its file.
  private func tornStates() -> [[Int]] {
    var groups = [[Int]](repeating: [], count: Int(tornFiles.max() ?? 0) + 1)
    for (ordinal, file) in tornFiles.enumerated() where file > 0 {
      groups[Int(file)].append(ordinal)
    }
    return groups
  }

  private func select(
    _ budget: Int, _ proposals: ProposalRecord, _ seed: Seed, _ trace: Trace
  ) -> KeptSet {
    // Crash points that have states of their own.
    let points = (0..<proposals.crashPointCount).map { point in
      (point, proposals.first(at: point).ordinal..<proposals.first(at: point + 1).ordinal)
    }.filter { !$0.1.isEmpty }
    guard let first = points.first, let last = points.last else { return KeptSet(count: 0) }
    var selection = BudgetSelection(of: classes.count, budget, PRNG(seed))
    let share = (budget + 3) / 4
    let behindMarks = points.filter { $0.0 > 0 && trace.events[$0.0 - 1].isMark }
    selection.choose(share, of: behindMarks.flatMap { $0.1.filter(plain.contains) })
    selection.choose(share, of: Set(first.1).union(last.1).sorted())
    selection.choose(selection.left, of: representatives)
    selection.chooseEvenly(selection.left / 4, of: tornStates())
    for priority: UInt8 in 1...2 {
      let groups = points.map { $0.1.filter { classes[$0] == priority } }
      selection.chooseEvenly(selection.left / 2, of: groups)
      selection.choose(selection.left, of: groups.flatMap(\.self))
    }
    return selection.chosen
  }
}

/// States that a budget selects, by chance within each group.
private struct BudgetSelection {
  private(set) var chosen: KeptSet
  /// How many more may be chosen.
  private(set) var left: Int
  private var random: PRNG

  init(of count: Int, _ budget: Int, _ random: PRNG) {
    chosen = KeptSet(count: count)
    left = budget
    self.random = random
  }

  /// Chooses some of a group; each subset of that size is as likely as any other.
  ///
  /// Knuth's algorithm S (The Art of Computer Programming, volume 2, 3.4.2).
  mutating func choose(_ count: Int, of group: [Int]) {
    let open = group.filter { !chosen.contains($0) }
    var wanted = min(count, left, open.count)
    left -= wanted
    for (at, ordinal) in open.enumerated() where wanted > 0 {
      if random.below(open.count - at) < wanted {
        chosen.insert(ordinal)
        wanted -= 1
      }
    }
  }

  /// Chooses one of each group, then one more of each, as often as the number allows.
  mutating func chooseEvenly(_ count: Int, of groups: [[Int]]) {
    var open = groups.map { group in group.filter { !chosen.contains($0) } }
    var wanted = min(count, left)
    while true {
      open.removeAll(where: \.isEmpty)
      guard !open.isEmpty, wanted >= open.count else { return }
      wanted -= open.count
      left -= open.count
      for at in open.indices {
        open[at].swapAt(random.below(open[at].count), open[at].count - 1)
        chosen.insert(open[at].removeLast())
      }
    }
  }
}
