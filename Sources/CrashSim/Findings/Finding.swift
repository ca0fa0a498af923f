// Finding.swift: one broken promise with its evidence, as shown by every report.

import CrashStates

/// A class of crash states that break a promise in the same way.
public struct Finding: Codable, Sendable, Hashable {
  /// Number of the finding in its run, from 1.
  public var number: Int
  /// The promise.
  public var promised: String
  /// The line that describes the failure.
  public var headline: String
  /// The checker's output, cut to a reasonable length.
  public var got: [String]
  /// How the checker ended.
  public var ending: String
  /// The event after which the power failed.
  public var crash: String
  /// Number of marks before the crash.
  public var acknowledgedCount: Int
  /// The last mark before the crash, if there was one.
  public var lastAcknowledged: String?
  /// The lost units in words; the smallest set that still fails.
  public var lost: [String]
  /// The missing sync, with the operations before and after it, or why no sync would have helped.
  public var missingSync: [String]
  /// The persistence models that allow the state, strictest first.
  public var models: [String]
  /// Number of crash states with the same headline.
  public var stateCount: Int
  /// The argument of `faultline replay`.
  public var token: String
  /// The real file system on which it was found, in the form of `--on`; nil for a model's state.
  public var fileSystem: String?
  /// The other models and real file systems of the run with a finding of the same text.
  public var alsoSeen: [String]?
  /// The common part of the class's results; used to join the findings of several shards.
  public var classKey: String?
  /// Place of the class's first state in the exploration's order.
  public var firstOrdinal: Int?

  /// The first loss and the later event that survived, without numbers; equal for the same cause.
  public var rootCause: String?
  /// The causes whose missing sync would mend this finding as well, if they are found, too.
  package var earlierCauses: [String]?
  /// As above, at places behind what overtook the lost contents and before the crash.
  package var laterCauses: [String]?
  /// Of a lost name: the causes of other names that the same sync of their directory keeps.
  package var sharedCauses: [String]?
  /// The failing state in numbers; nil for a finding without a crash.
  public var evidence: FindingEvidence?
  /// Other classes of states with the same root cause, in full.
  public var alsoSeenAs: [Finding]?
  /// The calls of the lost operation and then of the later one that survived; nil if not recorded.
  public var callSites: [CallSite]?

  package init(
    number: Int,
    promised: String,
    headline: String,
    got: [String],
    ending: String,
    crash: String,
    acknowledgedCount: Int,
    lastAcknowledged: String? = nil,
    lost: [String],
    missingSync: [String],
    models: [String],
    stateCount: Int,
    token: String,
    fileSystem: String? = nil,
    alsoSeen: [String]? = nil,
    classKey: String? = nil,
    firstOrdinal: Int? = nil,
    rootCause: String? = nil,
    evidence: FindingEvidence? = nil,
    alsoSeenAs: [Finding]? = nil,
    callSites: [CallSite]? = nil
  ) {
    self.number = number
    self.promised = promised
    self.headline = headline
    self.got = got
    self.ending = ending
    self.crash = crash
    self.acknowledgedCount = acknowledgedCount
    self.lastAcknowledged = lastAcknowledged
    self.lost = lost
    self.missingSync = missingSync
    self.models = models
    self.stateCount = stateCount
    self.token = token
    self.fileSystem = fileSystem
    self.alsoSeen = alsoSeen
    self.classKey = classKey
    self.firstOrdinal = firstOrdinal
    self.rootCause = rootCause
    self.evidence = evidence
    self.alsoSeenAs = alsoSeenAs
    self.callSites = callSites
  }

  /// The effects of fault rules before the crash, each with the operation that it affected.
  public var injected: [String]?

  /// True when the time for explaining ran out: a state that lost less may fail, too.
  public var isExplainedInPart: Bool?

  /// The headline, and those of the other classes with the same root cause.
  public var headlines: [String] { [headline] + (alsoSeenAs ?? []).map(\.headline) }

  /// Changes the number of the finding and of the classes that it is joined with.
  package mutating func renumber(_ number: Int) {
    self.number = number
    for place in (alsoSeenAs ?? []).indices { alsoSeenAs?[place].number = number }
  }

  /// Number of crash states with this root cause.
  public var rootCauseStateCount: Int {
    (alsoSeenAs ?? []).reduce(stateCount) { $0 + $1.stateCount }
  }

  /// Whether a sync would have helped, either a missing one or one that did not work.
  public var namesSync: Bool {
    missingSync.contains { $0.contains("Missing: ") || $0.hasPrefix("Sync #") }
  }

  /// The strictest model that still allows the state: the promise fails on file systems that
  /// guarantee no more than it.
  public var weakestModel: String { models.first ?? "none" }
}

/// The extent of an exploration, and its findings.
public struct ExplorationReport: Codable, Sendable {
  /// The subject: a scenario's title or a workload's command.
  public var title: String
  /// Persistence model, by name.
  public var model: String
  /// Seed of all choices.
  public var seed: UInt64
  /// Recorded operations.
  public var operationCount: Int
  /// Recorded marks.
  public var markCount: Int
  /// Number of crash points covered.
  public var crashPointCount: Int
  /// Candidate states before deduplication.
  public var candidateCount: Int
  /// Distinct states: different content or different acknowledgements.
  public var distinctCount: Int
  /// Distinct states that were checked.
  public var exploredCount: Int
  /// Number of all crash states that the model allows, exact or as a bound.
  public var bound: String
  /// True when Faultline was asked to stop before all selected states were checked.
  public var isInterrupted = false
  /// True when the time budget ran out before all selected states were checked.
  public var isOutOfTime: Bool?
  /// Shape of the recorded trace, the same for all shards; nil if nothing was recorded.
  public var shape: String?
  /// States of crashes during recovery, which are included in the distinct and explored ones.
  public var recoveryCount: Int?
  /// The case's timeline that shows the recording; nil if none does.
  public var recording: Int?
  /// The crash points with states of their own; nil if nothing was recorded.
  public var crashPoints: [CrashPointCount]?
  /// The budget with which each of those crash points is covered once; nil if unknown.
  public var budgetOfEachCrashPoint: Int?
  /// The smallest budget that finds a failing state; nil if none was found, or unknown.
  public var findingBudget: Int?
  /// In JSON reports: the basis of the verdict, as in `coverage` and `caution`.
  var basis: ExplorationCoverage?
  /// The results for faults of the medium at rest; nil for other explorations.
  public var media: MediaOutcome?
  /// The extent of the exploration of schedules of concurrent steps; nil for others.
  public var schedules: ScheduleCounts?
  /// Line of the scenario file that requests the exploration.
  public var line: Int?
  /// Warnings and notes of a judgement without a checker; nil where there are none.
  public var remarks: [JudgingRemark]?
  /// Which steps of the engine's commits it met; nil when none.
  public var commitCoverage: CommitCoverage?
  /// Wall time of the checking.
  public var seconds: Double
  /// The findings, most informative first.
  public var findings: [Finding]

  package init(
    title: String,
    model: String,
    seed: UInt64,
    operationCount: Int,
    markCount: Int,
    crashPointCount: Int,
    candidateCount: Int,
    distinctCount: Int,
    exploredCount: Int,
    bound: String,
    isInterrupted: Bool = false,
    isOutOfTime: Bool? = nil,
    shape: String? = nil,
    recoveryCount: Int? = nil,
    recording: Int? = nil,
    crashPoints: [CrashPointCount]? = nil,
    media: MediaOutcome? = nil,
    schedules: ScheduleCounts? = nil,
    line: Int? = nil,
    commitCoverage: CommitCoverage? = nil,
    seconds: Double,
    findings: [Finding]
  ) {
    self.title = title
    self.model = model
    self.seed = seed
    self.operationCount = operationCount
    self.markCount = markCount
    self.crashPointCount = crashPointCount
    self.candidateCount = candidateCount
    self.distinctCount = distinctCount
    self.exploredCount = exploredCount
    self.bound = bound
    self.isInterrupted = isInterrupted
    self.isOutOfTime = isOutOfTime
    self.shape = shape
    self.recoveryCount = recoveryCount
    self.recording = recording
    self.crashPoints = crashPoints
    self.media = media
    self.schedules = schedules
    self.line = line
    self.commitCoverage = commitCoverage
    self.seconds = seconds
    self.findings = findings
  }

  /// States checked per second; 0 if not measured.
  public var statesPerSecond: Double { seconds > 0 ? Double(exploredCount) / seconds : 0 }
}
