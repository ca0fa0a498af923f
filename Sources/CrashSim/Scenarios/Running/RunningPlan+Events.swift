// RunningPlan+Events.swift: processes that end, stop and continue while a plan runs.
// Invariant: a process stopped within a commit is continued before any other could have to wait for
// it: before its own next command, and before another process writes. For one that hangs at a file
// operation, an open may wait; it continues after some time.

import CSystem
import Findings
import Glibc
import LabCore
import Workload

extension RunningPlan {
  /// Performs an event of a process between its commands.
  /// - Returns: True if that was all; otherwise the worker itself has to perform it.
  mutating func disturb(
    _ event: ProcessEvent, _ process: String, _ command: WorkerCommand
  ) throws(LabError) -> Bool {
    switch event {
    case .limit: return false
    case .kill: workers[process]?.end()
    case .exit:
      guard let worker = workers[process] else { return true }
      guard case .ended(let ending) = try worker.ask(command), ending.isSuccess else {
        throw .lab("\(command.name): '\(process)' did not exit when it was asked to")
      }
      worker.end()
    case .stop, .resume:
      guard let worker = workers[process] else { return true }
      try worker.signal(stops: event == .stop)
      return true
    }
    workers[process] = nil
    client.forget(process: process)
    pinOwners = pinOwners.filter { $0.value != process }
    return true
  }

  /// How long another process may wait for a stopped one before that is continued.
  private static let patienceMilliseconds = 2000

  /// Whether the process to be stopped stops at a file operation.
  private var hangs: Bool {
    if case .standstill = kill?.moment { true } else { false }
  }

  /// The index of the next command; nil if there is none.
  ///
  /// While a process hangs in a command, others that open the database next go first.
  func next(of commands: ArraySlice<WorkerCommand>) -> Int? {
    guard hangs, let stopped, let first = commands.first,
      plan.process(of: first.actor) == stopped.process,
      let other = commands.firstIndex(where: { plan.process(of: $0.actor) != stopped.process }),
      commands[other].opens
    else { return commands.indices.first }
    return other
  }

  /// Sends a command to a worker; one that hangs at its place counts as stopped, and others that
  /// wait for it get their answer when it continues.
  mutating func reply(
    of worker: any ScenarioWorker, to command: WorkerCommand, _ process: String
  ) throws(LabError) -> WorkerReply {
    guard hangs else { return try worker.ask(command) }
    if process == kill?.process, !outcome.wasStopped, let index = ruleIndex {
      let backend = recorder.backend
      let reply = try worker.ask(command, timeoutMilliseconds: nil) { () throws(LabError) in
        let hits = try backend.ruleHits()
        return index < hits.count && hits[index].hitCount > 0
      }
      return reply ?? .answer(.stopped)
    }
    guard stopped != nil else { return try worker.ask(command) }
    let patience = Self.patienceMilliseconds
    if let reply = try worker.ask(command, timeoutMilliseconds: patience, until: { false }) {
      return reply
    }
    try finish()
    return try worker.answer()
  }

  /// Handles a process that has reported that it is about to stop, at a file operation or within a
  /// commit.
  mutating func pause(_ process: String, over command: WorkerCommand) throws(LabError) {
    guard hangs || workers[process]?.process.map({ csystem_wait_until_stopped($0) }) == 1 else {
      throw .lab("\(command.name): '\(process)' ended instead of standing still")
    }
    stopped = (process, command)
    outcome.wasStopped = true
    try client.pause(over: command)
  }

  /// Continues a stopped process when the next command needs it, or something that it holds.
  mutating func resume(before command: WorkerCommand, of process: String) throws(LabError) {
    guard let stopped else { return }
    if command.action.waitsForOthers || process == stopped.process { try finish() }
  }

  /// Continues a stopped process, and handles its answer.
  mutating func finish() throws(LabError) {
    guard let (process, command) = stopped, let worker = workers[process] else { return }
    stopped = nil
    if hangs, let ruleIndex {
      try recorder.backend.removeRule(at: ruleIndex)
    } else {
      try worker.signal(stops: false)
    }
    switch try worker.answer() {
    case .ended(let ending):
      outcome.violations.append(
        Violation(
          .liveness, promised: "a process that was stopped continues",
          got: "during \(command.name) it ended: \(ending)"))
    case .answer(let answer):
      for entry in client.entriesAfter(command, answer) { try mark(entry) }
      outcome.violations += try client.judge(command, answer)
    }
  }
}
