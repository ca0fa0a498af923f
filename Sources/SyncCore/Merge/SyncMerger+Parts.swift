// SyncMerger+Parts.swift: a log in parts, for whom it is kept in a file: what is before its first
// entry, those objects of it that anybody needs, and the entries.
// Invariant: a log that is made of its parts is the log, as far as the objects are there that its
// entries and what is to come name, with the targets of their links and whoever links to what is
// deleted.

/// What is known of the versions before a log's first entry.
package struct SyncLogStart: Hashable, Sendable {
  /// How far a client had come.
  package struct Author: Hashable, Sendable {
    /// Its number.
    package var client: UInt64
    /// The number, base and stamp of its last changeset.
    package var sequence: UInt64
    package var base: UInt64
    package var stamp: UInt64

    /// How far a client had come.
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

  /// What is known of some versions.
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
  /// What is known of the versions before the first entry.
  ///
  /// Of a client with entries here it says no more than what these need.
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

  /// Makes a log of its parts.
  /// - Parameters:
  ///   - start: What is before the entries.
  ///   - objects: The state there, or that part of it that matters, with a digest of its own.
  ///   - entries: Those that follow.
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
