// ScenarioRecorder.swift: runs a plan in workers behind a door, in lockstep, and records it.
// Invariants: a mark is in the trace before the next command is sent, so what was acknowledged is
// ordered exactly with the file operations; each process of the plan is one worker, started over
// its first command; when one dies that was to be killed, the others go on with what they were
// told.

import Glibc

/// What workers did with a plan.
struct WorkerRun: Sendable {
  /// Acknowledgements, in order.
  var marks: [Mark] = []
  /// Promises that were broken without any crash.
  var violations: [Violation] = []
  /// How the first worker died over a command; nil when they did them all.
  var death: ProcessEnding?
  /// The step of a commit that it was in.
  var deathStep: Int?
  /// Steps of commits in which an operation failed.
  var coverage = CommitCoverage()
}

/// A process to be killed, and when.
struct PlannedKill {
  /// When it is killed.
  enum Moment {
    /// At one of its file operations; the rule is for whatever number the process turns out to
    /// have.
    case operation(@Sendable (_ process: Int32) -> FaultRule)
    /// Instead of being told its n-th command, counted from 1.
    case command(Int)
    /// Before the n-th step of a commit that it comes to, counted from 1.
    case commitStep(Int)
  }

  /// Its name in the plan.
  let process: String
  let moment: Moment
}

/// Runs plans through a door.
struct ScenarioRecorder {
  let door: any ScenarioDoor
  let timeoutSeconds: Int
  /// Where the standard error of a worker process goes.
  let errorPath: String
  /// Told which worker is asked, if anybody has to know.
  var watch: WorkerWatch?

  /// Codes that a failing file operation may come out as, then and later.
  static let tolerated: Set<String> = ["io", "noSpace", "poisoned"]

  /// Runs the whole plan, or as much of it as the workers live through.
  /// - Parameters:
  ///   - plan: What to do.
  ///   - kill: A process to be killed.
  ///   - tolerated: Codes that any command may fail with; its actor then opens anew.
  ///   - healing: Called once, before it does.
  /// - Returns: What came of it.
  /// - Throws: `LabError` when the lab fails or is asked to stop.
  func run(
    _ plan: WorkloadPlan, killing kill: PlannedKill? = nil, tolerating tolerated: Set<String> = [],
    healing: @escaping () throws(LabError) -> Void = {}
  ) throws(LabError) -> WorkerRun {
    var run = RunningPlan(plan, self, kill, tolerating: tolerated, healing: healing)
    defer { run.end() }
    for command in plan.commands {
      try Interruption.check()
      guard try run.perform(command) else { break }
    }
    return run.outcome
  }
}

/// A plan on its way.
private struct RunningPlan {
  private let plan: WorkloadPlan
  private let recorder: ScenarioRecorder
  private let kill: PlannedKill?
  private let tolerated: Set<String>
  private let healing: () throws(LabError) -> Void
  private var hasFailed = false
  private var client: WorkerClient
  private var workers: [String: any ScenarioWorker] = [:]
  private var killed: String?
  /// Commands that the process to be killed was told.
  private var commandsTold = 0
  private var pinOwners: [String: String] = [:]
  /// The tables are not there for sure, because their maker was killed.
  private var owesTables = false
  private(set) var outcome = WorkerRun()

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

  /// Does one command.
  /// - Returns: Whether anybody is left to do the next one.
  mutating func perform(_ command: WorkerCommand) throws(LabError) -> Bool {
    let process = plan.process(of: command.actor)
    if case .pin(let name) = command.action { pinOwners[name] = process }
    if let killed {
      if process == killed {
        if case .createTables = command.action { owesTables = true }
        return true
      }
    }
    if killed != nil || hasFailed, case .expect(let claim) = command.action,
      !holdsWhateverIsThere(claim)
    {
      return true
    }
    let worker = try worker(of: process)
    if kill?.process == process, killed == nil {
      commandsTold += 1
      if case .command(commandsTold) = kill?.moment {
        worker.end()
        return try bury(process, over: command, .signalled(SIGKILL))
      }
    }
    for entry in client.entriesBefore(command) { try mark(entry) }
    recorder.watch?.current = worker.process.map {
      WorkerWatch.Asked(process: $0, actor: command.actor)
    }
    switch try worker.ask(armed(command, of: process)) {
    case .ended(let ending): return try end(of: process, over: command, ending)
    case .answer(let answer):
      for entry in client.entriesAfter(command, answer) { try mark(entry) }
      outcome.violations += try client.judge(command, answer)
      if case .failed(let code, _) = answer, tolerated.contains(code) {
        return try startAgain(command)
      }
      // Without an open database nothing that follows can be told.
      if case .failed = answer, command.opens { return false }
      guard owesTables, case .open = command.action, case .done = answer else { return true }
      owesTables = false
      return try perform(
        WorkerCommand(
          index: command.index, actor: command.actor, action: .createTables(plan.tables)))
    }
  }

  /// What a program does that was told of an error: it opens the database again.
  private mutating func startAgain(_ command: WorkerCommand) throws(LabError) -> Bool {
    // A command fails because of the one fault, or because of the handle that met it.
    guard !hasFailed else {
      throw .lab("command \(command.index) failed, and the database was opened again before")
    }
    hasFailed = true
    try healing()
    if case .open = command.action { return try perform(command) }
    let reopen = WorkerCommand(
      index: command.index, actor: command.actor, action: .reopen, database: plan.database)
    guard try perform(reopen), case .createTables = command.action else { return true }
    return try perform(command)
  }

  /// A claim that counts on transactions which were never made is void.
  private func holdsWhateverIsThere(_ claim: LiveExpectation) -> Bool {
    switch claim {
    case .verifies, .fileBytesAtMost, .fileTimesContentAtMost: true
    case .pinnedUnchanged(let name): pinOwners[name] != killed
    case .count, .version, .versionAtLeast: false
    }
  }

  private mutating func worker(of process: String) throws(LabError) -> any ScenarioWorker {
    if let worker = workers[process] { return worker }
    let worker = try recorder.door.startWorker(
      timeoutSeconds: recorder.timeoutSeconds, errorPath: "\(recorder.errorPath)-\(process)")
    workers[process] = worker
    if let kill, kill.process == process, case .operation(let rule) = kill.moment {
      try recorder.door.addRules([rule(worker.process ?? 0)])
    }
    return worker
  }

  /// The command, with the process's end in it where it is to end at a step of a commit.
  private func armed(_ command: WorkerCommand, of process: String) -> WorkerCommand {
    guard kill?.process == process, case .commitStep(let number) = kill?.moment else {
      return command
    }
    var armed = command
    armed.database?.killAtCommitStep = number
    return armed
  }

  /// The process is dead, as planned.
  /// - Returns: Whether anybody is left.
  private mutating func bury(
    _ process: String, over command: WorkerCommand, _ ending: ProcessEnding
  ) throws(LabError) -> Bool {
    outcome.death = ending
    if let number = workers[process]?.process {
      outcome.deathStep = try recorder.door.commitStep(of: number)
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
      return try bury(process, over: command, ending)
    }
    guard killed != nil else {
      outcome.death = ending
      return false
    }
    outcome.violations.append(
      Violation(
        .liveness, promised: "'\(command.actor)' goes on when another process is killed",
        got: "over command \(command.index) its process ended: \(ending)"))
    return false
  }

  private mutating func mark(_ entry: AckLog.Entry) throws(LabError) {
    try recorder.door.mark(entry.mark.bytes)
    outcome.marks.append(entry.mark)
  }
}
