// SyncMerger+Parts.swift: a log in parts, for storing it in a file: the state before its first
// entry, limited to needed objects, and the entries. Invariant: a log built from its parts equals
// the log, as far as it has the objects named by its entries and by future ones, with the targets
// of their links and the objects that link to deleted ones.

/// Information about the versions before a log's first entry.
package struct SyncLogStart: Hashable, Sendable {
  /// The progress of a client.
  package struct Author: Hashable, Sendable {
    /// Its number.
    package var client: UInt64
    /// The number, base and stamp of its last changeset.
    package var sequence: UInt64
    package var base: UInt64
    package var stamp: UInt64

    /// The progress of a client.
    package init(client: UInt64, sequence: UInt64, base: UInt64, stamp: UInt64) {
      self.client = client
      self.sequence = sequence
      self.base = base
      self.stamp = stamp
    }
  }

  /// The version.
  package var version: SyncVersion
  /// Its digest.
  package var digest: UInt128
  /// The largest stamp up to it.
  package var stamp: SyncStamp
  /// The hash over all entries up to it.
  package var chain: UInt128
  /// The clients, by number.
  package var authors: [Author]

  /// Information about some versions.
  package init(
    version: SyncVersion, digest: UInt128, stamp: SyncStamp, chain: UInt128, authors: [Author]
  ) {
    self.version = version
    self.digest = digest
    self.stamp = stamp
    self.chain = chain
    self.authors = authors
  }
}

extension SyncMerger {
  /// Information about the versions before the first entry.
  ///
  /// For a client with entries here it contains only what these need.
  package var startInWords: SyncLogStart {
    var authors: [UInt64: SyncLogStart.Author] = [:]
    for (number, client) in clients {
      authors[number] = SyncLogStart.Author(
        client: number, sequence: client.sequence, base: client.base, stamp: client.stamp)
    }
    for entry in entries.reversed() {
      let changeset = entry.changeset
      authors[changeset.client.number] = SyncLogStart.Author(
        client: changeset.client.number, sequence: changeset.sequence - 1, base: 0, stamp: 0)
    }
    return SyncLogStart(
      version: start, digest: first.digest, stamp: SyncStamp(bits: stamps[0]), chain: chains[0],
      authors: authors.values.filter { $0.sequence > 0 }.sorted { $0.client < $1.client })
  }

  /// The state at the first version that is kept.
  package var startState: SyncState { first }

  /// Builds a log from its parts.
  /// - Parameters:
  ///   - start: The state before the entries.
  ///   - objects: The state there, or the relevant part of it, with its own digest.
  ///   - entries: The following entries.
  /// - Throws: `SyncError` for entries that do not follow, or do not fit.
  /// - Complexity: As `take` for each entry.
  package init(
    _ start: SyncLogStart, objects: SyncState, entries: [SyncEntry]
  ) throws(SyncError) {
    var origin = objects
    origin.digest = start.digest
    self.init(origin, at: start.version)
    stamps = [start.stamp.bits]
    chains = [start.chain]
    for author in start.authors {
      clients[author.client] = Client(
        sequence: author.sequence, base: author.base, stamp: author.stamp)
    }
    for entry in entries { try take(entry) }
  }
}

// MARK: objects in and out

extension SyncMerger {
  /// Adds objects that no kept entry touches, before a changeset that names them.
  /// - Parameter objects: Their content, which is the same in all kept versions.
  /// - Complexity: O(content of the objects).
  package mutating func include(_ objects: [SyncObject: SyncNode]) {
    let new = objects.filter { state.objects[$0.key] == nil && first.objects[$0.key] == nil }
    guard !new.isEmpty else { return }
    staleViews = nil
    for (object, node) in new {
      first.include(object, node)
      replayState.include(object, node)
      state.include(object, node)
      graph.include(object, node)
    }
  }

  /// Forgets the content of objects.
  /// - Parameter isKept: Whether an object stays; true for those that kept entries touch or name.
  /// - Complexity: O(objects), and a replay of the entries after the barrier.
  package mutating func forget(keeping isKept: (SyncObject) -> Bool) {
    staleViews = nil
    first = first.part(isKept)
    replayState = replayState.part(isKept)
    state = state.part(isKept)
    graph = replay(from: replayState, graphStart, to: head.number)
  }
}
