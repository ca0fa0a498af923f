// WorkerClient.swift: the parent's side of a worker, without a process: the marks to record around
// a command, and what the answers show about promises that can break without a crash.

import Findings
import LabCore
import Oracles
import Workload

/// Follows a plan's commands and their answers.
///
/// For each command, in order: record the marks of `entriesBefore`, send the command, read the
/// answer, record the marks of `entriesAfter`, and `judge`.
package struct WorkerClient: Sendable {
  private var history: CommitHistory?
  private let plan: WorkloadPlan
  private let tolerated: Set<String>
  private var violationCount = 0
  /// Actors that have the database open.
  private var openActors: Set<String> = []

  /// Follows a plan from its first command.
  /// - Parameters:
  ///   - plan: The plan.
  ///   - tolerated: Codes with which any command may fail.
  package init(_ plan: WorkloadPlan, tolerating tolerated: Set<String> = []) {
    self.plan = plan
    self.tolerated = tolerated
  }

  // MARK: - Marks

  /// The acknowledgements to record before the command is sent.
  package func entriesBefore(_ command: WorkerCommand) -> [AckLog.Entry] {
    command.transaction.map { [.begin($0.number)] } ?? []
  }

  /// The acknowledgements to record after the answer has come.
  package func entriesAfter(
    _ command: WorkerCommand, _ answer: WorkerAnswer
  ) -> [AckLog.Entry] {
    if let transaction = command.transaction {
      let copied = transaction.copy.map { [AckLog.Entry.copied($0.name)] } ?? []
      switch answer {
      case .done where transaction.cancels: return [.cancel(transaction.number)] + copied
      case .done(let version?, _):
        return [.commit(transaction.number, version: version)] + copied
      case .failed(let code, _): return [.failed(transaction.number, code: code)]
      // Without a version it is unknown whether it was committed: it stays in flight.
      case .done, .broken, .stopped: return []
      }
    }
    switch (command.action, answer) {
    case (.open, .done(let version?, _)) where isAlone(command.actor),
      (.reopen, .done(let version?, _)) where isAlone(command.actor):
      return [.recovered(version: version)]
    case (.copy(let copy), .done):
      return [.copied(copy.name)]
    default:
      return []
    }
  }

  /// Whether no other process has the database open, so that an open reads the file.
  private func isAlone(_ actor: String) -> Bool {
    let process = plan.process(of: actor)
    return openActors.allSatisfy { plan.process(of: $0) == process }
  }

  /// Records that a command has begun and that its process was stopped during it.
  /// - Throws: `LabError` when the plan has no such transaction.
  package mutating func pause(over command: WorkerCommand) throws(LabError) {
    for entry in entriesBefore(command) { try history?.consume(entry) }
  }

  /// Records that a process ended between two of its commands.
  package mutating func forget(process: String) {
    openActors = openActors.filter { plan.process(of: $0) != process }
  }

  /// Records that a process was killed.
  /// - Parameters:
  ///   - process: The process.
  ///   - command: The command during which it was killed.
  /// - Returns: The acknowledgements to record.
  /// - Throws: `LabError` when the plan has no such transaction.
  package mutating func entries(
    killed process: String, over command: WorkerCommand
  ) throws(LabError) -> [AckLog.Entry] {
    forget(process: process)
    guard let transaction = command.transaction else { return [] }
    let entry =
      transaction.cancels
      ? AckLog.Entry.cancel(transaction.number)
      : .failed(transaction.number, code: AckLog.killedCode)
    for entry in entriesBefore(command) + [entry] { try history?.consume(entry) }
    return [entry]
  }

  // MARK: - Judgement

  /// Judges an answer; call it once for each command, in order.
  /// - Parameters:
  ///   - command: The command.
  ///   - answer: The worker's answer.
  /// - Returns: The promises that the answer shows to be broken.
  /// - Throws: `LabError` with code `.lab` when the answer is invalid: the worker is at fault, not
  ///   the engine.
  package mutating func judge(
    _ command: WorkerCommand, _ answer: WorkerAnswer
  ) throws(LabError) -> [Violation] {
    if case .failed(WorkerAnswer.protocolCode, let message) = answer {
      throw .lab("\(command.name): \(message)")
    }
    var history = try follow(command, answer)
    for entry in entriesBefore(command) + entriesAfter(command, answer) {
      try history?.consume(entry)
    }
    self.history = history
    switch (command.action, answer) {
    case (.open, .done): openActors.insert(command.actor)
    case (.close, .done): openActors.remove(command.actor)
    default: break
    }
    var found = Array(history?.violations.dropFirst(violationCount) ?? [])
    violationCount = history?.violations.count ?? 0
    if case .broken(let violation) = answer { found.append(violation) }
    if let violation = unexpected(command, answer) { found.append(violation) }
    if let violation = wrongContent(command, answer) { found.append(violation) }
    for index in found.indices { found[index].position = command.position }
    return found
  }

  /// The history, started by the first open that succeeds.
  private func follow(
    _ command: WorkerCommand, _ answer: WorkerAnswer
  ) throws(LabError) -> CommitHistory? {
    if let history { return history }
    guard case .open = command.action, case .done(let version?, _) = answer else { return nil }
    return CommitHistory(plan, emptyVersion: version)
  }

  /// An error that the scenario does not expect, or success where it expects an error.
  private func unexpected(_ command: WorkerCommand, _ answer: WorkerAnswer) -> Violation? {
    let what: String
    let expected: String?
    if let transaction = command.transaction {
      what = "transaction \(transaction.number)"
      expected = transaction.fails
    } else {
      what = "command \(command.index) of '\(command.actor)'"
      expected = command.fails
    }
    switch (answer, expected) {
    case (.failed(let code, _), _) where tolerated.contains(code): return nil
    case (.failed(WorkerAnswer.refusedCode, _), nil) where command.mayBeRefused: return nil
    case (.failed(let code, let message), nil):
      return Violation(
        .expectation, promised: "\(what) should succeed",
        got: "it failed with \(code): \(message)")
    case (.failed(let code, let message), let expected?) where code != expected:
      return Violation(
        .expectation, promised: "\(what) should fail with \(expected)",
        got: "it failed with \(code): \(message)")
    case (.done, let expected?):
      return Violation(
        .expectation, promised: "\(what) should fail with \(expected)", got: "it succeeded")
    default:
      return nil
    }
  }

  /// A content that differs from the model's, if an answer has the newest version's hash.
  private mutating func wrongContent(
    _ command: WorkerCommand, _ answer: WorkerAnswer
  ) -> Violation? {
    if case .transaction(let transaction) = command.action {
      guard let copy = transaction.copy, case .done(_, let found?) = answer,
        let expected = history?.outcomes.copies[copy.name], found != expected
      else { return nil }
      return Violation(
        .referenceModel,
        promised: "the copy '\(copy.name)' has what transaction \(transaction.number) sees",
        got: "it has the content of \(history?.labels[found] ?? "no version")")
    }
    guard command.action.showsContent, let expected = history?.liveState,
      case .done(let version?, let contentHash?) = answer,
      history?.sees(version: version, contentHash: contentHash) == false
    else { return nil }
    let found = history?.labels[contentHash] ?? "no version"
    return Violation(
      .referenceModel, promised: "the newest content is that of \(expected.label)",
      got: "version \(version) with the content of \(found)")
  }
}
