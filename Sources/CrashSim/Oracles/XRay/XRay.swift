// XRay.swift: a second reader of the file format, written from docs/reference/file-format.md alone,
// so that a mistake made in both the engine's writer and its reader is detected. It shares no code
// with the engine. Invariants: no bytes make it trap, hang or use unbounded memory; what can be
// read is reported even when something else is broken; `faults` is empty only if every rule of the
// document that can be checked on one file was checked and holds.

/// The content of a database file, read without the engine.
package struct XRay: Sendable {
  /// A root slot.
  package struct Slot: Sendable, Hashable {
    /// Its version.
    package let version: UInt64
    /// The link to the group.
    package let top: XRayLink
    /// End of the version's space.
    package let logicalSizeBytes: UInt64
    /// Whether the version was committed with one sync.
    package let isOneSync: Bool
    /// The bytes behind the record: how nodes of the version differ from those of its group's
    /// version; empty when they do not.
    package var edits: [UInt8] = []
  }

  /// The state of a root slot in the file.
  package enum FoundSlot: Sendable, Hashable {
    /// At least one copy is valid.
    case valid(Slot)
    /// No copy is valid.
    case invalid
    /// All bytes are 0.
    case empty
  }

  /// Kind of a node, by its number in the file.
  package enum Kind: UInt8, Sendable, Hashable, CaseIterable {
    /// The top of a version.
    case group = 1
    case inner, leaf, longValue, freeList, collectionInner, collectionLeaf, indexInner
    case indexLeaf, listSegment, wordLeaf
  }

  /// The owner of a node.
  package enum Owner: Sendable, Hashable {
    /// The version itself.
    case group
    case freeList
    case table(UInt32)
    case index(table: UInt32, column: UInt16)
  }

  /// A node that the version reaches.
  package struct Node: Sendable, Hashable {
    /// Its position.
    package let refBytes: UInt64
    /// Its size, header included.
    package let sizeBytes: Int
    /// The version that wrote it.
    package let version: UInt64
    /// Its kind.
    package let kind: Kind
    /// Its height over the leaves.
    package let level: Int
    /// Its owner.
    package let owner: Owner
  }

  /// Sectors in the free list; `released` is 0 for free ones.
  package struct Span: Sendable, Hashable {
    /// The first sector.
    package let start: UInt64
    /// Their number.
    package let count: UInt64
    /// The version that wrote their content.
    package let born: UInt64
    /// The version that released it.
    package let released: UInt64
    /// Whether it was a node of the free list.
    package let isFreeList: Bool
  }

  /// Size of the file.
  package internal(set) var fileSizeBytes: UInt64 = 0
  /// The layout's number, if the file header is valid.
  package internal(set) var formatVersion: UInt32?
  /// Whether the file is encrypted; then only the file header, the slots and the nonces
  /// are read.
  package internal(set) var isEncrypted = false
  /// Two nodes of an encrypted file that were sealed with one nonce.
  package internal(set) var repeatedNonce: XRayFault?
  /// Both root slots; empty when the file is too short.
  package internal(set) var slots: [FoundSlot] = []
  /// The slot that an open chooses.
  package internal(set) var chosen: Slot?
  /// The tables of that version, ids ascending.
  package internal(set) var tables: [XRayTable] = []
  /// Every node that the version reaches, parents first.
  package internal(set) var nodes: [Node] = []
  /// Free and pending sectors.
  package internal(set) var spans: [Span] = []
  /// Leaves that are unchanged in the file, with edits next to the link.
  package internal(set) var patchedLeafCount = 0
  /// Rows read.
  package internal(set) var rowCount: UInt64 = 0
  /// Pairs of indexes read.
  package internal(set) var pairCount: UInt64 = 0
  /// The faults, at most `faultsMax`, in the order in which they were found.
  package internal(set) var faults: [XRayFault] = []

  /// Further faults are not kept.
  static let faultsMax = 16

  /// Whether there are no faults.
  package var isSound: Bool { faults.isEmpty }
}

/// A link: the ref of a node and its checksum.
package struct XRayLink: Sendable, Hashable {
  /// The node's position; 0 for none.
  package let refBytes: UInt64
  /// Its checksum.
  package let checksum: UInt64
}

/// The root of a tree.
package struct XRayTree: Sendable, Hashable {
  /// The link to it; ref 0 when the tree is empty.
  package let root: XRayLink
  /// Its level.
  package let level: Int
  /// Rows or pairs.
  package let count: UInt64
}

/// A column.
package struct XRayColumn: Sendable, Hashable {
  /// Its id in the table.
  package let id: UInt16
  /// Its name.
  package let name: String
  /// What it holds.
  package let type: XRayType
  /// Whether a row has one value or several.
  package let collection: XRayCollection
  /// Whether null is a value.
  package let isOptional: Bool
  /// Whether it has a search index.
  package let isIndexed: Bool
  /// Whether its values are unique.
  package let isUnique: Bool
  /// Whether it has a full-text index.
  package let isFullText: Bool
  /// The target table of links; 0 for other types.
  package let targetID: UInt32
  /// The name of that table.
  package internal(set) var targetName: String?
  /// Its search index or backlinks.
  package let index: XRayTree?
}

/// A table.
package struct XRayTable: Sendable, Hashable {
  /// Its id.
  package let id: UInt32
  /// Its name.
  package let name: String
  /// Its columns without the key, ids ascending.
  package internal(set) var columns: [XRayColumn]
  /// Its rows.
  package let tree: XRayTree
}
