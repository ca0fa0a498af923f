// ExplorationPlan.swift: the number of states, and those that a budget selects.
// A budget selects the first states of the single order of all states (VisitOrder.swift).

import LabCore
import Recording

/// The number of states, and those that a budget selects.
public struct ExplorationPlan: Sendable, Codable {
  /// Kept sets that strategies proposed, including repetitions.
  public let candidates: Int
  /// Kept sets that were built and hashed.
  public let explored: Int
  /// States that differ in content or acknowledgements.
  public let distinct: Int
  /// Those that a structured strategy found.
  public let distinctOfClass1: Int
  /// States selected for visiting.
  public let selected: Int
  /// Number of all states that the model allows, exact or an upper bound.
  public let bound: StateBound
  fileprivate let selection: KeptSet?
  /// The selected states in parts that are visited one after another, each as large as all before
  /// it; nil when all are visited in the order of their crash points.
  let waves: [KeptSet]?
  /// The selected states in the order of selection; nil without waves.
  fileprivate let order: [Int32]?
  /// The budget at which each crash point with states of its own is visited at least once; nil when
  /// all states are visited in the order of their crash points.
  package let budgetOfEachCrashPoint: Int?
  /// The proposals that show the distinct states.
  let proposals: ProposalRecord

  /// True when pass 2 visits a state.
  public func selects(_ ordinal: Int) -> Bool {
    precondition(ordinal < distinct, "the plan belongs to another exploration")
    return selection?.contains(ordinal) ?? true
  }

  /// True when pass 2 visits a state before another one.
  package func visits(_ ordinal: Int, before other: Int) -> Bool {
    guard let waves else { return ordinal < other }
    for wave in waves where wave.contains(ordinal) || wave.contains(other) {
      return wave.contains(ordinal) && (!wave.contains(other) || ordinal < other)
    }
    return ordinal < other
  }

  /// The smallest budget that selects one of these states; nil when none is selected, and without
  /// waves.
  /// - Complexity: O(selected).
  package func budget(findingAnyOf states: Set<Int>) -> Int? {
    order?.firstIndex { states.contains(Int($0)) }.map { $0 + 1 }
  }

  /// Number of states that pass 2 visits in a shard.
  public func selectedCount(in shard: Shard) -> Int {
    if shard.count == 1 { return selected }
    return stride(from: shard.index, to: distinct, by: shard.count).reduce(0) {
      $0 + (selects($1) ? 1 : 0)
    }
  }

  /// The counts of crash points with states of their own.
  ///
  /// - Parameters:
  ///   - shard: The part that was visited.
  ///   - trace: The recorded trace.
  ///   - checked: Whether a selected state of the shard was checked; nil when that was not
  ///     counted.
  ///   - failures: Ordinals of the states that failed, ascending.
  /// - Returns: One entry for each crash point that has states, in order.
  package func counts(
    in shard: Shard, of trace: Trace, checked: ((Int) -> Bool)?, failures: [Int]
  ) -> [CrashPointCount] {
    var rest = failures[...]
    return (0..<proposals.crashPointCount).compactMap { point in
      let ordinals = proposals.first(at: point).ordinal..<proposals.first(at: point + 1).ordinal
      guard !ordinals.isEmpty else { return nil }
      let failing = rest.prefix { $0 < ordinals.upperBound }
      rest = rest.dropFirst(failing.count)
      return CrashPointCount(
        crashPoint: point, distinct: ordinals.count,
        checked: checked.map { isChecked in
          ordinals.count { $0 % shard.count == shard.index && selects($0) && isChecked($0) }
        },
        failing: failing.count, followsMark: point > 0 && trace.events[point - 1].isMark)
    }
  }

  /// True when pass 2 visits a state that first occurs at this crash point.
  package func judgesAny(at crashPoint: Int, _ shard: Shard) -> Bool {
    let ordinals =
      proposals.first(at: crashPoint).ordinal..<proposals.first(at: crashPoint + 1).ordinal
    return selectsAny(of: ordinals, shard)
  }

  /// True when pass 2, or one wave of it, visits one of these states.
  func selectsAny(of ordinals: Range<Int>, _ shard: Shard, wave: KeptSet? = nil) -> Bool {
    guard let states = wave ?? selection else { return !ordinals.isEmpty }
    return ordinals.contains { $0 % shard.count == shard.index && states.contains($0) }
  }
}

/// The proposals of each crash point that show a distinct state: with it, pass 2 knows a state's
/// ordinal without building the state.
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

/// The notes of pass 1 on each distinct state.
struct PlanRecord {
  private var classes: [UInt8] = []
  /// For each state, the number of the file with a partial write, 0 for none; files after the 255th
  /// share a number.
  private var tornFiles: [UInt8] = []
  private var fileNumbers: [InodeNumber: UInt8] = [:]
  /// States in which nothing or everything survived.
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

  /// The plan for an explored trace.
  func plan(
    budget: Int?, inWaves: Bool, seed: Seed, explored: Int, candidates: Int, bound: StateBound,
    proposals: ProposalRecord, of trace: Trace
  ) -> ExplorationPlan {
    let count = classes.count
    let selected = min(count, max(0, budget ?? count))
    var selection: KeptSet?
    var waves: [KeptSet]?
    var visitOrder: [Int32]?
    var budgetOfEachCrashPoint: Int?
    if selected < count || inWaves {
      var order = order(proposals, seed, trace)
      var all = KeptSet(count: count)
      var parts = [KeptSet(count: count)]
      var chosen: [Int32] = []
      for number in 0..<selected {
        if inWaves && number >= Self.firstWave && number & (number - 1) == 0 {
          parts.append(KeptSet(count: count))
        }
        guard let ordinal = order.next() else { preconditionFailure("the order has all states") }
        all.insert(ordinal)
        parts[parts.count - 1].insert(ordinal)
        chosen.append(Int32(ordinal))
      }
      budgetOfEachCrashPoint = Self.budgetOfEachCrashPoint(chosen, then: &order, proposals)
      if inWaves { visitOrder = chosen }
      selection = selected < count ? all : nil
      waves = inWaves ? parts : nil
    }
    return ExplorationPlan(
      candidates: candidates, explored: explored, distinct: count,
      distinctOfClass1: classes.count { $0 == 1 }, selected: selected,
      bound: bound, selection: selection, waves: waves, order: visitOrder,
      budgetOfEachCrashPoint: budgetOfEachCrashPoint, proposals: proposals)
  }

  /// The budget at which each crash point with states of its own has been visited.
  /// - Complexity: O(states).
  private static func budgetOfEachCrashPoint(
    _ selected: [Int32], then rest: inout VisitOrder, _ proposals: ProposalRecord
  ) -> Int {
    var points: [Int32] = []
    for point in 0..<proposals.crashPointCount {
      let states = proposals.first(at: point + 1).ordinal - proposals.first(at: point).ordinal
      points += repeatElement(Int32(point), count: states)
    }
    var unseen = KeptSet(count: proposals.crashPointCount)
    for point in points { unseen.insert(Int(point)) }
    var (open, budget) = (Set(points).count, 0)
    while open > 0 {
      guard let state = budget < selected.count ? Int(selected[budget]) : rest.next() else { break }
      budget += 1
      guard unseen.contains(Int(points[state])) else { continue }
      unseen.remove(Int(points[state]))
      open -= 1
    }
    return budget
  }

  /// Number of crash points at the start, where files are created and not yet protected, and of the
  /// states of each that form separate groups.
  private static let beginningPoints = 16
  private static let statesOfBeginning = 8

  /// States of the first wave; a power of two.
  private static let firstWave = 32

  /// States with a partial write, by its file.
  private func tornStates() -> [[Int]] {
    var groups = [[Int]](repeating: [], count: Int(tornFiles.max() ?? 0) + 1)
    for (ordinal, file) in tornFiles.enumerated() where file > 0 {
      groups[Int(file)].append(ordinal)
    }
    return groups
  }

  private func order(
    _ proposals: ProposalRecord, _ seed: Seed, _ trace: Trace
  ) -> VisitOrder {
    // Crash points with states of their own.
    let points = (0..<proposals.crashPointCount).map { point in
      (point, proposals.first(at: point).ordinal..<proposals.first(at: point + 1).ordinal)
    }.filter { !$0.1.isEmpty }
    var order = VisitOrder(of: classes.count, PRNG(seed))
    let behindMarks = points.filter { $0.0 > 0 && trace.events[$0.0 - 1].isMark }
    order.add(
      order.inTurns(order.spread(behindMarks).map { order.drawn($0.1.filter(plain.contains)) }),
      weight: 4)
    let beginning = points.prefix(Self.beginningPoints).flatMap { point in
      order.drawn(Array(point.1)).prefix(Self.statesOfBeginning)
    }
    order.add(beginning, weight: 2)
    order.add(order.drawn(Array(points.last?.1 ?? 0..<0)), weight: 1)
    order.add(order.spread(representatives), weight: 3)
    order.add(order.inTurns(tornStates().map { order.drawn($0) }), weight: 2)
    var (evenly, anywhere): ([Int], [Int]) = ([], [])
    for priority: UInt8 in 1...2 {
      let groups = order.spread(points).map { point in
        let states = order.drawn(point.1.filter { classes[$0] == priority })
        return states.filter(plain.contains) + states.filter { !plain.contains($0) }
      }
      evenly += order.inTurns(groups)
      anywhere += order.drawn(groups.flatMap(\.self))
    }
    order.add(evenly, weight: 4)
    order.add(anywhere, weight: 1)
    return order
  }
}
