// TailState.swift: when the tail of the file may be truncated, and how far. Invariant: the file is
// never truncated below the logical end of a version that may be read or that recovery may choose.
// A version has no nodes beyond its logical end, so no mapping is read where the file has no bytes
// any more. Growing and truncating do not alternate: a tail has to stay large for a while, and
// truncation leaves one growth step.

/// What a handle knows about the ends of live versions.
struct TailState: Sendable {
  private static let versionsMax = 4096

  /// Logical sizes of the versions that this handle has read or written, not of all live ones.
  private var logicalBytes: [Version: UInt64] = [:]
  /// Commits of this handle in a row after which the tail was large.
  private var largeCount = 0

  /// Begins with the version that the handle was opened at.
  init(_ state: VersionState) {
    note(state)
  }

  /// Records a version.
  mutating func note(_ state: VersionState) {
    // Happens rarely: then the versions before this one prevent truncation until they are released.
    if logicalBytes.count >= Self.versionsMax { logicalBytes = [:] }
    logicalBytes[state.version] = state.slot.logicalSizeBytes
  }

  /// Records a commit of this handle.
  mutating func note(_ state: VersionState, fileSizeBytes: UInt64) {
    note(state)
    let logical = state.slot.logicalSizeBytes
    let tail = fileSizeBytes - min(fileSizeBytes, logical)
    let isLarge =
      tail > fileSizeBytes / Layout.shrinkDivisor && tail > 2 * Layout.growthStep(from: logical)
    largeCount = isLarge ? largeCount + 1 : 0
  }

  /// Whether the tail has been large long enough to be truncated.
  var isLong: Bool { largeCount >= Layout.shrinkPatience }

  /// The smallest allowed size of the file, or nil when the end of some live version is unknown,
  /// because it is older than this handle or another handle made it.
  func floorBytes(live: [Version]) -> UInt64? {
    var floor: UInt64 = 0
    for version in live {
      guard let bytes = logicalBytes[version] else { return nil }
      floor = max(floor, bytes)
    }
    return floor
  }
}
