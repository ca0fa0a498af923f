// SyncMerger+Invariants.swift: invariants that must hold after every entry, recomputed: for tests,
// fuzzing and the lab.

extension SyncMerger {
  /// A description of an error in the state; nil when there is none.
  ///
  /// I2: the digest is that of the objects. I3: the objects touched since the replay's start match
  /// the history. I13: there are no dangling links.
  /// - Complexity: O(objects), and O(content of the touched ones).
  package func breach(countsDigest: Bool = true) -> String? {
    guard !isBroken else { return "what was resolved did not fit" }
    for object in graph.touched where state.objects[object] != graph.shownWithoutSums(object) {
      return "\(object.type) \(object.key) is \(text(state.objects[object])), "
        + "and by its history \(text(graph.shown(object)))"
    }
    guard state.danglingLinks.isEmpty else { return "\(state.danglingLinks) are linked and dead" }
    guard countsDigest else { return nil }
    var digest: UInt128 = 0
    for (object, node) in state.objects {
      var node = node
      node.countSums()
      digest &+= SyncDigest.object(object, sum: node.sum)
    }
    return digest == state.digest ? nil : "the digest is not that of the objects"
  }

  /// An error in replays: each from a barrier must equal one from the beginning (I15); nil when
  /// there is none.
  package func replayBreach() -> String? {
    let whole = replay(from: first, firstVersion, to: head.number)
    let start = barrier.number
    let short = replay(
      from: state(at: start, from: first, firstVersion), start, to: head.number)
    for object in whole.touched where whole.shown(object) != state.objects[object] {
      return "from the beginning, \(object.type) \(object.key) is \(text(whole.shown(object))), "
        + "not \(text(state.objects[object]))"
    }
    for object in whole.touched where short.shown(object) != state.objects[object] {
      return "from barrier \(start), \(object.type) \(object.key) is "
        + "\(text(short.shown(object))), not \(text(state.objects[object]))"
    }
    return nil
  }

  private func text(_ node: SyncNode?) -> String { node.map { "\($0.fields)" } ?? "not there" }
}

extension SyncMerger {
  /// The state that the author of a client's next changeset saw, as replayed here (I15).
  package func authorState(of changeset: SyncChangeset) -> SyncState {
    let base = changeset.base.number
    var views = AuthorViews(
      self, client: changeset.client.number, base: base, pending: [])
    let graph = views.view(sequence: changeset.sequence, base: base)
    var seen = state(at: base, from: first, firstVersion)
    for object in graph.touched { seen.replace(object, by: graph.shown(object)) }
    return seen
  }
}

extension SyncMerger {
  /// Resolves changesets without the state, as a server does whose state is elsewhere.
  /// - Returns: How many operations they are resolved to.
  package func playedOperationCount(_ changesets: [SyncChangeset]) -> Int {
    var graph = graph
    var count = 0
    for (number, changeset) in changesets.enumerated() {
      let version = head.number + UInt64(number) + 1
      let played = graph.play(
        SyncEntry.sourced(changeset.operations), as: Self.mark(changeset, version: version))
      count += played.resolved.count
    }
    return count
  }
}
