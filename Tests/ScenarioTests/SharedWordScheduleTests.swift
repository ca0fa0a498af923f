// SharedWordScheduleTests.swift: readers and a writer over the words that handles of all processes
// share, each with a handle as in a process of its own, with a point before every access. The
// property: from a reader's second look at the published version until it gives its slot back, the
// slot says its owner and its version, and a writer that collects the pins is told the version.
// The story: a slot that was free before its version was cleared lost the pin of whoever claimed it
// meanwhile; schedules ran that function in one piece, and handles of one process share the place
// where the search for a slot begins, so nothing showed it.

import LabCore
import Synchronization
import Testing

@testable import Engine
@testable import Scenarios

/// One run of readers and a writer.
private final class PinRun: Sendable {
  private struct Held {
    var version: Version
    var slot: Int
  }

  private struct State {
    var held: [Int: Held] = [:]
    var fault: String?
  }

  private let region: SharedRegion
  private let publication: Publication
  private let handles: [Handle]
  private let hook: ScheduleHook
  private let state: Shared

  /// A handle's slots, in a class because they are not copied.
  private final class Handle: Sendable {
    let slots: ReaderSlots

    init(_ region: SharedRegion, _ number: Int, _ hook: ScheduleHook) {
      slots = ReaderSlots(
        region: region,
        processes: ProcessTable(life: { _ in .running(startTime: 100) }, namespaceID: 0),
        owner: ProcessOwner(pid: Int32(number + 1), startTime: 100), schedule: hook,
        allocate: { _ in nil })
    }
  }

  private final class Shared: Sendable {
    let state = Mutex(State())
  }

  /// The first thing that was wrong.
  var fault: String? { state.state.withLock { $0.fault } }

  init(actors: Int, _ scheduler: Scheduler) throws {
    let region = try SharedRegion(descriptor: -1, path: "memory")
    region.store(1, at: RegionLayout.publishedOffset)
    let state = Shared()
    let look: @Sendable () -> Void = {
      state.state.withLock { state in
        for (actor, held) in state.held where state.fault == nil {
          let slot = RegionLayout.slot(held.slot)
          let owner = ProcessOwner(rawValue: region.load(slot)).pid
          let version = region.load(slot + RegionLayout.slotVersionOffset)
          if owner != Int32(actor + 1) || version != held.version.rawValue {
            state.fault =
              "slot \(held.slot) says version \(version) of \(owner), and \(actor + 1) holds "
              + "version \(held.version.rawValue) in it"
          }
        }
      }
    }
    hook = ScheduleHook(
      meetsShared: true,
      reach: { point in
        look()
        scheduler.reach(.engine(point))
        look()
      }, wait: { _, _, _ in true })
    handles = (0..<actors).map { [hook] in Handle(region, $0, hook) }
    publication = Publication(region: region, beforeStore: nil, schedule: hook)
    self.region = region
    self.state = state
  }

  /// Pins the newest version and gives the pin back.
  func read(_ actor: Int) {
    let slots = handles[actor]
    guard let slot = try? slots.slots.claim(thread: Int32(actor + 1), now: 0) else {
      return state.state.withLock { $0.fault = "no slot" }
    }
    var version = publication.version
    while true {
      slots.slots.store(version, in: slot)
      let newest = publication.version
      if newest == version { break }
      version = newest
    }
    state.state.withLock { $0.held[actor] = Held(version: version, slot: slot) }
    hook.reach(.unpin)
    state.state.withLock { $0.held[actor] = nil }
    slots.slots.release(slot)
  }

  /// Publishes a version and asks which older ones must stay.
  func write(_ actor: Int) {
    let next = Version(rawValue: region.load(RegionLayout.publishedOffset) + 1)
    hook.reach(.publishVersion)
    region.store(next.rawValue, at: RegionLayout.publishedOffset)
    let kept = handles[actor].slots.collect(current: next)
    state.state.withLock { state in
      for held in state.held.values where held.version != next && !kept.contains(held.version) {
        state.fault =
          state.fault ?? "version \(held.version.rawValue) is held, and the writer is told \(kept)"
      }
    }
  }
}

@Suite("schedules over shared words")
struct SharedWordScheduleTests {
  /// Runs schedules until one fails or there are no more.
  private static func explore(
    _ strategy: inout some ScheduleStrategy, readers: Int, rounds: Int
  ) throws -> (runs: Int, fault: String?) {
    let actors = (0..<readers).map { "reader \($0)" } + ["writer"]
    let threads = ScheduleThreads(count: actors.count)
    var runs = 0
    while let chooser = strategy.nextRun() {
      let scheduler = Scheduler(actors: actors, chooser: chooser)
      let run = try PinRun(actors: actors.count, scheduler)
      let record = try scheduler.run(on: threads) { actor in
        scheduler.reach(.command(1))
        for _ in 0..<rounds {
          if actor == readers { run.write(actor) } else { run.read(actor) }
        }
      }
      runs += 1
      if let fault = run.fault { return (runs, fault + "\n" + record.schedule.text) }
      #expect(record.ending == .finished)
      strategy.take(record)
    }
    return (runs, nil)
  }

  @Test("all with two preemptions: two readers and a writer")
  func exhaustive() throws {
    var strategy = BoundedStrategy(preemptions: 2, runsMax: 1_000_000)
    let (runs, fault) = try Self.explore(&strategy, readers: 2, rounds: 1)
    #expect(fault == nil, "after \(runs) schedules")
    #expect(strategy.isComplete && runs > 1_000, "\(runs)")
  }

  @Test("drawn ones beyond: three readers and a writer, twice each")
  func drawn() throws {
    var strategy = RandomStrategy(seed: Seed(rawValue: 38), runsMax: 1_500)
    let (runs, fault) = try Self.explore(&strategy, readers: 3, rounds: 2)
    #expect(fault == nil, "after \(runs) schedules")
  }
}
