// AuthorViews.swift: replays the state that the author of a changeset saw
// (docs/reference/sync-merge.md, section 10). Invariant: a changeset's view is determined by its
// history: it is the same whenever it is replayed.

/// State from restating a stale changeset, reused for the next one of its client.
struct StaleViews: Sendable {
  /// Where both replays start.
  var start: UInt64
  /// The graph at the head, and the version of the head.
  var head: EventGraph
  var headVersion: UInt64
  /// The view of the client's next changeset, if that has the same base.
  var view: EventGraph
  var client: UInt64
  var base: UInt64
  var nextSequence: UInt64
}

/// A client's changesets, in the log and pending.
struct AuthorViews {
  let merger: SyncMerger
  let client: UInt64
  /// The changesets that are not in the log.
  let pending: [SyncChangeset]
  /// Where all replays start.
  let start: UInt64
  private let replayState: SyncState
  private var views: [UInt64: EventGraph] = [:]

  /// - Complexity: O(entries after the barrier of the oldest relevant base).
  init(_ merger: SyncMerger, client: UInt64, base: UInt64, pending: [SyncChangeset]) {
    self.merger = merger
    self.client = client
    self.pending = pending
    var lowest = min(base, pending.first?.base.number ?? base)
    // A changeset pending at the lowest base may have an even lower base.
    for version in (merger.clients[client]?.versions ?? []).reversed() {
      guard version > lowest, let entry = merger[SyncVersion(version)] else { break }
      lowest = min(lowest, entry.changeset.base.number)
    }
    start = merger.barrier(at: lowest).number
    replayState =
      start >= merger.graphStart
      ? merger.state(at: start, from: merger.replayState, merger.graphStart)
      : merger.state(at: start, from: merger.first, merger.firstVersion)
  }

  /// A replay of all entries up to a version.
  func replay(to end: UInt64) -> EventGraph {
    merger.replay(from: replayState, start, to: end)
  }

  /// The changesets that were pending for one of the client.
  private func pending(before sequence: UInt64, base: UInt64) -> [SyncChangeset] {
    let versions = merger.clients[client]?.versions ?? []
    let logged = versions.reversed().prefix { $0 > base }.reversed().compactMap {
      merger[SyncVersion($0)]?.changeset
    }
    return (logged + pending).filter { $0.sequence < sequence }
  }

  /// The state that the author of a changeset saw.
  mutating func view(sequence: UInt64, base: UInt64) -> EventGraph {
    if let view = views[sequence] { return view }
    var graph = replay(to: base)
    var isRestating = false
    for (number, changeset) in pending(before: sequence, base: base).enumerated() {
      isRestating =
        isRestating
        || (merger.clients[client]?.staleVersions ?? []).contains {
          $0 > changeset.base.number && $0 <= base
        }
      let version = base + UInt64(number) + 1
      if isRestating {
        var inner = view(sequence: changeset.sequence, base: changeset.base.number)
        _ = Restatement.restate(
          changeset, view: &inner, head: &graph, version: version)
      } else {
        _ = graph.play(
          SyncEntry.sourced(changeset.operations), as: SyncMerger.mark(changeset, version: version))
      }
    }
    views[sequence] = graph
    return graph
  }
}

extension SyncMerger {
  /// A stale changeset's operations as if made on the head.
  mutating func restate(_ changeset: SyncChangeset) -> PlayedChangeset {
    let (client, base) = (changeset.client.number, changeset.base.number)
    var cached = staleViews
    staleViews = nil
    var views = AuthorViews(self, client: client, base: base, pending: [])
    if cached?.start != views.start { cached = nil }
    var head = cached?.head ?? views.replay(to: self.head.number)
    let from = cached?.headVersion ?? self.head.number
    for entry in entries(after: from, to: self.head.number) {
      let (operations, author) = Self.replayed(entry)
      _ = head.play(operations, as: author)
    }
    var view: EventGraph
    if let cached, cached.client == client, cached.base == base,
      cached.nextSequence == changeset.sequence
    {
      view = cached.view
    } else {
      view = views.view(sequence: changeset.sequence, base: base)
    }
    let restated = Restatement.restate(
      changeset, view: &view, head: &head, version: self.head.number + 1)
    staleViews = StaleViews(
      start: views.start, head: head, headVersion: self.head.number + 1, view: view,
      client: client, base: base, nextSequence: changeset.sequence + 1)
    return restated
  }

  /// The state that a client with these entries shows: with its pending changesets applied.
  /// - Parameters:
  ///   - client: The client.
  ///   - pending: Its changesets that are not yet among the entries, in order.
  /// - Returns: The state.
  /// - Complexity: O(operations after the barrier, and pending ones).
  public func visible(to client: SyncClient, pending: [SyncChangeset]) -> SyncState {
    guard let last = pending.last, last.sequence < .max else { return state }
    var views = AuthorViews(
      self, client: client.number, base: head.number, pending: pending)
    let graph = views.view(sequence: last.sequence + 1, base: head.number)
    var shown = state
    for object in graph.touched { shown.replace(object, by: graph.shown(object)) }
    return shown
  }
}
