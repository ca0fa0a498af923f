// DocumentSchedules.swift: actors on one data file under the scheduler. The points are SQLite's own
// calls (SQLitePoints) and the actors' steps; each run begins with a copy of the prepared files.
// Invariants: no actor sleeps in the kernel for another, as SQLite's sleeps are waits of the
// scheduler; the hook is there only while actors run.

import DocumentLab
import Findings
import Foundation
import LabCore
import Recording
import Synchronization
import Workload

/// The actors of a scenario on documents.
struct DocumentScheduledPlan: ScheduledProgram {
  let plan: DocumentPlan
  let limits: ScheduleLimits
  let points: DeclaredPoints
  let actors: [String]
  /// The files before the block.
  private let prepared: String
  /// Those of a run.
  private let directory: String
  private let threads: ScheduleThreads

  /// Does the steps before the block.
  /// - Parameters:
  ///   - plan: The plan; it has actors side by side.
  ///   - points: The points at which the next actor is chosen.
  ///   - limits: When a run is given up.
  ///   - directory: A folder that is used for this alone.
  /// - Throws: `LabError` when the steps before the block fail.
  init(
    _ plan: DocumentPlan, points: DeclaredPoints, limits: ScheduleLimits, in directory: String
  ) throws(LabError) {
    self.plan = plan
    self.points = points
    self.limits = limits
    actors = plan.together.map(\.name)
    prepared = "\(directory)/documents-prepared"
    self.directory = "\(directory)/documents-together"
    threads = ScheduleThreads(count: plan.together.count)
    try SQLitePoints.install(checkpointPages: plan.declaration.checkpointPages)
    do {
      try? FileManager.default.removeItem(atPath: prepared)
      try FileManager.default.createDirectory(
        atPath: prepared, withIntermediateDirectories: true)
    } catch { throw .lab("\(prepared): \(error)") }
    try DocumentPreparation.run(plan, in: prepared)
    try DocumentPreparation.doSteps(plan, in: prepared) { _ in }
  }

  /// One run.
  /// - Parameter chooser: Selects the next actor.
  /// - Returns: The run, judged; its trace has marks alone: the order of the commits.
  /// - Throws: `LabError` when Faultline fails, or an actor hangs.
  func run(_ chooser: any ScheduleChooser) throws(LabError) -> ScheduledOutcome {
    do {
      try? FileManager.default.removeItem(atPath: directory)
      try FileManager.default.copyItem(atPath: prepared, toPath: directory)
    } catch { throw .lab("\(directory): \(error)") }
    let (block, record) = try Self.perform(
      plan, chooser, in: directory, points: points, limits: limits, on: threads)
    var violations: [Violation] = []
    var problems = block.end()
    switch record.ending {
    case .refused: break
    case .finished:
      if problems.isEmpty { problems = block.problemsOfFiles() }
      violations = problems.map(Self.violation)
    case .deadlock(let waits):
      violations = [
        Violation(
          .liveness, promised: "at least one actor can always continue",
          got: "deadlock: \(waits.joined(separator: ", "))")
      ]
    case .endless(let count):
      violations = [
        Violation(
          .liveness, promised: "steps that run side by side end when each gets its turn",
          got: "no end after \(count) decisions")
      ]
    }
    let events = DocumentOrder(block.order).marks.map { TraceEvent(.mark($0)) }
    return ScheduledOutcome(
      record: record, trace: Trace(initial: TreeImage(), events: events), violations: violations,
      hits: [])
  }

  private static func violation(_ problem: DocumentProblem) -> Violation {
    Violation(.documents, promised: problem.promise.sentence, got: problem.named)
  }

  /// Runs the actors of a plan once.
  /// - Returns: What they did, with the file still open, and the schedule.
  /// - Throws: `LabError` when the file cannot be opened, or an actor hangs.
  static func perform(
    _ plan: DocumentPlan, _ chooser: any ScheduleChooser, in directory: String,
    points: DeclaredPoints, limits: ScheduleLimits, on threads: ScheduleThreads,
    acknowledge: @escaping @Sendable (Int) -> Void = { _ in }
  ) throws(LabError) -> (block: DocumentBlock, record: ScheduleRecord) {
    let block: DocumentBlock
    do {
      block = try DocumentBlock(plan, directory: directory, acknowledge: acknowledge)
    } catch { throw .lab("the actors cannot open the file: \(error)") }
    let scheduler = Scheduler(
      actors: plan.together.map(\.name), chooser: chooser, limits: limits)
    let counts = plan.together.map(\.units.count)
    let progress = ActorProgress(count: counts.count)
    SQLitePoints.tell(hook(scheduler, points, progress))
    defer { SQLitePoints.tell(nil) }
    let record = try scheduler.run(on: threads) { actor in
      defer { progress.ended(actor) }
      for unit in 0..<counts[actor] {
        scheduler.reach(.command(unit + 1))
        guard !scheduler.isReleased, block.perform(DocumentPlace(actor: actor, unit: unit)) else {
          return
        }
      }
    }
    return (block, record)
  }

  private static func hook(
    _ scheduler: Scheduler, _ points: DeclaredPoints, _ progress: ActorProgress
  ) -> SQLiteHook {
    SQLiteHook(
      reach: { call in
        guard points == .shared || call.isStep, let actor = scheduler.caller else { return }
        progress.moved(actor)
        scheduler.reach(.named(call.name))
      },
      freed: { progress.freed() },
      sleep: {
        guard let actor = scheduler.caller else { return false }
        let seen = progress.seen
        _ = scheduler.wait(for: "a lock of SQLite", isBounded: true) {
          progress.mayWake(actor, after: seen)
        }
        return true
      })
  }
}

/// What actors have done, for those that wait for a lock.
///
/// A real machine lets each process run at some time. So one that waits goes on after a lock was
/// given back and every other one has moved: two that try again by turns do not keep out a third,
/// whatever the priorities are.
private final class ActorProgress: Sendable {
  struct Seen: Sendable {
    var moves: [Int]
    var freed = 0
  }

  private let state: Mutex<Seen>

  init(count: Int) { state = Mutex(Seen(moves: Array(repeating: 0, count: count))) }

  var seen: Seen { state.withLock { $0 } }

  func moved(_ actor: Int) { state.withLock { $0.moves[actor] += 1 } }

  func freed() { state.withLock { $0.freed += 1 } }

  /// An actor has ended, and keeps nobody waiting.
  func ended(_ actor: Int) { state.withLock { $0.moves[actor] = .max } }

  func mayWake(_ actor: Int, after seen: Seen) -> Bool {
    let now = self.seen
    let others = now.moves.indices.filter { $0 != actor }
    return now.freed != seen.freed
      && others.allSatisfy { now.moves[$0] != seen.moves[$0] || now.moves[$0] == .max }
  }
}

/// The order of the commits of a block, as text.
struct DocumentOrder: Sendable, Hashable {
  let places: [DocumentPlace]

  init(_ places: [DocumentPlace]) { self.places = places }

  /// `0.0,1.0,0.1`: actor and step of each commit.
  var text: String { places.map { "\($0.actor).\($0.unit)" }.joined(separator: ",") }

  /// Reads `text`; nil for anything else.
  init?(reading text: String) {
    var places: [DocumentPlace] = []
    for word in text.split(separator: ",") {
      let numbers = word.split(separator: ".").map { Int($0) }
      guard numbers.count == 2, let actor = numbers[0], let unit = numbers[1] else { return nil }
      places.append(DocumentPlace(actor: actor, unit: unit))
    }
    self.places = places
  }

  /// A mark for each commit, which makes runs with other orders other recordings.
  var marks: [Mark] { places.map { Mark("\($0.actor).\($0.unit)") } }

  /// Reads marks; nil for others.
  init?(_ marks: [Mark]) { self.init(reading: marks.map(\.text).joined(separator: ",")) }
}

/// A schedule of a block with the order of its commits, short enough for a command line.
struct DocumentSchedule: Sendable, Hashable {
  let schedule: Schedule
  let order: DocumentOrder

  /// That of a run.
  init?(_ outcome: ScheduledOutcome) {
    guard let order = DocumentOrder(outcome.trace.marks) else { return nil }
    schedule = outcome.record.schedule
    self.order = order
  }

  /// `0x12,1x3/0.0,1.0`: turns, and commits.
  var text: String {
    schedule.turns.map { "\($0.actor)x\($0.count)" }.joined(separator: ",") + "/" + order.text
  }

  /// Reads `text`.
  /// - Throws: `LabError` with code `.usage` for anything else.
  init(reading text: String, actors: [String]) throws(LabError) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let order = DocumentOrder(reading: parts[1]) else {
      throw .usage("'\(text.prefix(60))' is no schedule of documents")
    }
    var turns: [ScheduleTurn] = []
    for word in parts[0].split(separator: ",") {
      let numbers = word.split(separator: "x").map { Int($0) }
      guard numbers.count == 2, let actor = numbers[0], let count = numbers[1],
        actors.indices.contains(actor), count > 0
      else { throw .usage("'\(word.prefix(60))' is no turn of a schedule of documents") }
      turns.append(ScheduleTurn(actor: actor, count: count))
    }
    schedule = Schedule(actors: actors, turns: turns)
    self.order = order
  }
}
