// Layout.swift: every offset and size of the file format, format version 4.
// Invariant: docs/reference/file-format.md and LayoutTests state the same numbers; a change here is
// a change of the format. All integers are little-endian and of fixed width.

/// Offsets and sizes of the file.
package enum Layout {
  /// The unit that is never shared between versions: the sector of the largest disks we run on.
  package static let sectorSizeBytes = 4096
  /// Where each root slot starts; each has its own sector.
  package static let slotOffsetsBytes = [4096, 8192]
  /// A slot's record is stored twice in its sector, this far apart.
  package static let slotCopyDistanceBytes = 2048
  /// First sector that can hold a node.
  package static let firstNodeSector: UInt64 = 3
  /// The bytes before the first node.
  package static let headerSizeBytes = 3 * sectorSizeBytes
  /// Size of a file that holds the empty version 1.
  package static let initialFileSizeBytes: UInt64 = 65_536

  /// Size of the record at offset 0.
  package static let fileHeaderRecordBytes = 64
  /// "FAULTLN" and a byte that is not text, so that a text file is never mistaken for ours.
  package static let magic: UInt64 = 0x9a4e_4c54_4c55_4146
  /// Size of a root slot's record.
  package static let slotRecordBytes = 96
  /// Bytes for edits behind the record, up to the other copy.
  package static let slotEditsBytesMax = slotCopyDistanceBytes - slotRecordBytes
  /// A node with edits in a slot has no more bytes: offsets of edits have two.
  package static let editedNodeBytesMax = 65_535
  /// What the keyed seal of a slot covers: the fields before it, without the checksum.
  package static let slotSealedBytes = 56

  /// The extra bytes of a sealed node in its sectors: 48 bytes before it, the tag at the end.
  package static let sealBytes = 64
  /// See `sealBytes`.
  package static let sealTagBytes = 16

  /// Size of the header every node starts with.
  package static let nodeHeaderBytes = 48
  /// Size of a leaf's array descriptor.
  package static let descriptorBytes = 16
  /// A leaf is split when its encoding would be larger, unless it holds one row.
  package static let leafSizeBytesMax = 8192
  /// A leaf smaller than this is merged with a neighbour if possible.
  package static let leafSizeBytesMin = leafSizeBytesMax / 4
  /// Children of an inner node: 48 + 8 × 167 + 16 × 168 = 4,072 bytes, one sector.
  package static let childCountMax = 168
  /// An inner node with fewer children is merged with a neighbour if possible.
  package static let childCountMin = childCountMax / 4
  /// Level of a root at most; leaves have level 0.
  ///
  /// 42^10 leaves are more than a file can hold.
  package static let levelMax = 16

  /// Bytes of a version's memo.
  package static let memoBytesMax = 1024
  /// Leaves of a version that may have a patch, all tables together, and bytes of such a leaf:
  /// together the most memory that a reader of the version needs for them.
  package static let patchedLeafCountMax = 1024
  /// See `patchedLeafCountMax`.
  package static let patchedLeafBytesMax = 16_384
  /// Patches of one inner node together; with more, leaves are written.
  ///
  /// The node stays one that a slot can edit.
  package static let patchBytesMax = 56 << 10

  /// Children of an index's inner node: 48 + 16 × 124 + 16 × 125 = 4,032 bytes, one sector with
  /// room for the 64 bytes of a seal.
  package static let keyPairChildCountMax = 125
  /// An inner node of an index with fewer children is merged with a neighbour if possible.
  package static let keyPairChildCountMin = keyPairChildCountMax / 4
  /// No leaf of an index is larger: one sector with room for the 64 bytes of a seal.
  package static let keyPairLeafSizeBytesMax = 4032
  /// A leaf of an index smaller than this is merged with a neighbour if possible.
  package static let keyPairLeafSizeBytesMin = keyPairLeafSizeBytesMax / 4

  /// Longest string, binary, mixed value or encoded collection kept inside a leaf.
  ///
  /// A longer value is a separate node, a longer collection a tree.
  package static let inlineBytesMax = 512
  /// A tree of a collection that shrinks below this many bytes is moved back into the leaf of its
  /// row.
  package static let inlineBytesMin = inlineBytesMax / 2
  /// What a leaf stores for a value outside of it: ref, checksum, and a size or count.
  package static let externalEntryBytes = 24
  /// Longest string or binary.
  package static let stringBytesMax = 16 << 20
  /// Longest node of a value: a mixed value has its type in front of the string.
  package static let longValueBytesMax = stringBytesMax + 16
  /// Elements of a collection: 56 bits of its entry in the row.
  package static let elementCountMax: UInt64 = 1 << 56 - 1
  /// Elements of a leaf of a collection.
  package static let collectionLeafCountMax = 4096
  /// Bytes of the group before its tables.
  package static let groupFixedBytes = 24
  /// Upper bound of a node's size.
  package static let nodeSizeBytesMax = 1 << 30
  /// Spans in a segment of the free list: 48 + 166 × 24 = 4,032 bytes, one sector with room for the
  /// 64 bytes of a seal.
  package static let segmentSpanCount = 166
  /// Bytes of a span as the free list writes it.
  package static let freeListSpanBytes = 24
  /// Sectors of one span at most; a longer run is several spans.
  package static let spanSectorsMax: UInt64 = 1 << 28 - 1
  /// Fresh links that a commit of one sync may have; with more nodes, two syncs cost no more.
  package static let freshLinkCountMax = 1024
  /// Bytes of the nodes that such a commit may have: the most that recovery reads to verify it.
  package static let freshBytesMax = 8 << 20
  /// Tables in a database.
  package static let tableCountMax = 1024
  /// Columns in a table.
  package static let columnCountMax = 128
  /// Array descriptors of a leaf: keys, and at most four for each column.
  package static let descriptorCountMax = 1 + 4 * columnCountMax
  /// Number of column ids that one table can ever use.
  package static let columnIDMax: UInt16 = .max
  /// Bytes of a table's or a column's name.
  package static let nameBytesMax = 255
  /// Upper bound of a file's size; it keeps every sum of positions and sizes far from overflow.
  package static let fileSizeBytesMax: UInt64 = 1 << 48

  /// The tail is truncated when it is more than one part in this many and two growth steps.
  package static let shrinkDivisor: UInt64 = 4
  /// Commits in a row that must leave such a tail before it is truncated.
  package static let shrinkPatience = 16

  /// Longest run reserved for the nodes that every commit replaces.
  package static let briefSectorsMax: UInt64 = 16
  /// Growth of the file: one part in this many.
  package static let growthDivisor: UInt64 = 8
  /// Smallest and largest growth step beyond what a commit needs.
  package static let growthBytesMin: UInt64 = 65_536
  /// See `growthBytesMin`.
  package static let growthBytesMax: UInt64 = 256 << 20

  /// How much larger than needed a file of this size is made.
  package static func growthStep(from sizeBytes: UInt64) -> UInt64 {
    min(max(sizeBytes / growthDivisor, growthBytesMin), growthBytesMax)
  }

  /// Sectors that hold `sizeBytes`.
  @inline(__always)
  package static func sectors(_ sizeBytes: Int) -> UInt64 {
    UInt64((sizeBytes + sectorSizeBytes - 1) / sectorSizeBytes)
  }
}

/// Offsets within a node's header.
package enum NodeField {
  package static let checksum = 0
  package static let ref = 8
  package static let version = 16
  package static let sizeBytes = 24
  package static let kind = 28
  package static let level = 29
  package static let reserved16 = 30
  package static let count = 32
  package static let auxiliary = 36
  package static let reserved64 = 40
}

/// Offsets within a root slot's record.
package enum SlotField {
  package static let checksum = 0
  package static let index = 8
  package static let copy = 12
  package static let version = 16
  package static let topRef = 24
  package static let topChecksum = 32
  package static let logicalSizeBytes = 40
  package static let flags = 48
  package static let editsChecksum = 56
  package static let seal = 64
}

/// Offsets within a sealed node.
package enum SealField {
  package static let ref = 0
  package static let version = 8
  package static let sectors = 16
  package static let session = 20
  package static let counter = 36
  package static let ciphertext = 48
}

/// Offsets within the file header's record.
package enum HeaderField {
  package static let magic = 0
  package static let checksum = 8
  package static let formatVersion = 16
  package static let sectorSizeBytes = 20
  package static let checksumVersion = 24
  package static let firstNodeSector = 28
  package static let flags = 32
  package static let reserved = 36
  package static let salt = 40
  package static let keyCheck = 56
}
