// ScheduleExplorerTests.swift: negative controls of the search: a run that does not repeat is
// nondeterminism and no verdict, and a failing run is shrunk and ends the search.

import Synchronization
import Testing

@testable import Findings
@testable import LabCore
@testable import Scenarios
@testable import Workload

@Suite("Schedules: search") struct ScheduleExplorerTests {
  private static let text = """
    title: t
    schema: {Dog: {_id: int primary, name: string}}
    processes: {app: [ui, background]}
    steps:
      - all: open
      - together:
          - ui: {repeat: 2, write: [{upsert: Dog, _id: 1, name: a}]}
          - background: pin
          - background: release

    """

  private func plan() throws -> ScheduledPlan {
    let scenario = try ScenarioParser.parse(Self.text, file: "t.yaml")
    return ScheduledPlan(try WorkloadPlan(scenario, seed: Seed(rawValue: 1)), rules: [])
  }

  private func explorer(
    _ plan: ScheduledPlan, _ strategy: DeclaredStrategy, runs: Int,
    _ change: @escaping (Int, ScheduledOutcome) -> ScheduledOutcome
  ) -> ScheduleExplorer {
    var declaration = ScheduleDeclaration()
    declaration.strategy = strategy
    var count = 0
    return ScheduleExplorer(
      run: { (chooser) throws(LabError) in
        count += 1
        return change(count, try plan.run(chooser))
      },
      actors: plan.actors, ruleCount: 0, declaration: declaration, seed: Seed(rawValue: 3),
      runsMax: runs, recordingsMax: 4)
  }

  private func adding(_ violation: Violation, to outcome: ScheduledOutcome) -> ScheduledOutcome {
    ScheduledOutcome(
      record: outcome.record, trace: outcome.trace, violations: [violation], hits: outcome.hits)
  }

  @Test("a run whose repetition records something else is nondeterminism, exit code 4")
  func recording() throws {
    let error = #expect(throws: LabError.self) {
      try explorer(try plan(), .random, runs: 200) { count, outcome in
        var trace = outcome.trace
        if count % 2 == 0 { trace.events.removeLast() }
        return ScheduledOutcome(
          record: outcome.record, trace: trace, violations: [], hits: outcome.hits)
      }.explore()
    }
    #expect(error?.code == .nondeterminism && error?.exitCode == .nondeterminism)
    #expect(error?.message.contains("two different runs") == true)
  }

  @Test("the same without a change: about one in sixteen is run twice, and all agree")
  func repeated() throws {
    let explored = try explorer(try plan(), .random, runs: 120) { $1 }.explore()
    #expect(explored.failure == nil && explored.counts.runCount == 120)
    #expect((2...20).contains(explored.counts.repeatedCount))
    #expect(explored.recordings.count == min(4, explored.counts.recordingCount))
  }

  @Test(
    "a promise that breaks where a writer is preempted in its publication: found, one preemption")
  func failure() throws {
    let violation = Violation(.prefix, promised: "p", got: "g")
    let explored = try explorer(try plan(), .pct, runs: 400) { _, outcome in
      let isHit = outcome.record.decisions.contains {
        $0.isPreemption && $0.place == .engine(.publishVersion)
      }
      return isHit ? adding(violation, to: outcome) : outcome
    }.explore()
    let failure = try #require(explored.failure)
    #expect(failure.record.preemptionCount == 1 && failure.isMinimal)
    #expect(failure.record.turnsInWords.contains { $0.hasSuffix("before 'publish version'") })
  }
}
