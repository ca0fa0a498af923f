// SyncMerger.swift: the server's order of a realm in memory, from the first version that is kept:
// accepts changesets and turns them into entries, or accepts entries and checks them. Invariants:
// `state` is the result of all entries' effects; `graph` has the entries after the barrier and
// gives the same state (I3, I15).

/// A realm's history and state.
public struct SyncMerger: Sendable {
  /// Information about a client.
  struct Client: Hashable, Sendable {
    var sequence: UInt64 = 0
    var base: UInt64 = 0
    var stamp: UInt64 = 0
    /// The versions of its entries, and those of its stale ones.
    var versions: [UInt64] = []
    var staleVersions: [UInt64] = []
  }

  /// The state at the first version that is kept.
  var first: SyncState
  var firstVersion: UInt64
  /// The state after the last entry.
  public internal(set) var state: SyncState
  /// All entries after the first version.
  public internal(set) var entries: [SyncEntry] = []
  /// The largest stamp of all entries up to each; the first is for no entry.
  var stamps: [UInt64] = [0]
  /// A hash over all entries up to each; the first is that of the earlier entries.
  var chains: [UInt128] = [0]
  var clients: [UInt64: Client] = [:]
  /// Replayed from `graphStart`, which is no later than the barrier.
  var graph: EventGraph
  var graphStart: UInt64
  /// The state at `graphStart`.
  var replayState: SyncState
  /// State from restating the last stale changeset, for the next one.
  var staleViews: StaleViews?
  /// Whether an entry did not fit, so that this state is invalid.
  var isBroken = false

  /// A realm whose history begins at a version.
  public init(_ state: SyncState = SyncState(), at version: SyncVersion = .zero) {
    first = state
    firstVersion = version.number
    self.state = state
    graph = EventGraph(origin: state)
    graphStart = version.number
    replayState = state
  }

  /// The version after the last entry.
  public var head: SyncVersion { SyncVersion(firstVersion + UInt64(entries.count)) }

  /// The entries after a version.
  package func entries(after version: SyncVersion) -> ArraySlice<SyncEntry> {
    entries(after: version.number, to: head.number)
  }

  /// Where replays start.
  public var barrier: SyncVersion { barrier(at: head.number) }

  /// The entry of a version.
  public subscript(_ version: SyncVersion) -> SyncEntry? {
    guard version.number > firstVersion, version <= head else { return nil }
    return entries[Int(version.number - firstVersion - 1)]
  }

  /// The kept entries after one version, up to another.
  func entries(after version: UInt64, to end: UInt64) -> ArraySlice<SyncEntry> {
    let low = min(max(version, firstVersion), head.number)
    let high = max(low, min(end, head.number))
    return entries[Int(low - firstVersion)..<Int(high - firstVersion)]
  }

  /// The barrier after a version; that of an entry may lie before the first version that is kept,
  /// where no replay starts.
  func barrier(at version: UInt64) -> SyncVersion {
    let first = SyncVersion(firstVersion)
    return max(self[SyncVersion(version)]?.barrier ?? first, first)
  }

  /// The largest stamp that a changeset would know.
  public func knownStamp(client: SyncClient, base: SyncVersion) -> SyncStamp {
    let index = min(max(base.number, firstVersion) - firstVersion, UInt64(entries.count))
    return SyncStamp(bits: max(stamps[Int(index)], clients[client.number]?.stamp ?? 0))
  }

  /// Whether a changeset may be accepted next.
  /// - Throws: `sequence`, `base`, `stamp` or `limit`.
  public func check(_ changeset: SyncChangeset) throws(SyncError) {
    try check(changeset, isRestated: false)
  }

  /// Checks a changeset; one that the server has restated has a base that need not be kept.
  func check(_ changeset: SyncChangeset, isRestated: Bool) throws(SyncError) {
    guard !isBroken else { throw SyncError(.divergence, "an entry did not fit before") }
    let client = clients[changeset.client.number] ?? Client()
    guard changeset.client.number > 0, changeset.sequence > 0,
      changeset.sequence - 1 == client.sequence
    else {
      throw SyncError(.sequence, "\(changeset.sequence) after \(client.sequence)")
    }
    let low = isRestated ? client.base : max(client.base, firstVersion)
    guard changeset.base.number >= low, changeset.base <= head else {
      throw SyncError(.base, "\(changeset.base.number) is not in \(low)...\(head.number)")
    }
    let isKept = changeset.base.number >= firstVersion
    let known =
      isKept
      ? knownStamp(client: changeset.client, base: changeset.base)
      : SyncStamp(bits: client.stamp)
    guard changeset.stamp > known else {
      throw SyncError(.stamp, "\(changeset.stamp.bits) <= \(known.bits)")
    }
    guard changeset.operations.count <= SyncLimits.operationsMax else {
      throw SyncError(.limit, "\(changeset.operations.count) operations")
    }
  }

  /// Whether a changeset's base, or an own changeset that it builds on, is before the barrier.
  public func isStale(_ changeset: SyncChangeset) -> Bool {
    changeset.base < barrier
      || clients[changeset.client.number]?.staleVersions.last ?? 0 > changeset.base.number
  }

  /// Takes a changeset as the next entry.
  /// - Parameters:
  ///   - changeset: The changeset, with its final stamp.
  ///   - user: The user whose client made it.
  ///   - refusal: Why it is to have no effect; nil for all others.
  ///   - goal: The highest version that the barrier may move to; nil leaves it.
  /// - Returns: The entry.
  /// - Throws: As `check`; nothing is changed then. `divergence` would be a bug of the merge: the
  ///   realm is then unusable, and always throws that.
  /// - Complexity: O(operations * log(list)) for one that is not stale. A stale one replays its
  ///   author's view.
  @discardableResult
  public mutating func accept(
    _ changeset: SyncChangeset, user: UInt64 = 0, refusal: UInt32? = nil,
    barrierAtMost goal: SyncVersion? = nil
  ) throws(SyncError) -> SyncEntry {
    try check(changeset)
    var entry = SyncEntry(
      version: SyncVersion(head.number + 1), user: user, changeset: changeset, refusal: refusal)
    var restated = PlayedChangeset()
    if isStale(changeset) {
      if refusal == nil { restated = restate(changeset) }
      entry.restated = restated.resolved
    }
    let (operations, author) = Self.replayed(entry)
    let outcome = graph.play(operations, as: author)
    if refusal == nil {
      entry.resolved =
        outcome.resolved == SyncEntry.sourced(changeset.operations) ? nil : outcome.resolved
      entry.overruled = restated.told(then: outcome)
    }
    do { try state.apply(entry.effect) } catch {
      isBroken = true
      throw SyncError(.divergence, "what was resolved does not fit: \(error)")
    }
    append(&entry, goal: goal)
    return entry
  }

  /// The operations of an entry for a replay, and their author's mark.
  static func replayed(_ entry: SyncEntry) -> ([SourcedOperation], EventMark) {
    let changeset = entry.changeset
    var author = mark(changeset, version: entry.version.number)
    guard entry.refusal == nil else { return ([], author) }
    guard let restated = entry.restated else {
      return (SyncEntry.sourced(changeset.operations), author)
    }
    author.base = entry.version.number - 1
    return (restated, author)
  }

  static func mark(_ changeset: SyncChangeset, version: UInt64) -> EventMark {
    EventMark(
      version: version, client: changeset.client.number, sequence: changeset.sequence,
      base: changeset.base.number, stamp: changeset.stamp.bits, operation: -1)
  }

  /// Adds an entry whose effect is in the state and in the graph.
  mutating func append(_ entry: inout SyncEntry, goal: SyncVersion?) {
    let changeset = entry.changeset
    var client = clients[changeset.client.number] ?? Client()
    client.sequence = changeset.sequence
    client.base = changeset.base.number
    client.stamp = changeset.stamp.bits
    client.versions.append(entry.version.number)
    if entry.isStale { client.staleVersions.append(entry.version.number) }
    clients[changeset.client.number] = client
    stamps.append(max(stamps[stamps.count - 1], changeset.stamp.bits))
    entry.digest = state.digest
    entry.barrier = barrier
    entries.append(entry)
    if let goal { entries[entries.count - 1].barrier = movedBarrier(to: goal) }
    entry.barrier = entries[entries.count - 1].barrier
    chains.append(SyncHash.chain(chains[chains.count - 1], entry))
    compact()
  }

  /// The last version up to a goal such that no later entry that is not stale has its base before
  /// it.
  func movedBarrier(to goal: SyncVersion) -> SyncVersion {
    let old = barrier.number
    var moved = min(goal.number, head.number)
    // All entries after `version` have been checked.
    var version = head.number
    while version > moved, moved > old {
      if let entry = self[SyncVersion(version)], !entry.isStale {
        moved = min(moved, entry.changeset.base.number)
      }
      version -= 1
    }
    return SyncVersion(max(moved, old))
  }

  /// Restarts the graph at the barrier, once at least half of it is not needed any more.
  private mutating func compact() {
    let barrier = barrier.number
    guard barrier > graphStart, (barrier - graphStart) * 2 >= head.number - graphStart else {
      return
    }
    replayState = state(at: barrier, from: replayState, graphStart)
    graphStart = barrier
    graph = replay(from: replayState, barrier, to: head.number)
  }

  /// The state at a version, from one before it.
  func state(at version: UInt64, from state: SyncState, _ start: UInt64) -> SyncState {
    var state = state
    for entry in entries(after: start, to: version) { state.reapply(entry.effect) }
    return state
  }

  /// Entries played from a state on.
  func replay(from state: SyncState, _ start: UInt64, to end: UInt64) -> EventGraph {
    var graph = EventGraph(origin: state)
    for entry in entries(after: start, to: end) {
      let (operations, author) = Self.replayed(entry)
      _ = graph.play(operations, as: author)
    }
    return graph
  }
}
