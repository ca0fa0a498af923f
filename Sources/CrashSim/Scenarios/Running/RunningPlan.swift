// RunningPlan.swift: the execution of a plan: which worker runs the next command, how its answer is
// judged, and which processes are dead, stopped or have work to repeat.

import Exploration
import Findings
import Glibc
import LabCore
import Workers
import Workload

/// A plan during its execution.
struct RunningPlan {
  let plan: WorkloadPlan
  let recorder: ScenarioRecorder
  let kill: PlannedKill?
  /// The index of the kill's rule among the rules in force.
  private(set) var ruleIndex: Int?
  private let tolerated: Set<String>
  private let healing: () throws(LabError) -> Void
  private var hasFailed = false
  var client: WorkerClient
  var workers: [String: any ScenarioWorker] = [:]
  /// The process that was killed as planned.
  private(set) var killed: String?
  /// The process that is stopped within a commit, and its current command.
  var stopped: (process: String, command: WorkerCommand)?
  /// Number of commands sent to the process to be killed.
  private var commandsTold = 0
  var pinOwners: [String: String] = [:]
  /// The tables may be missing, because their creator was killed.
  private var owesTables = false
  var outcome = WorkerRun()

  init(
    _ plan: WorkloadPlan, _ recorder: ScenarioRecorder, _ kill: PlannedKill?,
    tolerating tolerated: Set<String>, healing: @escaping () throws(LabError) -> Void
  ) {
    self.plan = plan
    self.recorder = recorder
    self.kill = kill
    self.tolerated = tolerated
    self.healing = healing
    client = WorkerClient(plan, tolerating: tolerated)
  }

  func end() {
    for worker in workers.values { worker.end() }
  }

  /// Runs one command.
  /// - Returns: Whether any process is left to run the next one.
  mutating func perform(_ command: WorkerCommand) throws(LabError) -> Bool {
    let process = plan.process(of: command.actor)
    if case .pin(let name) = command.action { pinOwners[name] = process }
    if let killed {
      if process == killed {
        if case .createTables = command.action { owesTables = true }
        return true
      }
    }
    try resume(before: command, of: process)
    switch command.action {
    case .process(let event):
      if try disturb(event, process, command) { return true }
    case .file(let event):
      try recorder.backend.perform(event, seed: Seed(rawValue: plan.seed &+ UInt64(command.index)))
      return true
    default: break
    }
    if killed != nil || hasFailed || stopped != nil, case .expect(let claim) = command.action,
      !holdsWhateverIsThere(claim)
    {
      return true
    }
    let worker = try worker(of: process)
    if kill?.process == process, killed == nil {
      commandsTold += 1
      if case .command(commandsTold) = kill?.moment {
        worker.end()
        return try recordDeath(process, over: command, .signalled(SIGKILL))
      }
    }
    for entry in client.entriesBefore(command) { try mark(entry) }
    recorder.watch?.current = worker.process.map {
      WorkerWatch.Asked(process: $0, actor: command.actor)
    }
    switch try reply(of: worker, to: armed(command, of: process), process) {
    case .ended(let ending): return try end(of: process, over: command, ending)
    case .answer(.stopped):
      try pause(process, over: command)
      return true
    case .answer(let answer):
      for entry in client.entriesAfter(command, answer) { try mark(entry) }
      outcome.violations += try client.judge(command, answer)
      if case .failed(let code, _) = answer, tolerated.contains(code) {
        return try startAgain(command)
      }
      // Without an open database no further command can run.
      if case .failed = answer, command.opens { return command.fails != nil }
      guard owesTables, case .open = command.action, case .done = answer else { return true }
      owesTables = false
      return try perform(
        WorkerCommand(
          index: command.index, actor: command.actor, action: .createTables(plan.tables),
          database: command.database))
    }
  }

  /// Reacts to an error like a program: reopens the database.
  private mutating func startAgain(_ command: WorkerCommand) throws(LabError) -> Bool {
    // A command fails because of the one fault, or because of the handle that it affected.
    guard !hasFailed else {
      throw .internalError("\(command.name) failed after the database was opened again")
    }
    hasFailed = true
    try healing()
    if case .open = command.action { return try perform(command) }
    let reopen = WorkerCommand(
      index: command.index, actor: command.actor, action: .reopen, database: plan.database)
    // Later commands depend on the tables, and on the classes of a realm.
    let isMissed =
      if case .createTables = command.action { true } else {
        command.transaction?.schema != nil
      }
    guard try perform(reopen), isMissed else { return true }
    return try perform(command)
  }

  /// An assertion that depends on transactions that were never made is skipped.
  private func holdsWhateverIsThere(_ claim: LiveExpectation) -> Bool {
    switch claim {
    case .verifies, .fileBytesAtMost, .fileTimesContentAtMost: true
    case .pinnedUnchanged(let name): pinOwners[name] != killed
    case .count, .version, .versionAtLeast: false
    }
  }

  mutating func worker(of process: String) throws(LabError) -> any ScenarioWorker {
    if let worker = workers[process] { return worker }
    let worker = try recorder.backend.startWorker(
      timeoutSeconds: recorder.timeoutSeconds, errorPath: "\(recorder.errorPath)-\(process)")
    workers[process] = worker
    guard let kill, kill.process == process else { return worker }
    switch kill.moment {
    case .operation(let rule), .standstill(let rule):
      try recorder.backend.addRules([rule(worker.process ?? 0)])
      ruleIndex = try recorder.backend.ruleHits().count - 1
    case .command, .commitStep: break
    }
    return worker
  }

  /// The command, with the process's end added if it is to end at a step of a commit.
  private func armed(_ command: WorkerCommand, of process: String) -> WorkerCommand {
    guard kill?.process == process, case .commitStep(let number, let stops) = kill?.moment,
      !outcome.wasStopped
    else { return command }
    var armed = command
    armed.database?.atCommitStep = CommitStepSignal(number: number, stops: stops)
    return armed
  }

  /// Handles the planned death of a process.
  /// - Returns: Whether any process is left.
  private mutating func recordDeath(
    _ process: String, over command: WorkerCommand, _ ending: ProcessEnding
  ) throws(LabError) -> Bool {
    outcome.death = ending
    if let number = workers[process]?.process {
      outcome.deathPhase = try recorder.backend.phase(of: number)
    }
    killed = process
    if case .createTables = command.action { owesTables = true }
    return plan.processes.count > 1
  }

  private mutating func end(
    of process: String, over command: WorkerCommand, _ ending: ProcessEnding
  ) throws(LabError) -> Bool {
    if kill?.process == process, killed == nil {
      for entry in try client.entries(killed: process, over: command) { try mark(entry) }
      return try recordDeath(process, over: command, ending)
    }
    guard killed != nil || stopped != nil else {
      outcome.death = ending
      return false
    }
    let what = killed == nil ? "is stopped" : "is killed"
    outcome.violations.append(
      Violation(
        .liveness, promised: "'\(command.actor)' continues when another process \(what)",
        got: "during \(command.name) its process ended: \(ending)"))
    return false
  }

  mutating func mark(_ entry: AckLog.Entry) throws(LabError) {
    try recorder.backend.mark(entry.mark.bytes)
    outcome.marks.append(entry.mark)
  }
}
