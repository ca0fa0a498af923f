// StrategyTests.swift: each strategy finds the bugs of a racy store that its theory says it finds,
// what was found is replayed every time, and is shrunk to the fewest preemptions.

import Testing

@testable import LabCore
@testable import Scenarios

@Suite("Schedules: strategies") struct StrategyTests {
  @Test("PCT finds a bug of depth d at least as often as 1 / (n k^(d-1))", arguments: 1...4)
  func pct(_ depth: Int) throws {
    let bug = ToyBug(depth: depth)
    let threads = ScheduleThreads(count: 2)
    let usual = try bug.run(UsualChooser(), on: threads).0
    var strategy = PCTStrategy(
      seed: Seed(rawValue: 42), actorCount: 2, depth: depth,
      runsMax: [200, 400, 2_000, 8_000][depth - 1], decisions: usual.decisions.count)
    let (runs, hits, _) = try bug.search(&strategy, on: threads)
    var power = 1
    for _ in 1..<depth { power *= strategy.decisionsMax }
    // The bound is a chance, and this is a sample: a fifth below it is allowed.
    #expect(hits * 2 * power * 5 >= runs * 4, "\(hits) of \(runs), k = \(strategy.decisionsMax)")
    #expect(hits < runs, "a bug that always shows proves nothing")
  }

  @Test("PCT of a smaller depth never finds a deeper bug", arguments: 2...4)
  func shallow(_ depth: Int) throws {
    let bug = ToyBug(depth: depth)
    var strategy = PCTStrategy(
      seed: Seed(rawValue: 7), actorCount: 2, depth: depth - 1, runsMax: 300, decisions: 12)
    #expect(try bug.search(&strategy, on: ScheduleThreads(count: 2)).hits == 0)
  }

  @Test(
    "exhaustive search finds it with d - 1 preemptions, and proves that fewer do not",
    arguments: 1...4)
  func exhaustive(_ depth: Int) throws {
    let bug = ToyBug(depth: depth)
    let threads = ScheduleThreads(count: 2)
    if depth > 1 {
      var fewer = BoundedStrategy(preemptions: depth - 2, runsMax: 1_000_000)
      #expect(try bug.search(&fewer, on: threads).hits == 0)
      #expect(fewer.isComplete)
    }
    var strategy = BoundedStrategy(preemptions: depth - 1, runsMax: 1_000_000)
    let (_, hits, first) = try bug.search(&strategy, on: threads)
    #expect(hits > 0 && strategy.isComplete)
    #expect(first?.preemptionCount == depth - 1)
  }

  @Test("exhaustive search runs each schedule once, as many as there are")
  func each() throws {
    var strategy = BoundedStrategy(preemptions: 100, runsMax: 1_000_000)
    var seen: Set<String> = []
    var runs = 0
    let bug = ToyBug(depth: 2)
    let threads = ScheduleThreads(count: 2)
    while let chooser = strategy.nextRun() {
      let (record, _) = try bug.run(chooser, on: threads)
      strategy.take(record)
      seen.insert(record.schedule.text)
      runs += 1
    }
    // Each actor takes three decisions: to start, and to pass its two points. Six in a row are for
    // a and b in any order that has three of each.
    #expect(runs == 20 && seen.count == 20)
    #expect(strategy.isComplete)
  }

  @Test("a search that was cut short does not call itself complete")
  func cut() throws {
    var strategy = BoundedStrategy(preemptions: 100, runsMax: 19)
    #expect(try ToyBug(depth: 2).search(&strategy, on: ScheduleThreads(count: 2)).runs == 19)
    #expect(!strategy.isComplete)
  }

  @Test("a drawn schedule that fails is replayed from its text 100 of 100 times", arguments: 2...4)
  func replay(_ depth: Int) throws {
    let bug = ToyBug(depth: depth)
    let threads = ScheduleThreads(count: 2)
    var strategy = RandomStrategy(seed: Seed(rawValue: 3), runsMax: 10_000)
    let found = try #require(try bug.search(&strategy, on: threads, stopping: true).first)
    let text = found.schedule.text
    for _ in 0..<100 {
      let (record, outcome) = try bug.run(ReplayChooser(try Schedule.parse(text)), on: threads)
      #expect(outcome.failed && record == found)
    }
  }

  @Test("shrinking comes to d - 1 preemptions, and says that fewer do not fail", arguments: 1...4)
  func shrink(_ depth: Int) throws {
    let bug = ToyBug(depth: depth)
    let threads = ScheduleThreads(count: 2)
    var strategy = RandomStrategy(seed: Seed(rawValue: 11), runsMax: 10_000)
    let found = try #require(try bug.search(&strategy, on: threads, stopping: true).first)
    let shrinker = ScheduleShrinker<ToyBug.Outcome>(
      attempt: { (chooser) throws(LabError) in try bug.run(chooser, on: threads) },
      fails: { _, outcome in outcome.failed })
    let shrunk = try shrinker.shrink(found, ToyBug.Outcome(failed: true))
    #expect(shrunk.outcome.failed && shrunk.isMinimal)
    #expect(shrunk.record.preemptionCount == depth - 1, "from \(found.preemptionCount)")
  }

  @Test("the same seed gives the same schedules, another one gives others")
  func seeds() throws {
    func texts(_ seed: UInt64) throws -> [String] {
      let threads = ScheduleThreads(count: 2)
      var random = RandomStrategy(seed: Seed(rawValue: seed), runsMax: 20)
      var pct = PCTStrategy(
        seed: Seed(rawValue: seed), actorCount: 2, depth: 3, runsMax: 20, decisions: 10)
      var texts: [String] = []
      while let chooser = random.nextRun() ?? pct.nextRun() {
        texts.append(try ToyBug(depth: 3).run(chooser, on: threads).0.schedule.text)
      }
      return texts
    }
    let first = try texts(1)
    #expect(try texts(1) == first && first.count == 40)
    #expect(try texts(2) != first)
  }

  @Test("a script stops an actor where it says, and a place that is not reached is refused")
  func script() throws {
    let threads = ScheduleThreads(count: 2)
    func run(_ lines: [String]) throws -> (ScheduleRecord, ToyBug.Outcome) {
      var strategy = ScriptedStrategy(lines.compactMap { ScriptLine($0) }, actors: ToyBug.actors)
      let chooser = strategy.nextRun()
      return try ToyBug(depth: 2).run(try #require(chooser), on: threads)
    }
    let (record, outcome) = try run(["a until write 0", "b to end"])
    #expect(outcome.failed && record.preemptionCount == 1 && record.ending == .finished)
    #expect(try !run(["a to end", "b 2"]).1.failed)
    #expect(try run(["a 2", "b to end"]).1.failed)
    guard case .refused(let reason) = try run(["a until nowhere"]).0.ending else {
      Issue.record("a script that nobody can follow was followed")
      return
    }
    #expect(reason.contains("a until nowhere"))
  }
}
