// Statistics.swift: figures of an open database.

/// Figures of an open database.
public struct Statistics: Hashable, Sendable {
  /// A version that must stay whole.
  public struct ActiveVersion: Hashable, Sendable {
    /// The version.
    public var version: Version
    /// Snapshots that hold it; 0 for the newest version when nobody reads it.
    public var pins: Int
    /// Whose oldest pin it is, as process id and thread id, where that is known.
    public var owner: String?
    /// Age of its oldest pin, where that is known.
    public var ageMilliseconds: UInt64?
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
  /// The part of it that only pinned versions keep.
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
  /// - Complexity: O(free list).
  public func statistics() -> Statistics {
    state.withLock { state in
      let sector = UInt64(Layout.sectorSizeBytes)
      let logical = state.current.slot.logicalSizeBytes
      let free = state.space.freeSectorCount * sector
      let pending = state.space.pendingSectorCount * sector
      let pinned = state.pins.keys.sorted()
      let kept = state.space.pending.filter { span in
        !span.isFreeList && span.keeper(among: pinned) != nil
      }
      return Statistics(
        fileSizeBytes: state.fileSizeBytes, logicalSizeBytes: logical,
        contentBytes: logical - UInt64(Layout.headerSizeBytes) - free - pending,
        freeBytes: free, pendingBytes: pending,
        pinnedBytes: kept.reduce(0) { $0 + $1.span.count } * sector,
        freeListSegments: state.space.segments.count, pinnedVersions: pinned,
        activeVersions: Set(state.live).sorted().map { version in
          Statistics.ActiveVersion(version: version, pins: state.pins[version] ?? 0)
        })
    }
  }
}
