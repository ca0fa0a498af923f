// NodeRoom.swift: how many bytes of a node's sectors the node itself can use, which differs when
// the file is encrypted: a sealed node shares its sectors with the seal (see SealedNode.swift).
// Invariant: without a seal every number here equals the one in Layout.

/// The capacities of nodes in one file.
struct NodeRoom: Hashable, Sendable {
  /// Bytes of each node's sectors that the seal takes.
  let sealBytes: Int

  /// A file that is not encrypted.
  static let plain = NodeRoom(sealBytes: 0)
  /// An encrypted file.
  static let sealed = NodeRoom(sealBytes: Layout.sealBytes)

  /// Sectors that hold a node of `sizeBytes`.
  @inline(__always)
  func sectors(_ sizeBytes: Int) -> UInt64 { Layout.sectors(sizeBytes + sealBytes) }

  /// The size of a node that fills `sectors`.
  func sizeBytes(filling sectors: UInt64) -> Int {
    Int(sectors) * Layout.sectorSizeBytes - sealBytes
  }

  /// A leaf is split when its encoding would be larger, unless it holds one row.
  var leafSizeBytesMax: Int { Layout.leafSizeBytesMax - sealBytes }

  /// Children of an inner node of one sector: each but the first brings a separator.
  var childCountMax: Int {
    min(
      Layout.childCountMax,
      (Layout.sectorSizeBytes - sealBytes - Layout.nodeHeaderBytes + 8) / 24)
  }
}
