// CommitStep.swift: the steps of a commit by name, in their order, for failpoints and traces.

/// A step of a commit.
public enum CommitStep: Int, CaseIterable, Sendable, CustomStringConvertible {
  /// Zeros over a root slot that recovery refused; only then.
  case clearStaleSlot
  /// Nodes move from a mostly empty tail to free places.
  case moveOutOfTail
  /// Changed nodes get their places and are encoded, in memory.
  case encodeTrees
  /// Replaced nodes become pending.
  case releaseOldTop
  /// Free list, group and root slot are encoded, in memory.
  case encodeTop
  /// Space is allocated, when the file is too small.
  case growFile
  /// The nodes go to the file.
  case writeNodes
  /// The nodes are made durable; not with one sync.
  case syncNodes
  /// The root slot is written to the file.
  case writeRootSlot
  /// The root slot is made durable, and with one sync the nodes with it.
  case syncRootSlot
  /// The file is truncated at the logical end, after it was too large for some time.
  case giveTailBack

  /// Whether a failure here leaves the content of the medium unknown, so that the handle is
  /// poisoned.
  public var poisons: Bool {
    switch self {
    case .clearStaleSlot, .syncNodes, .writeRootSlot, .syncRootSlot: true
    default: false
    }
  }

  /// The name in words, for example `sync nodes`.
  public var description: String {
    switch self {
    case .clearStaleSlot: "clear stale slot"
    case .moveOutOfTail: "move out of tail"
    case .encodeTrees: "encode trees"
    case .releaseOldTop: "release old top"
    case .encodeTop: "encode top"
    case .growFile: "grow file"
    case .writeNodes: "write nodes"
    case .syncNodes: "sync nodes"
    case .writeRootSlot: "write root slot"
    case .syncRootSlot: "sync root slot"
    case .giveTailBack: "give tail back"
    }
  }
}
