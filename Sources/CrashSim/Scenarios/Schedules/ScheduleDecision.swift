// ScheduleDecision.swift: the scheduler's input for a decision, and the record of a run. Invariant:
// a run is its decisions: the same program with the same choices has the same decisions, and if
// not, something is not under control.

/// A set of actors by number.
struct ActorSet: Sendable, Hashable {
  private(set) var bits: UInt64 = 0

  /// Most actors.
  static let countMax = 64

  mutating func insert(_ actor: Int) { bits |= (1 << UInt64(actor)) }
  func contains(_ actor: Int) -> Bool { bits & (1 << UInt64(actor)) != 0 }
  var isEmpty: Bool { bits == 0 }
  var count: Int { bits.nonzeroBitCount }
  /// The lowest number; the set must not be empty.
  var first: Int { bits.trailingZeroBitCount }

  /// The members, in the order of their numbers.
  var members: [Int] {
    var rest = bits
    var members: [Int] = []
    while rest != 0 {
      members.append(rest.trailingZeroBitCount)
      rest &= rest - 1
    }
    return members
  }

  /// The first member after an actor, wrapping around.
  func next(after actor: Int) -> Int {
    let place = UInt64(actor + 1)
    let later = actor + 1 < Self.countMax ? (bits >> place) << place : 0
    return later == 0 ? first : later.trailingZeroBitCount
  }
}

/// A moment at which an actor must be chosen.
struct ScheduleDecision: Sendable, Hashable {
  /// Number of the decision, from 0.
  let step: Int
  /// The actor that ran last, if it can continue; nil when it waits or has ended, and at the start.
  let current: Int?
  /// The place of the actor that ran last.
  let place: SchedulePlace
  /// All actors that can continue; never empty.
  let enabled: ActorSet

  /// The default choice: the actor that runs, or otherwise the first.
  var usual: Int { current ?? enabled.first }
}

/// A decision with its choice.
struct TakenDecision: Sendable, Hashable {
  let enabled: ActorSet
  let place: SchedulePlace
  let current: Int8
  let chosen: Int8

  init(_ decision: ScheduleDecision, chosen: Int) {
    enabled = decision.enabled
    place = decision.place
    current = Int8(decision.current ?? -1)
    self.chosen = Int8(chosen)
  }

  /// Whether an actor that could continue had to stop.
  var isPreemption: Bool { current >= 0 && chosen != current }
}

/// How a run of a program ended.
enum ScheduleEnding: Sendable, Hashable {
  /// All actors ended.
  case finished
  /// All actors wait; each with its reason.
  case deadlock([String])
  /// This many decisions without an end, half of them taken in turn.
  case endless(Int)
  /// The chooser refused to choose; the reason in words.
  case refused(String)
}

/// The record of a run.
struct ScheduleRecord: Sendable, Hashable {
  /// Names of the actors.
  let actors: [String]
  let decisions: [TakenDecision]
  let ending: ScheduleEnding

  /// Number of times that an actor that could continue had to stop.
  var preemptionCount: Int { decisions.reduce(0) { $0 + ($1.isPreemption ? 1 : 0) } }

  /// The run as a schedule that replays it.
  var schedule: Schedule {
    Schedule(actors: actors, choices: decisions.lazy.map { Int($0.chosen) })
  }

  /// Each turn in words, with the place at which it ended.
  var turnsInWords: [String] {
    var lines: [String] = []
    var index = 0
    for turn in schedule.turns {
      index += turn.count
      let points = "\(turn.count) point\(turn.count == 1 ? "" : "s")"
      let isCut = index < decisions.count && decisions[index].isPreemption
      let end =
        isCut
        ? "is stopped before '\(decisions[index].place)'"
        : index < decisions.count ? "waits or ends" : "runs to the end"
      lines.append("'\(actors[turn.actor])' passes \(points) and \(end)")
    }
    return lines
  }
}

/// Consecutive decisions for one actor.
struct ScheduleTurn: Sendable, Hashable {
  let actor: Int
  var count: Int
}
