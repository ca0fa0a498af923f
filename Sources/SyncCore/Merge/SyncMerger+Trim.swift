// SyncMerger+Trim.swift: removes the beginning of a log: for a server that no longer keeps it, and
// for a client without a log. Invariant: a trimmed log accepts every changeset whose author's view
// it can still replay, with the same entry as the whole log.

extension SyncMerger {
  /// The first version that is kept.
  public var start: SyncVersion { SyncVersion(firstVersion) }

  /// A hash over all entries up to a version, with their order: equal logs have equal chains, and
  /// logs that differ at one entry have different chains from there on, whatever their states are.
  /// - Returns: nil for versions that are not kept.
  public func chain(at version: SyncVersion) -> UInt128? {
    guard version.number >= firstVersion, version <= head else { return nil }
    return chains[Int(version.number - firstVersion)]
  }

  /// The number of a client's last changeset in the log; zero without any.
  public func lastSequence(of client: SyncClient) -> UInt64 {
    clients[client.number]?.sequence ?? 0
  }

  /// The last version that the log may be trimmed to while a client may still make changesets.
  ///
  /// A changeset's view is replayed from the barrier at its base, or at that of an own changeset
  /// that was pending when it was made (docs/reference/sync-merge.md, section 10).
  /// - Parameters:
  ///   - client: The client.
  ///   - base: No future changeset has a lower one.
  /// - Returns: The version; never later than the barrier at the base.
  /// - Complexity: O(the client's entries after the base).
  public func needed(by client: SyncClient, base: SyncVersion) -> SyncVersion {
    var lowest = min(base, head).number
    for version in (clients[client.number]?.versions ?? []).reversed() {
      guard version > lowest, let entry = self[SyncVersion(version)] else { break }
      lowest = min(lowest, entry.changeset.base.number)
    }
    return max(barrier(at: max(lowest, firstVersion)), start)
  }

  /// Removes the entries up to a version.
  /// - Parameter version: The lowest result of `needed` for all clients still to be served; results
  ///   beyond the barrier count as the barrier.
  /// - Complexity: O(entries).
  public mutating func trim(to version: SyncVersion) {
    let goal = min(version, barrier).number
    guard !isBroken, goal > firstVersion else { return }
    let count = Int(goal - firstVersion)
    first = state(at: goal, from: first, firstVersion)
    if graphStart < goal {
      replayState = first
      graphStart = goal
      graph = replay(from: first, goal, to: head.number)
    }
    firstVersion = goal
    entries.removeFirst(count)
    stamps.removeFirst(count)
    chains.removeFirst(count)
    staleViews = nil
    for number in clients.keys {
      clients[number]?.versions.removeAll { $0 <= goal }
      clients[number]?.staleVersions.removeAll { $0 <= goal }
    }
  }

  /// The same log from its barrier on: for a client without a common base.
  /// - Complexity: O(entries).
  public func trimmedToBarrier() -> SyncMerger {
    var log = self
    log.trim(to: barrier)
    return log
  }
}

extension SyncMerger: Hashable {
  /// Compares the first state, the information about clients, and all entries; everything else
  /// follows from them.
  public static func == (left: SyncMerger, right: SyncMerger) -> Bool {
    left.firstVersion == right.firstVersion && left.chains == right.chains
      && left.isBroken == right.isBroken && left.clients == right.clients
      && left.first == right.first && left.entries == right.entries
  }

  /// Hashes the chain, which has the entries.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(firstVersion)
    hasher.combine(isBroken)
    hasher.combine(chains[chains.count - 1])
  }
}

extension SyncHash {
  /// The chain after an entry.
  static func chain(_ before: UInt128, _ entry: SyncEntry) -> UInt128 {
    var hash = SyncHash()
    hash.append(before)
    let changeset = entry.changeset
    hash.append(UInt128(changeset.client.number) << 64 | UInt128(changeset.sequence))
    hash.append(UInt128(changeset.base.number) << 64 | UInt128(changeset.stamp.bits))
    let refusal = entry.refusal.map { UInt64($0) + 1 } ?? 0
    hash.append(UInt128(entry.barrier.number) << 64 | UInt128(refusal))
    hash.append(UInt128(changeset.operations.count) << 64 | UInt128(entry.user))
    hash.append(entry.digest)
    return hash.finish()
  }
}
