// Statistics.swift: figures of an open database.

/// Figures of an open database.
public struct Statistics: Hashable, Sendable {
  /// A version that must stay whole.
  public struct ActiveVersion: Hashable, Sendable {
    /// The version.
    public var version: Version
    /// Snapshots of all processes that hold it; 0 for the newest version when no snapshot holds it.
    public var pins: Int
    /// The owner of the oldest pin.
    public var owner: PinRecord?
  }

  /// Size of the file.
  public var fileSizeBytes: UInt64
  /// The part of the file that the newest version uses, holes included.
  public var logicalSizeBytes: UInt64
  /// Space of the newest version's nodes, its free list included.
  public var contentBytes: UInt64
  /// Space that the next commit can use.
  public var freeBytes: UInt64
  /// Space that was released, but that some live version may still reach.
  public var pendingBytes: UInt64
  /// The part of `pendingBytes` that only pinned versions keep.
  public var pinnedBytes: UInt64
  /// Segments of the free list: nodes that a commit leaves alone.
  public var freeListSegments: Int
  /// The versions that snapshots hold, ascending.
  public var pinnedVersions: [Version]
  /// Every version that must stay whole, the newest included, ascending.
  public var activeVersions: [ActiveVersion]
}

extension Database {
  /// Figures of the database as it is now.
  ///
  /// Free, pending and pinned space are those of this handle's last commit, or 0 when it has made
  /// none.
  /// - Complexity: O(free list).
  public func statistics() -> Statistics {
    let (current, space) = state.withLock { ($0.current, $0.space) }
    let sector = UInt64(Layout.sectorSizeBytes)
    let logical = current.slot.logicalSizeBytes
    let records = session.slots.records(now: session.now())
    let byVersion = Dictionary(grouping: records, by: \.version)
    let pinned = byVersion.keys.sorted()
    let map = space?.map ?? SpaceMap(free: [], endSector: logical / sector)
    let free = map.freeSectorCount * sector
    let pending = map.pendingSectorCount * sector
    let kept = map.pending.filter { !$0.isFreeList && $0.keeper(among: pinned) != nil }
    return Statistics(
      fileSizeBytes: space?.fileSizeBytes ?? UInt64(current.reader.mapping.count),
      logicalSizeBytes: logical,
      contentBytes: logical - min(logical, UInt64(Layout.headerSizeBytes) + free + pending),
      freeBytes: free, pendingBytes: pending,
      pinnedBytes: kept.reduce(0) { $0 + $1.span.count } * sector,
      freeListSegments: map.segments.count, pinnedVersions: pinned,
      activeVersions: Set(pinned + [current.version]).sorted().map { version in
        let pins = byVersion[version] ?? []
        return Statistics.ActiveVersion(
          version: version, pins: pins.count,
          owner: pins.max { $0.ageMilliseconds < $1.ageMilliseconds })
      })
  }
}
