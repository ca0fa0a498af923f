// WorkerClient.swift: the parent's side of a worker, without any process: which marks belong around
// a command, and what the answers say about the promises that need no crash to be broken.

/// Follows a plan's commands and their answers.
///
/// For each command, in order: record the marks of `entriesBefore`, send the command, read the
/// answer, record the marks of `entriesAfter`, and `judge`.
public struct WorkerClient: Sendable {
  private var history: CommitHistory?
  private let plan: WorkloadPlan
  private var violationCount = 0

  /// Follows a plan from its first command.
  public init(_ plan: WorkloadPlan) {
    self.plan = plan
  }

  // MARK: - Marks

  /// Number of the transaction that a command asks for.
  private func transaction(_ command: WorkerCommand) -> PlannedTransaction? {
    switch command.action {
    case .createTables: PlannedTransaction(number: 0)
    case .transaction(let transaction): transaction
    default: nil
    }
  }

  /// The acknowledgements to record before the command is sent.
  public func entriesBefore(_ command: WorkerCommand) -> [AckLog.Entry] {
    transaction(command).map { [.begin($0.number)] } ?? []
  }

  /// The acknowledgements to record after the answer has come.
  public func entriesAfter(
    _ command: WorkerCommand, _ answer: WorkerAnswer
  ) -> [AckLog.Entry] {
    if let transaction = transaction(command) {
      switch answer {
      case .done where transaction.cancels: return [.cancel(transaction.number)]
      case .done(let version?, _): return [.commit(transaction.number, version: version)]
      case .failed(let code, _): return [.failed(transaction.number, code: code)]
      // Without a version nobody knows whether it was committed: it stays in flight.
      case .done, .broken: return []
      }
    }
    switch (command.action, answer) {
    case (.open, .done(let version?, _)), (.reopen, .done(let version?, _)):
      return [.recovered(version: version)]
    default:
      return []
    }
  }

  // MARK: - Judgement

  /// Judges an answer; call it once for each command, in order.
  /// - Parameters:
  ///   - command: What was asked.
  ///   - answer: What the worker said.
  /// - Returns: The promises that the answer shows to be broken.
  /// - Throws: `LabError` with code `.lab` when the answer makes no sense: the worker is at fault,
  ///   not the engine.
  public mutating func judge(
    _ command: WorkerCommand, _ answer: WorkerAnswer
  ) throws(LabError) -> [Violation] {
    if case .failed(WorkerAnswer.protocolCode, let message) = answer {
      throw .lab("command \(command.index): \(message)")
    }
    var history = try follow(command, answer)
    for entry in entriesBefore(command) + entriesAfter(command, answer) {
      try history?.consume(entry)
    }
    self.history = history
    var found = Array(history?.violations.dropFirst(violationCount) ?? [])
    violationCount = history?.violations.count ?? 0
    if case .broken(let violation) = answer { found.append(violation) }
    if let violation = unexpected(command, answer) { found.append(violation) }
    if let violation = wrongContent(command, answer) { found.append(violation) }
    return found
  }

  /// The history, begun by the first open that succeeds.
  private func follow(
    _ command: WorkerCommand, _ answer: WorkerAnswer
  ) throws(LabError) -> CommitHistory? {
    if let history { return history }
    guard case .open = command.action, case .done(let version?, _) = answer else { return nil }
    return CommitHistory(plan, emptyVersion: version)
  }

  /// An error that the scenario does not ask for, or none where it asks for one.
  private func unexpected(_ command: WorkerCommand, _ answer: WorkerAnswer) -> Violation? {
    let what: String
    let expected: String?
    if let transaction = transaction(command) {
      what = "transaction \(transaction.number)"
      expected = transaction.fails
    } else {
      what = "command \(command.index) of '\(command.actor)'"
      expected = nil
    }
    switch (answer, expected) {
    case (.failed(let code, let message), nil):
      return Violation(.expectation, promised: "\(what) succeeds", got: "\(code): \(message)")
    case (.failed(let code, let message), let expected?) where code != expected:
      return Violation(
        .expectation, promised: "\(what) fails with \(expected)", got: "\(code): \(message)")
    case (.done, let expected?):
      return Violation(
        .expectation, promised: "\(what) fails with \(expected)", got: "it succeeded")
    default:
      return nil
    }
  }

  /// A content that is not the model's, where an answer tells the newest version's hash.
  private func wrongContent(_ command: WorkerCommand, _ answer: WorkerAnswer) -> Violation? {
    switch command.action {
    case .verify, .pin: break
    default: return nil
    }
    guard let history, case .done(let version?, let contentHash?) = answer else { return nil }
    let expected = history.liveState
    guard version != expected.version || contentHash != expected.contentHash else { return nil }
    let found = history.labels[contentHash] ?? "no version"
    return Violation(
      .referenceModel, promised: "the newest content is that of \(expected.label)",
      got: "version \(version) with the content of \(found)")
  }
}
