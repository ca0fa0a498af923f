// ScenarioRecorder.swift: runs a plan in a worker behind a door, in lockstep, and records it.
// Invariant: a mark is in the trace before the next command is sent, so what was acknowledged is
// ordered exactly with the file operations.

/// What a worker did with a plan.
struct WorkerRun: Sendable {
  /// Acknowledgements, in order.
  var marks: [Mark] = []
  /// Promises that were broken without any crash.
  var violations: [Violation] = []
  /// How the worker died over a command; nil when it did them all.
  var death: ProcessEnding?
}

/// Runs plans through a door.
struct ScenarioRecorder {
  let door: any ScenarioDoor
  let timeoutSeconds: Int
  /// Where the standard error of a worker process goes.
  let errorPath: String

  /// Runs the whole plan, or as much of it as the worker lives through.
  func run(_ plan: WorkloadPlan) throws(LabError) -> WorkerRun {
    let worker = try door.startWorker(timeoutSeconds: timeoutSeconds, errorPath: errorPath)
    defer { worker.end() }
    var client = WorkerClient(plan)
    var run = WorkerRun()
    for command in plan.commands {
      try Interruption.check()
      for entry in client.entriesBefore(command) { try mark(entry, in: &run) }
      switch try worker.ask(command) {
      case .ended(let ending):
        run.death = ending
        return run
      case .answer(let answer):
        for entry in client.entriesAfter(command, answer) { try mark(entry, in: &run) }
        run.violations += try client.judge(command, answer)
      }
    }
    return run
  }

  private func mark(_ entry: AckLog.Entry, in run: inout WorkerRun) throws(LabError) {
    try door.mark(entry.mark.bytes)
    run.marks.append(entry.mark)
  }
}
