// SyncMerger+Take.swift: a client's side: entries that the server made are played and checked.

extension SyncMerger {
  /// Takes the next entry of the server.
  /// - Parameter entry: The entry after the head.
  /// - Throws: `version`, `sequence`, `base`, `stamp` or `limit` for an entry that does not follow;
  ///   nothing is changed then. `divergence` when its replay gives a different result; then this
  ///   replica is unusable, and always throws that.
  /// - Complexity: As `accept`, for an entry that is not stale.
  public mutating func take(_ entry: SyncEntry) throws(SyncError) {
    try check(entry.changeset, isRestated: entry.isStale)
    guard entry.version.number == head.number + 1 else {
      throw SyncError(.version, "\(entry.version.number) after \(head.number)")
    }
    guard entry.isStale == isStale(entry.changeset) else {
      throw SyncError(.divergence, "version \(entry.version.number) is stale or not")
    }
    let (operations, author) = Self.replayed(entry)
    let played = graph.play(operations, as: author)
    isBroken = true
    if entry.refusal == nil {
      guard played.resolved == entry.effect else {
        throw SyncError(.divergence, "version \(entry.version.number) resolves otherwise")
      }
      do { try state.apply(entry.effect) } catch {
        throw SyncError(.divergence, "version \(entry.version.number) does not fit: \(error)")
      }
    }
    guard state.digest == entry.digest else {
      throw SyncError(.divergence, "version \(entry.version.number) has another digest")
    }
    staleViews = nil
    var taken = entry
    append(&taken, goal: entry.barrier)
    guard taken.barrier == max(entry.barrier, start) else {
      throw SyncError(
        .divergence, "barrier \(entry.barrier.number) of version \(entry.version.number)")
    }
    entries[entries.count - 1] = entry
    chains[chains.count - 1] = SyncHash.chain(chains[chains.count - 2], entry)
    isBroken = false
  }
}
