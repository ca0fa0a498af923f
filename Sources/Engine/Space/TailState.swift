// TailState.swift: when the end of the file may be given back, and how far.
// Invariant: the file is never cut below the logical end of a version that somebody may read or
// recovery may choose. Nothing of a version stands behind its logical end, so no mapping is read
// where the file has no bytes any more. Growing and giving back do not take turns: a tail has to
// stay large for a while, and a growth step is left when it is cut.

/// What a handle knows of the ends of live versions.
struct TailState: Sendable {
  /// Logical sizes of the versions that this handle has seen, the live ones at least.
  private var logicalBytes: [Version: UInt64] = [:]
  /// Commits in a row after which the tail was large.
  private var largeCount = 0

  init() {}

  /// Begins with the version that recovery found.
  init(_ state: VersionState) {
    logicalBytes[state.version] = state.slot.logicalSizeBytes
  }

  /// Takes note of a commit.
  mutating func note(_ result: CommitResult, live: [Version]) {
    let logical = result.state.slot.logicalSizeBytes
    let tail = result.fileSizeBytes - min(result.fileSizeBytes, logical)
    let isLarge =
      tail > result.fileSizeBytes / Layout.shrinkDivisor
      && tail > 2 * Layout.growthStep(from: logical)
    largeCount = isLarge ? largeCount + 1 : 0
    if logicalBytes.count > 2 * live.count + 16 {
      let kept = Set(live)
      logicalBytes = logicalBytes.filter { kept.contains($0.key) }
    }
    logicalBytes[result.state.version] = logical
  }

  /// What has to stay of the file, or nil when nothing is to be cut, because the tail is small, or
  /// new, or because a live version is older than this handle and nobody knows where it ends.
  func floorBytes(live: [Version]) -> UInt64? {
    guard largeCount >= Layout.shrinkPatience else { return nil }
    var floor: UInt64 = 0
    for version in live {
      guard let bytes = logicalBytes[version] else { return nil }
      floor = max(floor, bytes)
    }
    return floor
  }
}
