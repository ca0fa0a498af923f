// ScheduleExplorer.swift: runs the schedules of a scenario, judges each, and makes a finding of the
// first one that fails, shrunk to the fewest preemptions. The first failing schedule ends the
// search, because later ones would mostly show the same failure.
// Invariant: about every 16th schedule, drawn from the seed, is run twice; two runs that differ are
// an error with code `.nondeterminism`, because then no verdict is reliable.

import Findings
import Foundation
import LabCore
import Workload

/// The results for a scenario's schedules.
struct ExploredSchedules {
  var counts = ScheduleCounts()
  /// The first schedule that failed, shrunk.
  var failure: ShrunkSchedule<ScheduledOutcome>?
  /// The first distinct recordings, each with its schedule.
  var recordings: [ScheduledOutcome] = []
  /// Number of hits of each fault rule in all runs.
  var hitCounts: [Int]
  var seconds = 0.0
  var isInterrupted = false
}

/// Runs schedules of one plan.
struct ScheduleExplorer {
  /// One run under a chooser.
  let run: (any ScheduleChooser) throws(LabError) -> ScheduledOutcome
  let actors: [String]
  /// Number of fault rules.
  let ruleCount: Int
  let declaration: ScheduleDeclaration
  let seed: Seed
  let runsMax: Int
  /// Recordings to keep for crashes.
  let recordingsMax: Int

  /// One in this many schedules is run twice.
  private static let repeatedOneIn = 16

  /// Runs all schedules of the strategy, or those up to the first failure.
  func explore() throws(LabError) -> ExploredSchedules {
    let start = ContinuousClock.now
    var explored = ExploredSchedules(
      hitCounts: [Int](repeating: 0, count: ruleCount))
    explored.counts.actorCount = actors.count
    do throws(LabError) {
      try explore(&explored)
    } catch {
      guard error.code == .interrupted else { throw error }
      explored.isInterrupted = true
    }
    explored.seconds = start.duration(to: .now).inSeconds
    return explored
  }

  private func explore(_ explored: inout ExploredSchedules) throws(LabError) {
    // Hashes of texts, not the texts: there may be a million of them.
    var keys: Set<UInt64> = []
    var drawer = PRNG(seed.derived("twice"))
    // First a run without preemptions: it is the reference, and shows how long runs are.
    let usual = declaration.strategy == .scripted ? nil : try run(UsualChooser())
    var strategy = declaration.makeStrategy(
      seed: seed.derived("strategy"), actors: actors,
      decisions: usual?.record.decisions.count ?? 0, runs: runsMax)
    while explored.failure == nil, let chooser = strategy.nextRun() {
      try Interruption.check()
      let outcome = try run(chooser)
      try refuse(outcome)
      if drawer.below(Self.repeatedOneIn) == 0 {
        try compare(outcome)
        explored.counts.repeatedCount += 1
      }
      strategy.take(outcome.record)
      explored.counts.runCount += 1
      explored.counts.decisionsMax = max(
        explored.counts.decisionsMax, outcome.record.decisions.count)
      if let count = outcome.compactionCount {
        explored.counts.compactionCount = (explored.counts.compactionCount ?? 0) + count
      }
      for (index, hits) in outcome.hits.enumerated() { explored.hitCounts[index] += hits.hitCount }
      let key = Seed(rawValue: 0).derived(outcome.recordingKey).rawValue
      if keys.insert(key).inserted, keys.count <= recordingsMax {
        explored.recordings.append(outcome)
      }
      if !outcome.violations.isEmpty { explored.failure = try shrink(outcome) }
    }
    explored.counts.recordingCount = keys.count
    explored.counts.isComplete = explored.failure == nil && strategy.isComplete
  }

  private func refuse(_ outcome: ScheduledOutcome) throws(LabError) {
    guard case .refused(let reason) = outcome.record.ending else { return }
    guard declaration.strategy == .scripted else {
      throw LabError(.nondeterminism, "schedule: \(reason)")
    }
    throw .usage("schedule: script: \(reason)")
  }

  /// Runs a schedule again; the result must be the same.
  private func compare(_ outcome: ScheduledOutcome) throws(LabError) {
    let again = try run(ReplayChooser(outcome.record.schedule))
    guard again.fingerprint != outcome.fingerprint else { return }
    let what: String
    if case .refused(let reason) = again.record.ending {
      what = reason
    } else if again.violations != outcome.violations {
      what = "first \(outcome.violations), then \(again.violations)"
    } else {
      what = "the recordings differ (\(outcome.trace.shape), \(again.trace.shape))"
    }
    throw LabError(
      .nondeterminism,
      "schedule: the same schedule gave two different runs: \(what); something decides here that "
        + "no point of the schedule comes before")
  }

  private func shrink(
    _ outcome: ScheduledOutcome
  ) throws(LabError) -> ShrunkSchedule<ScheduledOutcome> {
    let key = FailureClass.key(of: outcome.result)
    let shrinker = ScheduleShrinker<ScheduledOutcome>(
      attempt: { (chooser) throws(LabError) in
        let outcome = try run(chooser)
        return (outcome.record, outcome)
      },
      fails: { _, outcome in
        !outcome.violations.isEmpty && FailureClass.key(of: outcome.result) == key
      })
    guard declaration.strategy != .scripted else {
      return ShrunkSchedule(record: outcome.record, outcome: outcome, isMinimal: false, runs: 0)
    }
    do throws(LabError) {
      return try shrinker.shrink(outcome.record, outcome)
    } catch {
      guard error.code == .interrupted else { throw error }
      return ShrunkSchedule(record: outcome.record, outcome: outcome, isMinimal: false, runs: 0)
    }
  }
}
