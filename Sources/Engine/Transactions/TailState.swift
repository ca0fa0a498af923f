// TailState.swift: when the end of the file may be given back, and how far.
// Invariant: the file is never cut below the logical end of a version that somebody may read or
// recovery may choose. Nothing of a version stands behind its logical end, so no mapping is read
// where the file has no bytes any more. Growing and giving back do not take turns: a tail has to
// stay large for a while, and a growth step is left when it is cut.

/// What a handle knows of the ends of live versions.
struct TailState: Sendable {
  private static let versionsMax = 4096

  /// Logical sizes of the versions that this handle has read or made, not all that are live.
  private var logicalBytes: [Version: UInt64] = [:]
  /// Commits of this handle in a row after which the tail was large.
  private var largeCount = 0

  /// Begins with the version that the handle was opened at.
  init(_ state: VersionState) {
    note(state)
  }

  /// Takes note of a version.
  mutating func note(_ state: VersionState) {
    // Rarely: then the versions before this one keep the file as it is until they are released.
    if logicalBytes.count >= Self.versionsMax { logicalBytes = [:] }
    logicalBytes[state.version] = state.slot.logicalSizeBytes
  }

  /// Takes note of a commit of this handle.
  mutating func note(_ state: VersionState, fileSizeBytes: UInt64) {
    note(state)
    let logical = state.slot.logicalSizeBytes
    let tail = fileSizeBytes - min(fileSizeBytes, logical)
    let isLarge =
      tail > fileSizeBytes / Layout.shrinkDivisor && tail > 2 * Layout.growthStep(from: logical)
    largeCount = isLarge ? largeCount + 1 : 0
  }

  /// Whether the tail has been large for so long that it may be given back.
  var isLong: Bool { largeCount >= Layout.shrinkPatience }

  /// What has to stay of the file, or nil when nobody knows where some live version ends, because
  /// it is older than this handle or another one made it.
  func floorBytes(live: [Version]) -> UInt64? {
    var floor: UInt64 = 0
    for version in live {
      guard let bytes = logicalBytes[version] else { return nil }
      floor = max(floor, bytes)
    }
    return floor
  }
}
