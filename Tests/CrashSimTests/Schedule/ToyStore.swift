// ToyStore.swift: a store of counters that is racy on purpose, for tests of the scheduler. Each
// increment reads, comes to a point, and writes, so that two of them can lose one.

import Synchronization

@testable import LabCore
@testable import Scenarios

/// Counters in memory, without any care for threads.
final class ToyStore: Sendable {
  private let counters: Mutex<[Int]>

  init(counters count: Int) { counters = Mutex([Int](repeating: 0, count: count)) }

  var values: [Int] { counters.withLock { $0 } }

  func set(_ index: Int, to value: Int) { counters.withLock { $0[index] = value } }

  /// Reads, lets others in, and writes.
  func increment(_ index: Int, _ scheduler: Scheduler) {
    scheduler.reach(.named("read \(index)"))
    let value = counters.withLock { $0[index] }
    scheduler.reach(.named("write \(index)"))
    counters.withLock { $0[index] = value + 1 }
  }
}

/// A bug that shows under some schedules only.
///
/// A bug of depth d needs d - 1 preemptions. Of depth 1: the second actor may start first, and then
/// it reads what the first one has not set yet. Of a larger depth d: both actors increment d - 1
/// counters in the same order, and only the loss of an increment of *every* counter counts. A
/// counter loses one when somebody is preempted between its read and its write, so d - 1
/// preemptions are needed, and no fewer.
struct ToyBug: Sendable {
  let depth: Int

  static let actors = ["a", "b"]

  /// Whether it showed.
  struct Outcome: Sendable, Hashable {
    let failed: Bool
  }

  /// Runs the store once.
  func run(
    _ chooser: any ScheduleChooser, on threads: ScheduleThreads
  ) throws(LabError) -> (ScheduleRecord, Outcome) {
    let scheduler = Scheduler(actors: Self.actors, chooser: chooser)
    let store = ToyStore(counters: max(depth - 1, 2))
    let depth = self.depth
    let record = try scheduler.run(on: threads) { actor in
      if depth > 1 {
        for index in 0..<(depth - 1) { store.increment(index, scheduler) }
        return
      }
      scheduler.reach(.named("first"))
      if actor == 0 {
        store.set(0, to: 1)
      } else {
        store.set(1, to: store.values[0] == 1 ? 1 : 2)
      }
      scheduler.reach(.named("last"))
    }
    let values = store.values
    let failed = depth == 1 ? values[1] == 2 : values.prefix(depth - 1).allSatisfy { $0 < 2 }
    return (record, Outcome(failed: failed))
  }

  /// Runs a strategy to its end.
  /// - Returns: The runs, those that failed, and the first of those.
  func search(
    _ strategy: inout some ScheduleStrategy, on threads: ScheduleThreads, stopping: Bool = false
  ) throws -> (runs: Int, hits: Int, first: ScheduleRecord?) {
    var runs = 0
    var hits = 0
    var first: ScheduleRecord?
    while let chooser = strategy.nextRun() {
      let (record, outcome) = try run(chooser, on: threads)
      strategy.take(record)
      runs += 1
      guard outcome.failed else { continue }
      hits += 1
      first = first ?? record
      if stopping { break }
    }
    return (runs, hits, first)
  }
}
