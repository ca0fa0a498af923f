// SchedulerTests.swift: exactly one actor runs; waits, deadlocks, endless runs and runs that are
// not what they were are told apart; a schedule's text is read back, or refused with its line.

import Dispatch
import Synchronization
import Testing

@testable import LabCore
@testable import Scenarios

@Suite("Schedules: scheduler") struct SchedulerTests {
  private func run(
    _ chooser: any ScheduleChooser, limits: ScheduleLimits = .init(), actors: Int = 2,
    _ body: @escaping @Sendable (Scheduler, Int) -> Void
  ) throws -> ScheduleRecord {
    let names = (0..<actors).map { "actor\($0)" }
    let scheduler = Scheduler(actors: names, chooser: chooser, limits: limits)
    return try scheduler.run(on: ScheduleThreads(count: actors)) { body(scheduler, $0) }
  }

  private func random(_ seed: UInt64) throws -> any ScheduleChooser {
    var strategy = RandomStrategy(seed: Seed(rawValue: seed), runsMax: 1)
    let chooser = strategy.nextRun()
    return try #require(chooser)
  }

  @Test("never do two actors run at once, however often they take turns")
  func one() throws {
    let box = Box()
    for seed in 0..<20 {
      _ = try run(try random(UInt64(seed)), actors: 4) { scheduler, _ in
        for index in 0..<20 {
          box.enter()
          box.leave()
          scheduler.reach(.named("\(index)"))
        }
      }
    }
    #expect(box.mostAtOnce == 1)
  }

  private final class Box: Sendable {
    private let inside = Atomic<Int>(0)
    private let most = Atomic<Int>(0)

    var mostAtOnce: Int { most.load(ordering: .relaxed) }

    func enter() {
      let count = inside.add(1, ordering: .sequentiallyConsistent).newValue
      if count > most.load(ordering: .relaxed) { most.store(count, ordering: .relaxed) }
    }

    func leave() { inside.subtract(1, ordering: .sequentiallyConsistent) }
  }

  @Test("two locks taken in two orders: the deadlock is found, named and replayed")
  func deadlock() throws {
    @Sendable func body(_ locks: Locks, _ scheduler: Scheduler, _ actor: Int) {
      let order = actor == 0 ? [0, 1] : [1, 0]
      for lock in order where !locks.take(lock, actor, scheduler) { return }
      for lock in order { locks.give(lock) }
    }
    var strategy = BoundedStrategy(preemptions: 1, runsMax: 1_000)
    var found: ScheduleRecord?
    while found == nil, let chooser = strategy.nextRun() {
      let locks = Locks()
      let record = try run(chooser) { body(locks, $0, $1) }
      strategy.take(record)
      if case .deadlock = record.ending { found = record }
    }
    let record = try #require(found)
    let waits = ["'actor0' waits for lock 1", "'actor1' waits for lock 0"]
    #expect(record.ending == .deadlock(waits) && record.preemptionCount == 1)
    for _ in 0..<100 {
      let locks = Locks()
      #expect(try run(ReplayChooser(record.schedule)) { body(locks, $0, $1) } == record)
    }
  }

  private final class Locks: Sendable {
    private let holders = Mutex<[Int?]>([nil, nil])

    func take(_ lock: Int, _ actor: Int, _ scheduler: Scheduler) -> Bool {
      scheduler.reach(.named("take \(lock)"))
      while !holders.withLock({ holders in
        guard holders[lock] == nil else { return false }
        holders[lock] = actor
        return true
      }) {
        let isFree = scheduler.wait(for: "lock \(lock)") { [self] in
          holders.withLock { $0[lock] == nil }
        }
        guard isFree else { return false }
      }
      return true
    }

    func give(_ lock: Int) { holders.withLock { $0[lock] = nil } }
  }

  @Test("a wait with a time limit ends when nobody else can go on, and not before")
  func bounded() throws {
    let log = Log()
    let record = try run(UsualChooser()) { scheduler, actor in
      if actor == 0 {
        let isOver = scheduler.wait(for: "nothing", isBounded: true) { false }
        log.append("gave up \(isOver)")
      } else {
        for index in 0..<3 { scheduler.reach(.named("\(index)")) }
        log.append("other ended")
      }
    }
    #expect(record.ending == .finished && log.lines == ["other ended", "gave up false"])
  }

  private final class Log: Sendable {
    private let entries = Mutex<[String]>([])
    var lines: [String] { entries.withLock { $0 } }
    func append(_ line: String) { entries.withLock { $0.append(line) } }
  }

  @Test("who waits in a loop for another gets there; who loops for ever is called endless")
  func endless() throws {
    let limits = ScheduleLimits(decisions: 100, silenceSeconds: 60)
    let flag = Log()
    let spinning = try run(UsualChooser(), limits: limits) { scheduler, actor in
      if actor == 1 { return flag.append("set") }
      while flag.lines.isEmpty { scheduler.reach(.named("again")) }
    }
    #expect(spinning.ending == .finished && spinning.decisions.count > 100)
    let endless = try run(UsualChooser(), limits: limits) { scheduler, _ in
      while !scheduler.isReleased { scheduler.reach(.named("again")) }
    }
    #expect(endless.ending == .endless(200))
  }

  @Test("an actor that comes to no point is the lab's failure, with its name, and no verdict")
  func silent() throws {
    let release = DispatchSemaphore(value: 0)
    let error = #expect(throws: LabError.self) {
      try run(UsualChooser(), limits: ScheduleLimits(decisions: 100, silenceSeconds: 1)) {
        _, actor in
        if actor == 0 { release.wait() }
      }
    }
    release.signal()
    #expect(error?.code == .lab && error?.message.contains("'actor0'") == true)
  }

  @Test("a program that is not under control is noticed by its replay")
  func uncontrolled() throws {
    let count = Log()
    @Sendable func body(_ scheduler: Scheduler, _ actor: Int) {
      for index in 0..<(actor == 0 ? 2 + count.lines.count : 2) {
        scheduler.reach(.named("\(index)"))
      }
      if actor == 0 { count.append("run") }
    }
    let record = try run(UsualChooser(), body)
    guard case .refused = try run(ReplayChooser(record.schedule), body).ending else {
      Issue.record("a longer run passed for the same one")
      return
    }
  }

  @Test("a replay that ends early is refused too")
  func shorter() throws {
    let schedule = Schedule(
      actors: ["actor0", "actor1"],
      turns: [ScheduleTurn(actor: 0, count: 1), ScheduleTurn(actor: 1, count: 9)])
    let record = try run(ReplayChooser(schedule)) { _, _ in }
    guard case .refused(let reason) = record.ending else {
      Issue.record("a shorter run passed for the same one")
      return
    }
    #expect(reason.contains("turn 2"))
  }

  // MARK: - Text

  @Test("text and back, for drawn schedules")
  func text() throws {
    var generator = PRNG(Seed(rawValue: 9))
    for _ in 0..<200 {
      let actors = (0..<(1 + generator.below(5))).map { "actor-\($0)" }
      let turns = (0..<generator.below(40)).map { _ in
        ScheduleTurn(actor: generator.below(actors.count), count: 1 + generator.below(1_000_000))
      }
      let schedule = Schedule(actors: actors, turns: turns)
      #expect(try Schedule.parse(schedule.text) == schedule)
    }
  }

  @Test(
    "text that is not a schedule is an error with its line",
    arguments: [
      ("", 1), ("faultline schedule 2\nactors a\n", 1), ("faultline schedule 1\n", 2),
      ("faultline schedule 1\nactors\n", 2), ("faultline schedule 1\nactors a a\n", 2),
      ("faultline schedule 1\nactors a  b\n", 2), ("faultline schedule 1\nactors a\nb 1\n", 3),
      ("faultline schedule 1\nactors a\na 0\n", 3), ("faultline schedule 1\nactors a\na -1\n", 3),
      ("faultline schedule 1\nactors a\na 01\n", 3), ("faultline schedule 1\nactors a\na +1\n", 3),
      ("faultline schedule 1\nactors a\na 1\na 99999999999999999999\n", 4),
      ("faultline schedule 1\nactors a\na 1 2\n", 3), ("faultline schedule 1\nactors a\na\n", 3),
    ])
  func refused(_ text: String, _ line: Int) {
    let error = #expect(throws: LabError.self) { try Schedule.parse(text) }
    #expect(error?.code == .usage && error?.message.hasPrefix("schedule:\(line): ") == true)
  }

  @Test("bytes of any kind are refused or read back to themselves, and never trap")
  func hostile() throws {
    var generator = PRNG(Seed(rawValue: 5))
    let whole = Array("faultline schedule 1\nactors ui background\nui 12\nbackground 3\n".utf8)
    for _ in 0..<2_000 {
      var bytes = whole
      for _ in 0...generator.below(4) {
        let place = generator.below(bytes.count)
        bytes[place] = UInt8(truncatingIfNeeded: generator.next())
      }
      let text = String(decoding: bytes, as: UTF8.self)
      guard let schedule = try? Schedule.parse(text) else { continue }
      #expect(try Schedule.parse(schedule.text) == schedule)
    }
  }
}
