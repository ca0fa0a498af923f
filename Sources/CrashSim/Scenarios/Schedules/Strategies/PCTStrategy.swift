// PCTStrategy.swift: probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi,
// Nagarakatte: "A randomized scheduler with probabilistic guarantees of finding bugs", 2010).
// Actors have priorities in random order, and the one with the highest priority runs, except that
// at d - 1 random decisions the running actor gets the lowest priority. With n actors and k
// decisions, a run finds a bug of depth d with a probability of at least 1 / (n k^(d-1)).

import LabCore

/// Runs with random priorities.
struct PCTStrategy: ScheduleStrategy {
  private let seed: Seed
  private let actorCount: Int
  private let depth: Int
  private let runsMax: Int
  private var runs = 0
  /// Decisions of the longest run so far: the k of the theory.
  private(set) var decisionsMax: Int

  /// Draws runs for bugs of a depth, the d of the theory: one more than the preemptions of a run.
  ///
  /// `decisions` is the length of a run, if known; later runs correct it.
  init(seed: Seed, actorCount: Int, depth: Int, runsMax: Int, decisions: Int) {
    self.seed = seed
    self.actorCount = actorCount
    self.depth = depth
    self.runsMax = runsMax
    decisionsMax = max(decisions, 1)
  }

  mutating func nextRun() -> (any ScheduleChooser)? {
    guard runs < runsMax else { return nil }
    defer { runs += 1 }
    var generator = PRNG(seed.derived(UInt64(runs)))
    let order = (0..<actorCount).shuffled(using: &generator)
    var priorities = [Int](repeating: 0, count: actorCount)
    for (place, actor) in order.enumerated() { priorities[actor] = depth + place }
    var changes: [Int: Int] = [:]
    for number in 1..<max(depth, 1) { changes[generator.below(decisionsMax)] = depth - number }
    return Chooser(priorities: priorities, changes: changes)
  }

  mutating func take(_ record: ScheduleRecord) {
    decisionsMax = max(decisionsMax, record.decisions.count)
  }

  private struct Chooser: ScheduleChooser {
    var priorities: [Int]
    let changes: [Int: Int]

    mutating func choose(_ decision: ScheduleDecision) -> ScheduleChoice {
      if let priority = changes[decision.step] { priorities[leader(decision.enabled)] = priority }
      return .actor(leader(decision.enabled))
    }

    private func leader(_ enabled: ActorSet) -> Int {
      var leader = enabled.first
      for actor in enabled.members where priorities[actor] > priorities[leader] { leader = actor }
      return leader
    }
  }
}
