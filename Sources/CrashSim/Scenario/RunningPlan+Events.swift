// RunningPlan+Events.swift: processes that end, stand still and go on while a plan runs.
// Invariant: a process that stands still within a commit goes on before anybody could have to wait
// for it: before its own next command, and before anybody else writes.

import CSystem
import Glibc

extension RunningPlan {
  /// What befalls a process between its commands.
  /// - Returns: Whether that was all; otherwise the worker itself is to do it.
  mutating func befalls(
    _ event: ProcessEvent, _ process: String, _ command: WorkerCommand
  ) throws(LabError) -> Bool {
    switch event {
    case .limit: return false
    case .kill: workers[process]?.end()
    case .exit:
      guard let worker = workers[process] else { return true }
      guard case .ended(let ending) = try worker.ask(command), ending.isSuccess else {
        throw .lab("command \(command.index): '\(process)' did not exit when it was told to")
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

  /// The process stands still within a commit; it has said so, and is about to.
  mutating func stand(_ process: String, over command: WorkerCommand) throws(LabError) {
    guard let number = workers[process]?.process, csystem_wait_until_stopped(number) == 1 else {
      throw .lab("command \(command.index): '\(process)' ended instead of standing still")
    }
    stopped = (process, command)
    outcome.wasStopped = true
    try client.stand(over: command)
  }

  /// Lets a stopped process go on when the next command needs it, or what it holds.
  mutating func resume(before command: WorkerCommand, of process: String) throws(LabError) {
    guard let stopped else { return }
    let waits =
      switch command.action {
      case .createTables, .transaction, .compact, .copy, .fork, .process, .file: true
      case .open, .close, .reopen, .pin, .release, .verify, .expect: false
      }
    if waits || process == stopped.process { try finish() }
  }

  /// Lets a stopped process go on, and takes its answer in.
  mutating func finish() throws(LabError) {
    guard let (process, command) = stopped, let worker = workers[process] else { return }
    stopped = nil
    try worker.signal(stops: false)
    switch try worker.answer() {
    case .ended(let ending):
      outcome.violations.append(
        Violation(
          .liveness, promised: "a process that stood still goes on",
          got: "over command \(command.index) it ended: \(ending)"))
    case .answer(let answer):
      for entry in client.entriesAfter(command, answer) { try mark(entry) }
      outcome.violations += try client.judge(command, answer)
    }
  }
}
