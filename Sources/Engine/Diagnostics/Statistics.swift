// Statistics.swift: figures of an open database.

/// Figures of an open database.
public struct Statistics: Hashable, Sendable {
  /// Size of the file.
  public var fileSizeBytes: UInt64
  /// The part of the file that the newest version uses, holes included.
  public var logicalSizeBytes: UInt64
  /// Space that the next commit can use.
  public var freeBytes: UInt64
  /// Space that was released, but that some live version may still reach.
  public var pendingBytes: UInt64
  /// The versions that snapshots hold, ascending.
  public var pinnedVersions: [Version]
}

extension Database {
  /// Figures of the database as it is now.
  /// - Complexity: O(free list).
  public func statistics() -> Statistics {
    let (current, space) = state.withLock { ($0.current, $0.space) }
    let sector = UInt64(Layout.sectorSizeBytes)
    let pins = session.slots.records(now: session.now())
    return Statistics(
      fileSizeBytes: space?.fileSizeBytes ?? UInt64(current.reader.bytes.count),
      logicalSizeBytes: current.slot.logicalSizeBytes,
      freeBytes: (space?.map.freeSectorCount ?? 0) * sector,
      pendingBytes: (space?.map.pendingSectorCount ?? 0) * sector,
      pinnedVersions: Set(pins.map(\.version)).sorted())
  }
}
