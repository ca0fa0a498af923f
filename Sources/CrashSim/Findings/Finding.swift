// Finding.swift: one broken promise with its evidence, as every report shows it.

import CrashStates

/// A class of crash states that break one promise in one way.
public struct Finding: Codable, Sendable, Hashable {
  /// Number of the finding in its run, from 1.
  public var number: Int
  /// What was promised.
  public var promised: String
  /// The one line that says what came back.
  public var headline: String
  /// All that the checker said, cut at a sensible length.
  public var got: [String]
  /// How the checker ended.
  public var ending: String
  /// After which event the power went.
  public var crash: String
  /// How many marks the workload had given, and the last of them.
  public var acknowledgedCount: Int
  /// The last mark before the crash, if there was one.
  public var lastAcknowledged: String?
  /// The units that were lost, in words; the smallest set that still fails.
  public var lost: [String]
  /// Which sync was missing, between which operations, or why none would have helped.
  public var missingSync: [String]
  /// The persistence models that allow the state, strictest first.
  public var models: [String]
  /// Number of crash states with the same headline.
  public var stateCount: Int
  /// What `faultline replay` takes.
  public var token: String
  /// The real file system that it was seen on, as `--on` takes it; nil for a model's state.
  public var fileSystem: String?
  /// The other models and real file systems of the run that gave a finding of the same words.
  public var alsoSeen: [String]?
  /// What the states of the class have in common; joins the findings of several shards.
  public var classKey: String?
  /// Place of the class's first state in the exploration's order.
  public var firstOrdinal: Int?

  /// What was lost first and what overtook it, numbers aside; equal for findings of one cause.
  public var rootCause: String?
  /// The failing state in numbers; nil of a finding without a crash.
  public var evidence: FindingEvidence?
  /// Other classes of states with the same root cause, each in full.
  public var alsoSeenAs: [Finding]?
  /// Where the program asked for what was lost, and then for what overtook it; nil when the
  /// recording does not say.
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

  /// What fault rules had done before the crash, each with the operation that it met.
  public var injected: [String]?

  /// True when the time for explaining ended first: a state that lost less may fail, too.
  public var isExplainedInPart: Bool?

  /// The headline, and those of the other classes with the same root cause.
  public var headlines: [String] { [headline] + (alsoSeenAs ?? []).map(\.headline) }

  /// Gives the finding another number, and with it the classes that it is joined with.
  package mutating func renumber(_ number: Int) {
    self.number = number
    for place in (alsoSeenAs ?? []).indices { alsoSeenAs?[place].number = number }
  }

  /// Number of crash states with this root cause.
  public var rootCauseStateCount: Int {
    (alsoSeenAs ?? []).reduce(stateCount) { $0 + $1.stateCount }
  }

  /// Whether a sync would have helped, be it one that is missing or one that did not work.
  public var namesSync: Bool {
    missingSync.contains { $0.contains("Missing: ") || $0.hasPrefix("Sync #") }
  }

  /// The strictest model that still allows the state: a promise that needs less than this model
  /// gives.
  public var weakestModel: String { models.first ?? "none" }
}

/// How far an exploration went, and what it found.
public struct ExplorationReport: Codable, Sendable {
  /// What was explored: a scenario's title or a workload's command.
  public var title: String
  /// Persistence model, by name.
  public var model: String
  /// Seed of all choices.
  public var seed: UInt64
  /// Recorded operations.
  public var operationCount: Int
  /// Recorded marks.
  public var markCount: Int
  /// Crash points looked at.
  public var crashPointCount: Int
  /// Candidate states before deduplication.
  public var candidateCount: Int
  /// Distinct states: different content or different acknowledgements.
  public var distinctCount: Int
  /// Distinct states that were checked.
  public var exploredCount: Int
  /// Number of all crash states that the model allows, exact or as a bound.
  public var bound: String
  /// True when the lab was asked to stop before all selected states were checked.
  public var isInterrupted = false
  /// True when the time budget ended before all selected states were checked.
  public var isOutOfTime: Bool?
  /// Shape of the recorded trace, the same for all shards; nil where nothing was recorded.
  public var shape: String?
  /// States of crashes during recovery, which are among the distinct and the explored ones.
  public var recoveryCount: Int?
  /// Which of the case's timelines shows what was explored; nil when none does.
  public var recording: Int?
  /// The crash points that have states of their own; nil where nothing was recorded.
  public var crashPoints: [CrashPointCount]?
  /// The budget with which each of those crash points is looked at once; nil where unknown.
  public var budgetOfEachCrashPoint: Int?
  /// The smallest budget with which a failing state is found; nil when none was, or unknown.
  public var findingBudget: Int?
  /// In JSON reports: what the verdict rests on, as `coverage` and `caution` say.
  var basis: ExplorationCoverage?
  /// Of faults of the medium at rest: what came of them; nil for other explorations.
  public var media: MediaOutcome?
  /// Of schedules of steps that run side by side: how far they were explored; nil for others.
  public var schedules: ScheduleCounts?
  /// Line of the scenario file that asks for the exploration.
  public var line: Int?
  /// Warnings and notes of a judgement without a checker; nil where there are none.
  public var remarks: [JudgingRemark]?
  /// Which steps of the engine's commits it met; nil when none.
  public var commitCoverage: CommitCoverage?
  /// Wall time of the checking.
  public var seconds: Double
  /// The findings, most telling first.
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

  /// States checked in a second; 0 when nothing was measured.
  public var statesPerSecond: Double { seconds > 0 ? Double(exploredCount) / seconds : 0 }
}
