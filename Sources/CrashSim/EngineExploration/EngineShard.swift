// EngineShard.swift: a child process that judges many crash states of the engine, one after
// another.
// Invariants: before each state its ordinal is written to the progress file, and before each state
// of its recovery that state's keys, so that a trap, a signal or a hang is the verdict of that
// state and costs one process; each failing state is one line of output.

import CrashStates
import Exploration
import Findings
import Foundation
import Glibc
import LabCore
import Oracles
import Recording
import Workload

/// The job of a shard.
package struct EngineJob: Codable, Sendable {
  /// The recorded run.
  package var tracePath: String
  /// The workload's plan.
  package var plan: WorkloadPlan
  /// Persistence model, as accepted by `PersistenceModel.chosen`.
  package var model: String
  /// Its name.
  var modelName: String { PersistenceModel.name(ofSpecification: model) }
  /// Seed of the exploration.
  package var seed: UInt64
  /// Most states; nil is all.
  package var budget: Int?
  /// Only states in which a prefix of the operations survived.
  package var onlyPrefixes = false
  /// States to explore of each recovery, of each recovery from those, and so on; empty for none.
  package var recoveryBudgets: [Int] = []
  /// Syncs that the disk ignores; if given, only the states that they prevent are judged, up to the
  /// first that fails.
  package var ignoredSyncs: [Int] = []
  /// Faults of the medium to judge instead of crash states; nil judges crash states.
  package var media: MediaDeclaration?
  /// For tests of Faultline only: states at which the judging process fails.
  ///
  /// They show that such a failure is the verdict of its state, and does not affect other states.
  package var plantedEndings: [PlantedEnding] = []
  /// The file with the selected states, if any; without it a child selects them again.
  package var selectionPath: String?

  package init(
    tracePath: String,
    plan: WorkloadPlan,
    model: String,
    seed: UInt64,
    budget: Int? = nil,
    onlyPrefixes: Bool = false,
    recoveryBudgets: [Int] = [],
    ignoredSyncs: [Int] = [],
    media: MediaDeclaration? = nil,
    plantedEndings: [PlantedEnding] = [],
    selectionPath: String? = nil
  ) {
    self.tracePath = tracePath
    self.plan = plan
    self.model = model
    self.seed = seed
    self.budget = budget
    self.onlyPrefixes = onlyPrefixes
    self.recoveryBudgets = recoveryBudgets
    self.ignoredSyncs = ignoredSyncs
    self.media = media
    self.plantedEndings = plantedEndings
    self.selectionPath = selectionPath
  }

  /// The enumerator of the trace's states.
  package func enumerator() throws(LabError) -> CrashStateEnumerator {
    let models = try PersistenceModel.chosen(model)
    return try CrashStateEnumerator(
      trace: try trace(), model: models[0], seed: Seed(rawValue: seed), ignoring: ignoredSyncs)
  }

  /// The recorded run without the database's shared memory.
  package func trace() throws(LabError) -> Trace {
    try TraceFile.load(tracePath).without(DatabaseFile.isSharedMemory)
  }

  /// Writes the job for a child, with the states that it selects.
  mutating func save(to path: String, selecting plan: some Encodable) throws(LabError) {
    let selectionPath = path + ".selection"
    try JobFile.write(plan, to: selectionPath)
    self.selectionPath = selectionPath
    try save(to: path)
  }

  /// Writes the job for a child.
  package func save(to path: String) throws(LabError) { try JobFile.write(self, to: path) }

  static func load(_ path: String) throws(LabError) -> EngineJob { try JobFile.read(path) }

  /// The states that the job selects.
  func selection(of enumerator: CrashStateEnumerator) throws(LabError) -> ExplorationPlan {
    guard let selectionPath else { return try enumerator.plan(budget: budget) }
    return try JobFile.read(selectionPath)
  }

  /// The faults of the medium that the job selects.
  func mediaPlan(_ declaration: MediaDeclaration) throws(LabError) -> MediaPlan {
    guard let selectionPath else {
      return try MediaPlan(
        try trace(), declaration, paths: EngineCheck.knownFiles(of: plan),
        seed: Seed(rawValue: seed).derived("media"), structure: { try StructureMap($0) })
    }
    return try JobFile.read(selectionPath)
  }
}

/// A failure of the judging process, planted at one state.
package struct PlantedEnding: Codable, Sendable, Hashable {
  /// The kind of failure.
  package enum Kind: String, Codable, Sendable {
    /// It traps, like a failed precondition of the engine.
    case trap
    /// It stops answering.
    case hang
    /// It is killed by SIGKILL, as when memory runs out.
    case kill
  }

  /// Key of the state; nil is every state.
  package var state: String?
  /// The states in which earlier recoveries were interrupted (`RecoveryPath`); empty without.
  package var second: String
  /// The failure.
  package var kind: Kind

  /// Makes a planted ending.
  package init(at state: String?, second: String = "", _ kind: Kind) {
    self.state = state
    self.second = second
    self.kind = kind
  }

  /// Ends or hangs the process accordingly.
  func trigger() {
    switch kind {
    case .trap: preconditionFailure("planted: the engine traps at this state")
    case .hang: while true { Thread.sleep(forTimeInterval: 60) }
    case .kill: Glibc.kill(getpid(), SIGKILL)
    }
  }
}

/// A line of a shard's output.
enum ShardLine: Codable, Sendable {
  /// A state that breaks promises; `second` names a state of its recovery (`RecoveryPath`).
  case failure(ordinal: Int, key: String, second: String?, violations: [Violation])
  /// All states of the shard are judged.
  case done(states: Int, recoveryStates: Int, media: MediaOutcome? = nil)
}

/// The child's side.
package struct EngineShard: ChildProgram {
  package static let name = "check-shard"
  package static let parameters = ["JOB", "INDEX", "COUNT", "FIRST", "PROGRESS"]
  /// The job file.
  let job: String
  let shard: Shard
  /// States that the plan visits up to the ordinal before this one have been judged.
  let first: Int
  /// The file for the process's progress.
  let progress: String

  package var arguments: [String] {
    [job, "\(shard.index)", "\(shard.count)", "\(first)", progress]
  }

  init(job: String, shard: Shard, first: Int, progress: String) {
    self.job = job
    self.shard = shard
    self.first = first
    self.progress = progress
  }

  package init(_ arguments: inout ChildArguments) throws(LabError) {
    job = arguments.text()
    let index: Int = try arguments.number()
    let count: Int = try arguments.number()
    guard count > 0, (0..<count).contains(index) else {
      throw arguments.misuse("shard \(index) of \(count)")
    }
    shard = Shard(index: index, of: count)
    first = try arguments.number()
    progress = arguments.text()
  }

  /// Judges the states of the shard.
  package func run() throws(LabError) -> Int32 {
    let job = try EngineJob.load(job)
    if let media = job.media {
      try Self.runMedia(job, media, shard: shard, from: first, progress: progress)
    } else {
      try judgeStates(of: job)
    }
    return ExitCode.held.rawValue
  }

  private func judgeStates(of job: EngineJob) throws(LabError) {
    let enumerator = try job.enumerator()
    let plan = try job.selection(of: enumerator)
    let judge = try EngineJudge(job, enumerator: enumerator)
    let progress = try ProgressFile(path: progress)
    var done = ShardProgress()
    try enumerator.visit(plan, shard: shard) { (explored, image) throws(LabError) in
      let isJudged = first > 0 && !plan.visits(first - 1, before: explored.ordinal)
      if isJudged || !job.wants(explored) { return .goOn }
      done.ordinal = explored.ordinal
      progress.write(done)
      let found = try judge.judge(explored, image) { path in
        done.second = path.description
        progress.write(done)
        done.recoveryStates += 1
      }
      done.second = ""
      if let found { try Self.print(found) }
      done.states += 1
      return found != nil && !job.ignoredSyncs.isEmpty ? .stop : .goOn
    }
    try Self.print(.done(states: done.states, recoveryStates: done.recoveryStates))
  }

  static func print(_ line: ShardLine) throws(LabError) {
    FileHandle.standardOutput.write(Data(try JSONLine.encode(line)))
  }
}

extension EngineJob {
  /// False for states that the scenario excludes.
  func wants(_ explored: ExploredState) -> Bool {
    guard onlyPrefixes else { return true }
    return explored.state.torn == nil
      && (explored.state.kept.last ?? -1) < (explored.state.lost.first ?? Int.max)
  }
}

/// Judges states of one job in this process.
package final class EngineJudge {
  private let job: EngineJob
  private let enumerator: CrashStateEnumerator
  private let check: EngineCheck
  private let backend = ImageBackend()
  private let recordsCallStacks: Bool

  /// Judges the states of a job.
  /// - Parameters:
  ///   - job: The job.
  ///   - enumerator: Its enumerator.
  ///   - recordsCallStacks: Whether recordings of recoveries have the call stack of each call.
  /// - Throws: `LabError` when the recorded run does not belong to the job's plan.
  package init(
    _ job: EngineJob, enumerator: CrashStateEnumerator, recordsCallStacks: Bool = false
  ) throws(LabError) {
    self.job = job
    self.recordsCallStacks = recordsCallStacks
    self.enumerator = enumerator
    check = try EngineCheck(job.plan, marks: enumerator.table.trace.marks)
  }

  /// Judges a state, and the crashes during its recovery if the job requests them.
  /// - Parameters:
  ///   - explored: The state.
  ///   - image: Its tree.
  ///   - begin: Called before each state of a recovery is judged.
  /// - Returns: The line to print, or nil when all promises held.
  /// - Throws: `LabError` when an image or a recovery cannot be created.
  func judge(
    _ explored: ExploredState, _ image: CrashImage, beginning begin: (RecoveryPath) -> Void
  ) throws(LabError) -> ShardLine? {
    let state = explored.state
    let key = enumerator.key(of: state).description
    endAsPlanted(at: key)
    let violations = try judge(
      image, marksSeen: state.acknowledgedMarks, ordinal: explored.ordinal, by: check)
    if !violations.isEmpty {
      return .failure(ordinal: explored.ordinal, key: key, second: nil, violations: violations)
    }
    let failing = try judgeRecovery(
      from: image, marksSeen: state.acknowledgedMarks, by: check, job.recoveryBudgets[...],
      path: RecoveryPath()
    ) { path in
      begin(path)
      endAsPlanted(at: key, path)
    }
    return failing.map { path, violations in
      .failure(
        ordinal: explored.ordinal, key: key, second: path.description, violations: violations)
    }
  }

  /// Judges the states of a recovery, and of the recoveries from them.
  /// - Returns: The first state that breaks promises.
  private func judgeRecovery(
    from image: CrashImage, marksSeen: Int, by check: EngineCheck, _ budgets: ArraySlice<Int>,
    path: RecoveryPath, beginning begin: (RecoveryPath) -> Void
  ) throws(LabError) -> (path: RecoveryPath, violations: [Violation])? {
    guard let budget = budgets.first,
      let recovery = try recovery(image, marksSeen: marksSeen, by: check)
    else { return nil }
    let inner = try Self.enumerator(of: recovery, job)
    var failure: (path: RecoveryPath, violations: [Violation])?
    try inner.visit(try inner.plan(budget: budget)) { (explored, image) throws(LabError) in
      let path = path.appending(inner.key(of: explored.state))
      begin(path)
      let marksSeen = explored.state.acknowledgedMarks
      let violations = try judge(
        image, marksSeen: marksSeen, ordinal: explored.ordinal, by: recovery.check)
      if !violations.isEmpty {
        failure = (path, violations)
      } else {
        failure = try judgeRecovery(
          from: image, marksSeen: marksSeen, by: recovery.check, budgets.dropFirst(), path: path,
          beginning: begin)
      }
      return failure == nil ? .goOn : .stop
    }
    return failure
  }

  private func endAsPlanted(at key: String, _ path: RecoveryPath = RecoveryPath()) {
    guard !job.plantedEndings.isEmpty else { return }
    for planted in job.plantedEndings
    where (planted.state ?? key) == key && planted.second == path.description {
      planted.trigger()
    }
  }

  /// Judges one image with every oracle.
  func judge(_ image: CrashImage, marksSeen: Int) throws(LabError) -> [Violation] {
    try judge(image, marksSeen: marksSeen, ordinal: 0, by: check)
  }

  private func judge(
    _ image: CrashImage, marksSeen: Int, ordinal: Int, by check: EngineCheck
  ) throws(LabError) -> [Violation] {
    let isThere = try backend.load(image, at: DatabaseFile.name)
    var found = check.judge(isThere ? backend : nil, marksSeen: marksSeen, ordinal: ordinal)
    for copy in check.plannedCopies {
      let isThere = try backend.load(image, at: copy.fileName)
      found += check.judge(copy, isThere ? backend : nil, marksSeen: marksSeen)
    }
    return found
  }

  /// Records the recovery from an image.
  private func recovery(
    _ image: CrashImage, marksSeen: Int, by check: EngineCheck
  ) throws(LabError) -> RecoveryRun? {
    guard try backend.load(image, at: DatabaseFile.name) else { return nil }
    return check.recoveryRun(
      backend, marksSeen: marksSeen, recordsCallStacks: recordsCallStacks)
  }

  private static func enumerator(
    of recovery: RecoveryRun, _ job: EngineJob
  ) throws(LabError) -> CrashStateEnumerator {
    let models = try PersistenceModel.chosen(job.model)
    return try CrashStateEnumerator(
      trace: recovery.trace, model: models[0], seed: Seed(rawValue: job.seed))
  }

  /// Judges one state by its key, or one of a recovery from it.
  ///
  /// If the job requests crashes in the recovery from there, the database must survive that
  /// recovery.
  func judge(key: String, second: String?) throws(LabError) -> [Violation] {
    let state = try enumerator.state(for: try Self.parse(key))
    let path = try RecoveryPath(parsing: second ?? "")
    endAsPlanted(at: enumerator.key(of: state).description, path)
    return try withImage(of: state, path) { (image, marksSeen, check) throws(LabError) in
      let violations = try judge(image, marksSeen: marksSeen, ordinal: 0, by: check)
      if violations.isEmpty, path.keys.count < job.recoveryBudgets.count {
        _ = try recovery(image, marksSeen: marksSeen, by: check)
      }
      return violations
    }
  }

  /// The tree of a state, or of one of a recovery from it.
  package func tree(key: String, second: String?) throws(LabError) -> TreeImage {
    let state = try enumerator.state(for: try Self.parse(key))
    let path = try RecoveryPath(parsing: second ?? "")
    return try withImage(of: state, path) { (image, _, _) throws(LabError) in image.treeImage() }
  }

  /// The recordings that lead to a state: of the workload, then of each recovery, each with the
  /// state in which the power cut left it.
  /// - Throws: `LabError` when one of the recoveries can no longer be recorded.
  package func recordings(key: String, second: String?) throws(LabError) -> [CutRecording] {
    let state = try enumerator.state(for: try Self.parse(key))
    var recordings = [CutRecording(table: enumerator.table, state: state)]
    let path = try RecoveryPath(parsing: second ?? "")
    try withImage(of: state, path, passing: { recordings.append($0) }, body: { _, _, _ in })
    return recordings
  }

  private typealias ImageUse<Result> = (CrashImage, _ marksSeen: Int, EngineCheck) throws(LabError)
    -> Result

  /// Calls `body` with the image of a state, or of one of a recovery from it; `pass` is called with
  /// each recovery's recording before.
  private func withImage<Result>(
    of state: CrashState, _ path: RecoveryPath, passing pass: (CutRecording) -> Void = { _ in },
    body: ImageUse<Result>
  ) throws(LabError) -> Result {
    return try enumerator.withImage(of: state) { (image) throws(LabError) in
      try follow(
        path.keys[...], from: image, marksSeen: state.acknowledgedMarks, by: check, pass, body)
    }
  }

  private func follow<Result>(
    _ keys: ArraySlice<StateKey>, from image: CrashImage, marksSeen: Int, by check: EngineCheck,
    _ pass: (CutRecording) -> Void, _ body: ImageUse<Result>
  ) throws(LabError) -> Result {
    guard let key = keys.first else { return try body(image, marksSeen, check) }
    guard let recovery = try recovery(image, marksSeen: marksSeen, by: check) else {
      throw .internalError("no recovery can be recorded before state \(key)")
    }
    let inner = try Self.enumerator(of: recovery, job)
    let state = try inner.state(for: key)
    pass(CutRecording(table: inner.table, state: state))
    return try inner.withImage(of: state) { (image) throws(LabError) in
      try follow(
        keys.dropFirst(), from: image, marksSeen: state.acknowledgedMarks, by: recovery.check, pass,
        body)
    }
  }

  private static func parse(_ text: String) throws(LabError) -> StateKey {
    guard let key = StateKey(parsing: text) else {
      throw .usage("the state '\(text)' cannot be read")
    }
    return key
  }
}
