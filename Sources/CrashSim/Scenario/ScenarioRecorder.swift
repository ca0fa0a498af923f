// ScenarioRecorder.swift: runs a plan in a worker process on a mount, in lockstep, and records it.
// Invariant: a mark is in the trace before the next command is sent, so what was acknowledged is
// ordered exactly with the file operations.

import CSystem
import Foundation

/// What a worker did with a plan.
struct WorkerRun: Sendable {
  /// Acknowledgements, in order.
  var marks: [Mark] = []
  /// Promises that were broken without any crash.
  var violations: [Violation] = []
  /// How the worker died over a command; nil when it did them all.
  var death: ProcessEnding?
}

/// Runs plans on a mount.
struct ScenarioRecorder {
  let fileSystem: FaultFSClient
  let timeoutSeconds: Int
  /// Where the worker's standard error goes.
  let errorPath: String

  /// Runs the whole plan, or as much of it as the worker lives through.
  func run(_ plan: WorkloadPlan) throws(LabError) -> WorkerRun {
    let worker = try LineProcess(
      ["worker", fileSystem.mountPoint], cpu: csystem_first_allowed_cpu(), errorPath: errorPath)
    defer { worker.end() }
    try fileSystem.registerGroup(worker.pid)
    defer { try? fileSystem.unregisterGroup(worker.pid) }
    var client = WorkerClient(plan)
    var run = WorkerRun()
    for command in plan.commands {
      for entry in client.entriesBefore(command) { try mark(entry, in: &run) }
      let line = try WorkerWire.line(command)
      switch try worker.ask(line, timeoutSeconds: timeoutSeconds) {
      case .ended(let ending):
        run.death = ending
        return run
      case .line(let line):
        let answer = try WorkerWire.answer(line)
        for entry in client.entriesAfter(command, answer) { try mark(entry, in: &run) }
        run.violations += try client.judge(command, answer)
      }
    }
    return run
  }

  private func mark(_ entry: AckLog.Entry, in run: inout WorkerRun) throws(LabError) {
    try fileSystem.mark(entry.mark.bytes)
    run.marks.append(entry.mark)
  }
}
