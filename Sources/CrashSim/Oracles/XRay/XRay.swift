// XRay.swift: a second reader of the file format, written from docs/file-format.md alone, so that
// a mistake that the engine makes when it writes and again when it reads shows. It shares no code
// with the engine. Invariants: nothing traps, hangs or grows without bound on any bytes; what can
// be read is reported even when something else is broken; `faults` is empty only if every rule of
// the document that can be checked on one file was checked and holds.

/// What a database file holds, read without the engine.
public struct XRay: Sendable {
  /// A root slot.
  public struct Slot: Sendable, Hashable {
    /// Its version.
    public let version: UInt64
    /// The link to the group.
    public let top: XRayLink
    /// End of what the version uses.
    public let logicalSizeBytes: UInt64
    /// Whether the version was committed with one sync.
    public let isOneSync: Bool
  }

  /// A root slot as it was found.
  public enum FoundSlot: Sendable, Hashable {
    /// One copy at least is right.
    case valid(Slot)
    /// None is.
    case invalid
    /// All bytes are 0.
    case empty
  }

  /// Kind of a node, by its number in the file.
  public enum Kind: UInt8, Sendable, Hashable, CaseIterable {
    /// The top of a version.
    case group = 1
    case inner, leaf, longValue, freeList, collectionInner, collectionLeaf, indexInner
    case indexLeaf, listSegment
  }

  /// Who a node belongs to.
  public enum Owner: Sendable, Hashable {
    /// The version itself.
    case group
    case freeList
    case table(UInt32)
    case index(table: UInt32, column: UInt16)
  }

  /// A node that the version reaches.
  public struct Node: Sendable, Hashable {
    /// Where it stands.
    public let refBytes: UInt64
    /// Its size, header included.
    public let sizeBytes: Int
    /// The version that wrote it.
    public let version: UInt64
    /// What it is.
    public let kind: Kind
    /// Its height over the leaves.
    public let level: Int
    /// Whose it is.
    public let owner: Owner
  }

  /// Sectors of the free list; `released` is 0 when they are free.
  public struct Span: Sendable, Hashable {
    /// The first sector.
    public let start: UInt64
    /// How many they are.
    public let count: UInt64
    /// The version that wrote what is there.
    public let born: UInt64
    /// The version that released it.
    public let released: UInt64
    /// Whether it was a node of the free list.
    public let isFreeList: Bool
  }

  /// Size of the file.
  public internal(set) var fileSizeBytes: UInt64 = 0
  /// The number of the layout, when the file header is right.
  public internal(set) var formatVersion: UInt32?
  /// Whether the file is encrypted; then only the file header, the slots and the nonces
  /// are read.
  public internal(set) var isEncrypted = false
  /// Two nodes of an encrypted file that were sealed with one nonce.
  public internal(set) var repeatedNonce: XRayFault?
  /// Both root slots; empty when the file is too short.
  public internal(set) var slots: [FoundSlot] = []
  /// The slot that an open chooses.
  public internal(set) var chosen: Slot?
  /// The tables of that version, ids ascending.
  public internal(set) var tables: [XRayTable] = []
  /// Every node that the version reaches, parents first.
  public internal(set) var nodes: [Node] = []
  /// Free and pending sectors.
  public internal(set) var spans: [Span] = []
  /// Leaves that stand in the file as they were, with edits beside the link.
  public internal(set) var patchedLeafCount = 0
  /// Rows that were read.
  public internal(set) var rowCount: UInt64 = 0
  /// Pairs of indexes that were read.
  public internal(set) var pairCount: UInt64 = 0
  /// What is wrong, at most `faultsMax` of them, the first one first.
  public internal(set) var faults: [XRayFault] = []

  /// More faults than that are not kept.
  static let faultsMax = 16

  /// Whether nothing is wrong.
  public var isSound: Bool { faults.isEmpty }
}

/// A link: the ref of a node and its checksum.
public struct XRayLink: Sendable, Hashable {
  /// Where the node stands; 0 for none.
  public let refBytes: UInt64
  /// Its checksum.
  public let checksum: UInt64
}

/// The root of a tree.
public struct XRayTree: Sendable, Hashable {
  /// The link to it; ref 0 when the tree is empty.
  public let root: XRayLink
  /// Its level.
  public let level: Int
  /// Rows or pairs.
  public let count: UInt64
}

/// A column.
public struct XRayColumn: Sendable, Hashable {
  /// Its id in the table.
  public let id: UInt16
  /// Its name.
  public let name: String
  /// What it holds.
  public let type: XRayType
  /// One value a row, or several.
  public let collection: XRayCollection
  /// Whether null is a value.
  public let isOptional: Bool
  /// Whether it has a search index.
  public let isIndexed: Bool
  /// Whether its values differ.
  public let isUnique: Bool
  /// The table that links lead to; 0 for other types.
  public let targetID: UInt32
  /// The name of that table.
  public internal(set) var targetName: String?
  /// Its search index or backlinks.
  public let index: XRayTree?
}

/// A table.
public struct XRayTable: Sendable, Hashable {
  /// Its id.
  public let id: UInt32
  /// Its name.
  public let name: String
  /// Its columns without the key, ids ascending.
  public internal(set) var columns: [XRayColumn]
  /// Its rows.
  public let tree: XRayTree
}
