// DocumentConductor.swift: runs a plan through the processes that it names, and acknowledges.
// Invariants: a line is written only after what it says has returned; after a failure or a kill the
// run goes on only from a commit whose contents the file has.

import LabCore
import Workload

/// Runs plans.
package struct DocumentConductor {
  private let plan: DocumentPlan
  /// Whether operations may fail and processes may be killed.
  private let isDisturbed: Bool
  /// Whether failures may go on until no step can be done any more.
  private let mayStop: Bool
  private let start: (String) throws(LabError) -> any DocumentActor
  private let write: (String) throws(LabError) -> Void

  /// How often a step is tried again.
  private static let attemptsMax = 3

  /// - Parameters:
  ///   - plan: The plan.
  ///   - isDisturbed: Whether operations may fail and processes may be killed.
  ///   - mayStop: Whether failures may go on until no step can be done any more.
  ///   - start: Starts a process by its name.
  ///   - write: Writes an acknowledgement.
  package init(
    _ plan: DocumentPlan, isDisturbed: Bool, mayStop: Bool = false,
    start: @escaping (String) throws(LabError) -> any DocumentActor,
    write: @escaping (String) throws(LabError) -> Void
  ) {
    self.plan = plan
    self.isDisturbed = isDisturbed
    self.mayStop = mayStop
    self.start = start
    self.write = write
  }

  /// Runs all steps.
  /// - Returns: Whether all were done; a promise that was broken is among the acknowledgements.
  /// - Throws: `LabError` when a process cannot be started.
  package func run() throws(LabError) -> Bool {
    var actors: [String: any DocumentActor] = [:]
    var commit = 0
    for unit in plan.units {
      guard try run(unit, &actors, after: commit) else { return false }
      if let number = unit.commit {
        commit = number
        try write(DocumentAcknowledgements.commit(number))
      }
      // With another process that has the file open, a close copies nothing to the database file.
      let isAlone = plan.declaration.processes.count == 1
      switch unit.step.action {
      case .compact: try write(DocumentAcknowledgements.durable(commit))
      case .close where isAlone: try write(DocumentAcknowledgements.durable(commit))
      default: break
      }
    }
    return true
  }

  /// Does one step, again if need be.
  /// - Returns: False when the run ends here.
  private func run(
    _ unit: DocumentUnit, _ actors: inout [String: any DocumentActor], after commit: Int
  ) throws(LabError) -> Bool {
    let process = unit.step.process
    var failure = ""
    for attempt in 1...Self.attemptsMax {
      let answer = try actor(process, &actors).perform(unit.index)
      switch answer {
      case .done:
        guard let code = unit.step.fails else { return true }
        return try broken(.staleWrites, "\(unit.name) succeeded, and must fail with \(code)")
      case .wrong(let promise, let text): return try broken(promise, "\(unit.name): \(text)")
      case .failed(let code, let text):
        if code == unit.step.fails { return true }
        guard isDisturbed else {
          return try broken(.atomic, "\(unit.name) failed with \(code): \(text)")
        }
        failure = text
      case .gone(let ending):
        guard isDisturbed else {
          return try broken(.atomic, "\(unit.name): the process ended with \(ending)")
        }
        failure = "the process ended with \(ending)"
        actors[process] = nil
      }
      guard attempt < Self.attemptsMax else { break }
      guard let found = try settled(unit, process, &actors, after: commit) else { return false }
      if let number = unit.commit, found == number { return true }
    }
    guard !mayStop else { return false }
    return try broken(
      .readable, "\(unit.name) fails \(Self.attemptsMax) times, with one disturbance: \(failure)")
  }

  /// The commit that the file has after a failure; nil when that cannot be said.
  private func settled(
    _ unit: DocumentUnit, _ process: String, _ actors: inout [String: any DocumentActor],
    after commit: Int
  ) throws(LabError) -> Int? {
    var failure = "its process ends"
    for _ in 1...Self.attemptsMax {
      let hand = try actor(process, &actors)
      switch try hand.settle(commit...(unit.commit ?? commit)) {
      case .done: return hand.settled
      case .wrong(let promise, let text):
        _ = try broken(promise, "\(unit.name): \(text)")
        return nil
      case .failed(_, let text): failure = text
      case .gone: actors[process] = nil
      }
    }
    if !mayStop {
      _ = try broken(.readable, "\(unit.name): the file cannot be opened again: \(failure)")
    }
    return nil
  }

  private func actor(
    _ process: String, _ actors: inout [String: any DocumentActor]
  ) throws(LabError) -> any DocumentActor {
    if let actor = actors[process] { return actor }
    let started = try start(process)
    actors[process] = started
    return started
  }

  private func broken(_ promise: DocumentPromise, _ text: String) throws(LabError) -> Bool {
    try write(DocumentAcknowledgements.broken(promise, text))
    return false
  }
}
