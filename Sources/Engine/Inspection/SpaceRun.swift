// SpaceRun.swift: the uses of a file's sectors, as plain values.

/// The use of a run of sectors.
public enum SectorUse: Hashable, Sendable, CustomStringConvertible {
  /// File header and root slots.
  case header
  /// A node of the newest version.
  case node(NodeUse)
  /// Free in the newest version.
  case free
  /// Released; an older version may still reach it.
  case pending
  /// Neither reachable nor free: a leak, or out of reach because of damage.
  case unaccounted
  /// Allocated beyond the logical end.
  case unused

  /// The kind of a node.
  public enum NodeUse: UInt8, Hashable, Sendable {
    /// Tables and free list of the version.
    case group = 1
    /// Children of a tree.
    case inner = 2
    /// Rows.
    case leaf = 3
    /// A long string, binary or mixed value.
    case string = 4
    /// The free list.
    case freeList = 5
    /// Children of the tree of a collection.
    case collectionInner = 6
    /// Elements of a collection.
    case collectionLeaf = 7
    /// Children of the tree of an index.
    case indexInner = 8
    /// Entries of an index.
    case indexLeaf = 9
    /// A part of the free list.
    case freeListSegment = 10
    /// Words of a full-text index.
    case wordLeaf = 11
  }

  static func node(_ kind: NodeKind) -> SectorUse {
    .node(NodeUse(rawValue: kind.rawValue) ?? .group)
  }

  /// The name of the use.
  public var description: String {
    switch self {
    case .header: "header"
    case .node(let kind): "\(kind)"
    case .free: "free"
    case .pending: "pending"
    case .unaccounted: "unaccounted"
    case .unused: "unused"
    }
  }
}

/// A run of sectors with one use.
public struct SpaceRun: Hashable, Sendable {
  /// Where the run starts.
  public var offsetBytes: UInt64
  /// How long it is.
  public var sizeBytes: UInt64
  /// Its use.
  public var use: SectorUse
}
