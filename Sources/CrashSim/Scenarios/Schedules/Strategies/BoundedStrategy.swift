// BoundedStrategy.swift: every schedule with a limited number of preemptions, those with fewer
// first (Musuvathi, Qadeer: "Iterative context bounding for systematic testing of multithreaded
// programs", 2007). A run follows a prefix of choices, and then the running actor continues; each
// other choice after the prefix gives the prefix of another run. So each schedule is run once.
// Invariant: prefixes for which no run or no memory is left are dropped, and then the search does
// not report itself as complete.

/// All runs within a preemption bound.
struct BoundedStrategy: ScheduleStrategy {
  private let preemptionsMax: Int
  private let runsMax: Int
  private var runs = 0
  /// Prefixes with this number of preemptions, and with one more.
  private var level: [[Int8]] = [[]]
  private var nextLevel: [[Int8]] = []
  private var preemptions = 0
  private var prefixCount = 0
  /// Number of choices in all prefixes, one byte each.
  private var prefixBytes = 0
  private static let prefixBytesMax = 256 << 20
  private var hasDropped = false

  init(preemptions: Int, runsMax: Int) {
    preemptionsMax = preemptions
    self.runsMax = runsMax
  }

  /// Whether every schedule within the bound was run.
  var isComplete: Bool { level.isEmpty && nextLevel.isEmpty && !hasDropped }

  mutating func nextRun() -> (any ScheduleChooser)? {
    if level.isEmpty {
      guard !nextLevel.isEmpty else { return nil }
      // Taken from the end, that is, in the order in which they were added.
      level = nextLevel.reversed()
      nextLevel = []
      preemptions += 1
    }
    guard runs < runsMax, let prefix = level.popLast() else { return nil }
    runs += 1
    prefixCount = prefix.count
    prefixBytes -= prefix.count
    return Chooser(prefix: prefix)
  }

  mutating func take(_ record: ScheduleRecord) {
    guard prefixCount < record.decisions.count else { return }
    let choices = record.decisions.map(\.chosen)
    for index in prefixCount..<choices.count {
      let decision = record.decisions[index]
      let costs = decision.current >= 0
      guard decision.enabled.count > 1, !costs || preemptions < preemptionsMax else { continue }
      for actor in decision.enabled.members where actor != Int(decision.chosen) {
        guard level.count + nextLevel.count < runsMax - runs,
          prefixBytes + index < Self.prefixBytesMax
        else {
          hasDropped = true
          return
        }
        let prefix = choices[..<index] + [Int8(actor)]
        prefixBytes += prefix.count
        if costs { nextLevel.append(Array(prefix)) } else { level.append(Array(prefix)) }
      }
    }
  }

  private struct Chooser: ScheduleChooser {
    let prefix: [Int8]

    mutating func choose(_ decision: ScheduleDecision) -> ScheduleChoice {
      guard decision.step < prefix.count else { return .actor(decision.usual) }
      let actor = Int(prefix[decision.step])
      guard decision.enabled.contains(actor) else {
        return .refuse(
          "decision \(decision.step) is not what it was in the run before with the same choices")
      }
      return .actor(actor)
    }
  }
}
