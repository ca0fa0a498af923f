// ScheduledRun.swift: runs a plan once in this process, over its own files (ScheduleStage): in
// lockstep up to the block of concurrent steps, that block under a chooser, and the rest in
// lockstep.
// Invariants: no state of one run remains for the next; a mark is in the trace before another actor
// continues; `begin` is marked when a transaction gets its turn, so marks are in the order of
// turns.

import Engine
import FaultFS
import Findings
import LabCore
import Recording
import Synchronization
import Workers
import Workload

/// The result of one run.
struct ScheduledOutcome: Sendable {
  let record: ScheduleRecord
  let trace: Trace
  let violations: [Violation]
  /// Number of hits of each fault rule.
  let hits: [RuleHits]
  /// Number of concurrent compactions performed; nil if the plan has none.
  var compactionCount: Int?

  /// Equal for runs with the same behavior.
  var fingerprint: String {
    let marks = trace.marks.map(\.text).joined()
    return "\(record.schedule.text)\(trace.shape)\n\(marks)\(violations)\n\(record.ending)"
  }

  /// Equal for recordings with the same crash states.
  var recordingKey: String { trace.shape + trace.marks.map(\.text).joined() }

  /// The verdict on the run.
  var result: CheckResult { CheckResult(violations) }
}

/// What can be run under one chooser after the other.
protocol ScheduledProgram {
  /// The actors' names.
  var actors: [String] { get }
  /// One run, judged.
  func run(_ chooser: any ScheduleChooser) throws(LabError) -> ScheduledOutcome
}

extension ScheduledPlan: ScheduledProgram {
  func run(_ chooser: any ScheduleChooser) throws(LabError) -> ScheduledOutcome {
    try run(chooser, finalTree: nil)
  }
}

/// Runs a plan with one chooser after the other.
struct ScheduledPlan {
  let plan: WorkloadPlan
  let rules: [FaultRule]
  let limits: ScheduleLimits
  private let points: DeclaredPoints
  /// The mount for the files; nil puts each run in a tree in memory.
  private let mount: MountStage?
  private let threads: ScheduleThreads
  /// The actors of the block, and their commands.
  let actors: [String]
  private let commands: [[WorkerCommand]]
  private let before: [WorkerCommand]
  private let after: [WorkerCommand]

  /// Prepares the runs of a plan that has a block of concurrent commands.
  /// - Parameters:
  ///   - plan: The actors' commands.
  ///   - rules: The faults of each run.
  ///   - limits: When a run is given up.
  ///   - points: The points at which the next actor is chosen.
  ///   - mount: The mount for the files; nil for plans that need none.
  init(
    _ plan: WorkloadPlan, rules: [FaultRule], limits: ScheduleLimits = .init(),
    points: DeclaredPoints = .steps, on mount: FaultFSClient? = nil
  ) {
    self.mount = mount.map { MountStage(fileSystem: $0) }
    self.plan = plan
    self.rules = rules
    self.limits = limits
    self.points = points
    let block = plan.commands.filter { $0.block != nil }
    var actors: [String] = []
    for command in block where !actors.contains(command.actor) { actors.append(command.actor) }
    self.actors = actors
    commands = actors.map { actor in block.filter { $0.actor == actor } }
    let first = block.first?.index ?? 0
    before = plan.commands.filter { $0.block == nil && $0.index < first }
    after = plan.commands.filter { $0.block == nil && $0.index > first }
    threads = ScheduleThreads(count: actors.count)
  }

  /// Whether an actor compacts concurrently with others.
  private var compacts: Bool { commands.joined().contains { $0.action == .compact } }

  /// One run.
  /// - Parameters:
  ///   - chooser: Selects the next actor.
  ///   - finalTree: Called with the tree at the end of the run.
  /// - Returns: The run's result, judged.
  /// - Throws: `LabError` when Faultline fails, or an actor hangs outside of the scheduler's
  ///   control.
  func run(
    _ chooser: any ScheduleChooser, finalTree: ((TreeImage) -> Void)?
  ) throws(LabError) -> ScheduledOutcome {
    let stage: any ScheduleStage = if let mount { mount } else { try SimulatedFileSystem() }
    try stage.begin(rules)
    let scheduler = Scheduler(actors: actors, chooser: chooser, limits: limits)
    let turns = TurnLog()
    let pins = PinWatch()
    let session = session(stage, scheduler, turns, pins)
    pins.session = session
    defer {
      pins.session = nil
      session.end()
    }
    let tolerated = rules.isEmpty ? [] : ScenarioRecorder.tolerated
    var client = WorkerClient(plan, tolerating: tolerated)
    var (violations, isReady) = try lockstep(before, session, &client, stage)
    let log = ScheduleLog()
    let record = try scheduler.run(on: threads) { [commands, client, isReady] actor in
      guard isReady else { return }
      for (index, command) in commands[actor].enumerated() {
        scheduler.reach(.command(index + 1))
        if scheduler.isReleased { return }
        let floor = log.newestAcknowledged
        let answer = session.run(command)
        pins.look()
        if scheduler.isReleased { return }
        for entry in client.entriesAfter(command, answer) { stage.append(entry.mark) }
        log.append(ScheduleLog.Event(command: command, answer: answer, floor: floor))
        // The following commands depend on this one.
        if case .failed = answer, command.transaction == nil, !command.mayBeRefused { return }
      }
    }
    switch record.ending {
    case .refused: break
    case .finished:
      violations += try log.judge(with: &client) + turns.violations(actors) + pins.violations
      // The following commands depend on this block.
      if violations.isEmpty, isReady {
        violations += try lockstep(after, session, &client, stage).violations
      }
    case .deadlock(let waits):
      violations.append(
        Violation(
          .liveness, promised: "at least one actor can always continue",
          got: "deadlock: \(waits.joined(separator: ", "))"))
    case .endless(let count):
      violations.append(
        Violation(
          .liveness, promised: "steps that run side by side end when each gets its turn",
          got: "no end after \(count) decisions"))
    }
    let (trace, hits) = try stage.end()
    if let finalTree { finalTree(try stage.tree()) }
    return ScheduledOutcome(
      record: record, trace: trace, violations: violations, hits: hits,
      compactionCount: compacts ? log.compactionCount : nil)
  }

  private func session(
    _ stage: any ScheduleStage, _ scheduler: Scheduler, _ turns: TurnLog, _ pins: PinWatch
  ) -> WorkerSession {
    let hook = ScheduleHook(
      meetsShared: points == .shared,
      reach: { point in
        if scheduler.caller != nil { pins.look() }
        // Recorded before another actor continues: the turn was given when the point was reached.
        if point == .takeTurn, let actor = scheduler.caller { turns.take(actor) }
        scheduler.reach(.engine(point))
      },
      wait: { reason, isBounded, isOver in
        if reason == .turn, let actor = scheduler.caller { turns.queue(actor) }
        return scheduler.wait(for: reason.description, isBounded: isBounded, until: isOver)
      })
    return WorkerSession(
      open: { (declaration) throws(EngineError) -> Database in
        var options = declaration.options()
        options.coordination.schedule = hook
        options.coordination.now = { UInt64(scheduler.clock) }
        options.coordination.decorate = { backend in
          ScheduledBackend(backend) { scheduler.reach($0) }
        }
        return try stage.open(options)
      },
      didBegin: { transaction, version in
        guard scheduler.isRunning else { return }
        let number = transaction.number
        stage.append(AckLog.Entry.begin(number).mark)
        stage.append(AckLog.Entry.number(number, version: version).mark)
      })
  }

  /// Commands that run one after the other.
  /// - Returns: Broken promises, and whether the database is open for the following commands.
  private func lockstep(
    _ commands: [WorkerCommand], _ session: WorkerSession, _ client: inout WorkerClient,
    _ stage: any ScheduleStage
  ) throws(LabError) -> (violations: [Violation], isOpen: Bool) {
    var violations: [Violation] = []
    for command in commands {
      for entry in client.entriesBefore(command) { stage.append(entry.mark) }
      let answer = session.run(command)
      for entry in client.entriesAfter(command, answer) { stage.append(entry.mark) }
      violations += try client.judge(command, answer)
      // Without an open database no further command can run.
      if case .failed = answer, command.opens { return (violations, false) }
    }
    return (violations, true)
  }
}
