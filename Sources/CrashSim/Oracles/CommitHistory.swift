// CommitHistory.swift: from the plan and the acknowledgements to what a crash may leave.
// Three values for each transaction: it must be there (acknowledged), it may be there, whole (in
// flight, or failed in a way that says nothing of the disk), or it must not (cancelled, refused,
// not begun). Invariant: a state's version is that of its predecessor plus one; with grouped
// commits it may be one more for each group, because a group can end in a version without changes.
// Transactions of concurrent actors have their turns one after the other, so each is in flight on
// top of the one before it, and whoever is acknowledged makes all before it durable.

import Findings
import LabCore
import Workload

/// A content that the database may have.
public struct CommittedState: Sendable, Hashable {
  /// The transaction that made it; nil for the empty database.
  public let transaction: Int?
  /// Its version.
  public let version: UInt64
  /// Sentinel rows in it (see `Sentinel`).
  let sentinels: Int
  /// The content's hash with no sentinel row, with one, and so on.
  let hashes: [UInt64]

  init(transaction: Int?, version: UInt64, sentinels: Int, hashes: [UInt64]) {
    self.transaction = transaction
    self.version = version
    self.sentinels = sentinels
    self.hashes = hashes
  }

  /// One for each recovery that power failed in, and one to show that the last state is usable.
  private static let sentinelsMax = CrashDeclaration.recoveryDepthMax + 1

  /// The content's hash.
  public var contentHash: UInt64 { hashes[sentinels] }
  /// The content's hash after one more sentinel commit, an empty row under the highest key; nil
  /// when nobody needs to know.
  public var hashWithSentinel: UInt64? {
    hashes.indices.contains(sentinels + 1) ? hashes[sentinels + 1] : nil
  }

  /// A model's content as a version, without sentinel rows.
  package init(transaction: Int?, version: UInt64, _ model: ReferenceModel) {
    self.init(
      transaction: transaction, version: version, sentinels: 0,
      hashes: model.contentHashes(withSentinels: Self.sentinelsMax))
  }

  /// The same content under another number.
  func numbered(_ version: UInt64) -> CommittedState {
    CommittedState(
      transaction: transaction, version: version, sentinels: sentinels, hashes: hashes)
  }

  /// For messages.
  package var label: String {
    transaction.map { "version \(version) (transaction \($0))" } ?? "version \(version) (empty)"
  }
}

/// What may be found after a crash at one point of a run.
public struct AllowedOutcomes: Sendable, Hashable {
  /// False until an open was acknowledged: then there may be no database yet, or half of one.
  public var mustExist: Bool
  /// The newest acknowledged content: this or a later one must be there.
  public var acked: CommittedState
  /// Contents that may be there instead.
  public var candidates: [CommittedState]
  /// Content hashes of the copies that must be there, by name.
  public var copies: [String: UInt64] = [:]

  package init(
    mustExist: Bool,
    acked: CommittedState,
    candidates: [CommittedState],
    copies: [String: UInt64] = [:]
  ) {
    self.mustExist = mustExist
    self.acked = acked
    self.candidates = candidates
    self.copies = copies
  }

  /// All contents that are allowed.
  public var states: [CommittedState] { [acked] + candidates }

  /// The allowed content of this version and hash.
  func state(version: UInt64, contentHash: UInt64) -> CommittedState? {
    if acked.version == version, acked.contentHash == contentHash { return acked }
    return candidates.first { $0.version == version && $0.contentHash == contentHash }
  }
}

/// Replays a plan as far as acknowledgements go.
///
/// An open that finds a transaction nobody acknowledged goes on from there, but does not make it
/// durable: it may have been in the cache only. So what was acknowledged stays what must be there
/// until the next commit, which comes after it in every order, is acknowledged.
package struct CommitHistory {
  private struct Content {
    let model: ReferenceModel
    let state: CommittedState
  }

  private let transactions: [PlannedTransaction]
  private let isConcurrent: Bool
  private let isGrouped: Bool
  /// Made durable by the acknowledgement of a later one, before their own.
  private var overtaken: Set<Int> = []
  /// What the running program sees: the acknowledged content, or a later one that an open found.
  private var live: Content
  /// The acknowledged content and those that opens found after it; `live` is one of them.
  private var found: [Content]
  /// Failed in a way that says nothing of the disk, since the last open.
  private var doubtful: [Content] = []
  /// What a killed process may have left; others build on it when it is there.
  private var orphans: [Content] = []
  /// The open transaction on top of what is live, and of each orphan; of concurrent actors, one on
  /// top of the other.
  private var inFlight: [Content] = []
  /// The content's hash with the transaction that began last, whatever became of it.
  private var begunHash: UInt64?
  /// The open transaction, once somebody saw it: nobody may see the version before it again.
  private var published: Content?
  package private(set) var outcomes: AllowedOutcomes
  /// Broken promises that show without a crash, for example a version that is not the next one.
  package private(set) var violations: [Violation] = []
  /// What a hash stands for, so that a wrong content can be named.
  package private(set) var labels: [UInt64: String] = [:]

  /// What the running program must see.
  package var liveState: CommittedState { live.state }

  /// Begins before the first open; `emptyVersion` is that of a database without any commit.
  package init(_ plan: WorkloadPlan, emptyVersion: UInt64) {
    transactions = plan.transactions
    isConcurrent = plan.isConcurrent
    isGrouped = plan.database.isGrouped
    let model = ReferenceModel(before: plan)
    live = Content(model: model, state: Self.state(nil, version: emptyVersion, model))
    found = [live]
    outcomes = AllowedOutcomes(mustExist: false, acked: live.state, candidates: [])
    labels[live.state.contentHash] = live.state.label
  }

  private static func state(
    _ transaction: Int?, version: UInt64, _ model: ReferenceModel
  ) -> CommittedState {
    CommittedState(transaction: transaction, version: version, model)
  }

  /// Takes one acknowledgement in.
  /// - Throws: `LabError` with code `.lab` when it names a transaction that the plan does not have.
  package mutating func consume(_ entry: AckLog.Entry) throws(LabError) {
    published = nil
    switch entry {
    case .begin(let number): try begin(number)
    case .number(let number, let version): self.number(number, version)
    case .commit(let number, let version): try commit(number, version)
    case .failed(_, AckLog.killedCode):
      orphans += inFlight
      inFlight = []
    case .failed(let number, let code):
      let failed = isConcurrent ? inFlight.filter { $0.state.transaction == number } : inFlight
      if AckLog.isIndeterminate(code) { doubtful += failed }
      close(number)
    case .cancel(let number): close(number)
    case .recovered(let version): recovered(version)
    case .copied(let name):
      let isOfTransaction = transactions.contains { $0.copy?.name == name }
      outcomes.copies[name] = isOfTransaction ? begunHash : live.state.contentHash
    }
    let others = found.dropFirst() + doubtful + orphans + inFlight
    outcomes.acked = found[0].state
    outcomes.candidates = others.map(\.state)
    if isGrouped { outcomes.candidates += numberedByGroups(outcomes.acked, Array(others)) }
  }

  /// The same contents under the numbers that a group's last version may have.
  private func numberedByGroups(
    _ acked: CommittedState, _ others: [Content]
  ) -> [CommittedState] {
    var states = [acked.numbered(acked.version + 1)]
    states += others.map { $0.state.numbered($0.state.version + 1) }
    return states
  }

  /// The number of the transaction that began last; a group before it may have ended in one more.
  private mutating func number(_ number: Int, _ version: UInt64) {
    guard let last = inFlight.last, last.state.transaction == number else { return }
    let expected = last.state.version
    if version != expected, !isGrouped || version != expected + 1 {
      violations.append(
        Violation(
          .prefix, promised: "transaction \(number) is made on top of \(live.state.label)",
          got: "it will be version \(version) instead of \(expected)"))
    }
    let numbered = last.state.numbered(version)
    inFlight[inFlight.count - 1] = Content(model: last.model, state: numbered)
    labels[numbered.contentHash] = numbered.label
  }

  /// A transaction has ended, and is not there.
  private mutating func close(_ number: Int) {
    if isConcurrent {
      inFlight.removeAll { $0.state.transaction == number }
    } else {
      inFlight = []
    }
  }

  private mutating func begin(_ number: Int) throws(LabError) {
    guard transactions.indices.contains(number) else {
      throw .lab("mark 'begin \(number)': the plan has \(transactions.count) transactions")
    }
    var transaction = transactions[number]
    transaction.cancels = false
    if !isConcurrent { inFlight = [] }
    for base in [inFlight.last ?? live] + orphans {
      var model = base.model
      // A transaction with a statement that does not fit never reaches its commit.
      guard model.apply(transaction) == nil else { continue }
      let state = Self.state(number, version: base.state.version + 1, model)
      if base.state == (inFlight.last ?? live).state { begunHash = state.contentHash }
      let isCancelled = transactions[number].cancels
      let label = isCancelled ? "the cancelled transaction \(number)" : state.label
      labels[state.contentHash] = labels[state.contentHash] ?? label
      if !isCancelled { inFlight.append(Content(model: model, state: state)) }
    }
  }

  private mutating func commit(_ number: Int, _ version: UInt64) throws(LabError) {
    if overtaken.remove(number) != nil { return }
    let place = inFlight.firstIndex { $0.state.transaction == number } ?? 0
    let open = inFlight.filter { $0.state.transaction == number }
    guard let content = open.first(where: { $0.state.version == version }) ?? open.first else {
      // One that had to be refused and was not: the answer says so, and the contents will.
      if transactions.indices.contains(number), transactions[number].fails != nil { return }
      throw .lab("mark 'commit \(number)': this transaction is not in flight")
    }
    let slack = isGrouped ? UInt64(place + 1) : 0
    if version < content.state.version || version > content.state.version + slack {
      violations.append(
        Violation(
          .prefix, promised: "transaction \(number) follows \(live.state.label)",
          got: "it was acknowledged as version \(version)"))
    }
    let state = content.state.numbered(version)
    labels[state.contentHash] = state.label
    live = Content(model: content.model, state: state)
    found = [live]
    doubtful = []
    orphans = []
    guard isConcurrent else {
      inFlight = []
      return
    }
    overtaken.formUnion(inFlight[..<place].compactMap(\.state.transaction))
    let shift = version &- content.state.version
    inFlight = inFlight[(place + 1)...].map { later in
      Content(model: later.model, state: later.state.numbered(later.state.version &+ shift))
    }
  }

  /// Takes in that a running program saw the newest version.
  /// - Returns: Whether it may be what it is: the live one, what a killed process left, or what a
  ///   stopped process has published.
  package mutating func sees(version: UInt64, contentHash: UInt64) -> Bool {
    func fits(_ content: Content) -> Bool {
      content.state.version == version && content.state.contentHash == contentHash
    }
    if let published { return fits(published) }
    if fits(live) { return true }
    if isGrouped, version == live.state.version + 1, live.state.contentHash == contentHash {
      return true
    }
    if !isConcurrent, let open = inFlight.first(where: fits) {
      published = open
      return true
    }
    guard let orphan = orphans.first(where: fits) else { return false }
    live = orphan
    found.append(orphan)
    orphans = []
    return true
  }

  private mutating func recovered(_ version: UInt64) {
    defer {
      doubtful = []
      orphans = []
      inFlight = []
    }
    if !outcomes.mustExist {
      outcomes.mustExist = true
      live = Content(model: live.model, state: Self.state(nil, version: version, live.model))
      found = [live]
      return
    }
    if version == live.state.version { return }
    if let earlier = found.first(where: { $0.state.version == version }) {
      live = earlier
      return
    }
    let open = doubtful + orphans + inFlight
    if let later = open.first(where: { $0.state.version == version }) {
      live = later
      found.append(later)
      return
    }
    // A group's last version, without changes behind the one before it.
    let before = found + open
    if isGrouped, let same = before.last(where: { $0.state.version + 1 == version }) {
      live = Content(model: same.model, state: same.state.numbered(version))
      found.append(live)
      return
    }
    violations.append(
      Violation(
        version < live.state.version ? .durability : .prefix,
        promised: "\(live.state.label) was the newest", got: "an open found version \(version)"))
  }
}
