// CommitHistory.swift: derives the contents that a crash may leave from the plan and the
// acknowledgements.
// Each transaction must be present (acknowledged), may be present as a whole (in flight, or failed
// with an error that leaves open what is on disk), or must be absent (cancelled, rejected, not
// begun). Invariant: a state's version is its predecessor's plus one; with grouped commits it may
// be one more for each group, because a group can end in a version without changes. Transactions of
// concurrent actors are serialized, so each is in flight on top of the previous one, and an
// acknowledgement makes all before it durable.

import Findings
import LabCore
import Workload

/// A possible content of the database.
public struct CommittedState: Sendable, Hashable {
  /// The transaction that made it; nil for the empty database.
  public let transaction: Int?
  /// Its version.
  public let version: UInt64
  /// Number of sentinel rows in it (see `Sentinel`).
  let sentinels: Int
  /// The content's hash with 0, 1, … sentinel rows.
  let hashes: [UInt64]

  init(transaction: Int?, version: UInt64, sentinels: Int, hashes: [UInt64]) {
    self.transaction = transaction
    self.version = version
    self.sentinels = sentinels
    self.hashes = hashes
  }

  /// One per recovery that a power cut interrupts, and one that shows the last state usable.
  private static let sentinelsMax = CrashDeclaration.recoveryDepthMax + 1

  /// The content's hash.
  public var contentHash: UInt64 { hashes[sentinels] }
  /// The content's hash after one more sentinel commit, an empty row under the highest key; nil
  /// when it is not needed.
  public var hashWithSentinel: UInt64? {
    hashes.indices.contains(sentinels + 1) ? hashes[sentinels + 1] : nil
  }

  /// A model's content as a version without sentinel rows.
  package init(transaction: Int?, version: UInt64, _ model: ReferenceModel) {
    self.init(
      transaction: transaction, version: version, sentinels: 0,
      hashes: model.contentHashes(withSentinels: Self.sentinelsMax))
  }

  /// The same content with another version number.
  func numbered(_ version: UInt64) -> CommittedState {
    CommittedState(
      transaction: transaction, version: version, sentinels: sentinels, hashes: hashes)
  }

  /// For messages.
  package var label: String {
    transaction.map { "version \(version) (transaction \($0))" } ?? "version \(version) (empty)"
  }
}

/// The contents that may be found after a crash at one point of a run.
public struct AllowedOutcomes: Sendable, Hashable {
  /// False until an open was acknowledged: before, the database may be missing or incomplete.
  public var mustExist: Bool
  /// The newest acknowledged content: this or a later one must be present.
  public var acked: CommittedState
  /// Contents that may be present instead.
  public var candidates: [CommittedState]
  /// Content hashes of the copies that must exist, by name.
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

  /// All allowed contents.
  public var states: [CommittedState] { [acked] + candidates }

  /// The allowed content with this version and hash.
  func state(version: UInt64, contentHash: UInt64) -> CommittedState? {
    if acked.version == version, acked.contentHash == contentHash { return acked }
    return candidates.first { $0.version == version && $0.contentHash == contentHash }
  }
}

/// Replays a plan as far as it was acknowledged.
///
/// An open that finds an unacknowledged transaction continues from it, but does not make it
/// durable: it may only have been in the cache. So the last acknowledged content remains the
/// required one until the next commit, which follows it in every order, is acknowledged.
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
  /// Failed since the last open, with an error that leaves open what is on disk.
  private var doubtful: [Content] = []
  /// What a killed process may have left; later transactions build on it if it is present.
  private var orphans: [Content] = []
  /// The open transaction on top of the live content, and of each orphan; with concurrent actors,
  /// one on top of the other.
  private var inFlight: [Content] = []
  /// The content's hash after the transaction that began last, whatever its outcome.
  private var begunHash: UInt64?
  /// The open transaction, once a process has seen it: none may see the previous version again.
  private var published: Content?
  package private(set) var outcomes: AllowedOutcomes
  /// Broken promises that are visible without a crash, for example a wrong version number.
  package private(set) var violations: [Violation] = []
  /// Names of hashes, so that a wrong content can be identified.
  package private(set) var labels: [UInt64: String] = [:]

  /// The content that the running program must see.
  package var liveState: CommittedState { live.state }

  /// Starts before the first open; `emptyVersion` is that of a database without commits.
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

  /// Processes one acknowledgement.
  /// - Throws: `LabError` with code `.lab` when it names a transaction that is not in the plan.
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

  /// The same contents with the version numbers that a group's last version may have.
  private func numberedByGroups(
    _ acked: CommittedState, _ others: [Content]
  ) -> [CommittedState] {
    var states = [acked.numbered(acked.version + 1)]
    states += others.map { $0.state.numbered($0.state.version + 1) }
    return states
  }

  /// Sets the version of the transaction that began last; a group before it may have added one.
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

  /// A transaction has ended without effect.
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
      // A transaction with an invalid statement never reaches its commit.
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
      // It was not rejected as it had to be: the answer shows that, and so will the contents.
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

  /// Records that a running program saw the newest version.
  /// - Returns: Whether it may be that: the live one, one left by a killed process, or one that a
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
    // A group's last version, without changes relative to the one before it.
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
