// KeyPairLeafView.swift: a leaf of an index read in place: three descriptors, then their arrays.
//   offset_bytes  size  field            (a descriptor, 16 bytes, from offset 48 on)
//              0     8  base of the packed array
//              8     4  offset in the node, a multiple of 8
//             12     1  width in bits
//             13     1  kind: 1 images, 2 keys, 3 counts
//             14     2  0
// Entry i is (images[i], keys[i]) and represents counts[i] ≥ 1 equal pairs. Pairs ascend strictly,
// so the first image is the base of the images, and equal images take no space at all.

/// The purpose of an array of an index leaf.
enum KeyPairArrayKind: UInt8 {
  case images = 1
  case keys = 2
  case counts = 3
}

/// A leaf of an index.
struct KeyPairLeafView {
  static let descriptorCount = 3
  static let arraysOffsetBytes =
    Layout.nodeHeaderBytes + descriptorCount * Layout.descriptorBytes

  let node: Node
  private let images: PackedArray
  private let keys: PackedArray
  private let counts: PackedArray

  @inline(__always)
  var count: Int { images.count }

  init(_ node: Node) throws(EngineError) {
    guard node.header.auxiliary == Self.descriptorCount, node.header.count > 0,
      Self.arraysOffsetBytes <= node.bytes.count,
      node.bytes.count <= Layout.keyPairLeafSizeBytesMax
    else {
      throw .corrupted(
        "pairs=\(node.header.count) descriptors=\(node.header.auxiliary) "
          + "node_bytes=\(node.bytes.count), an index leaf has \(Self.descriptorCount) descriptors "
          + "and at most \(Layout.keyPairLeafSizeBytesMax) bytes", at: node.ref)
    }
    self.node = node
    images = try Self.array(node, 0, .images)
    keys = try Self.array(node, 1, .keys)
    counts = try Self.array(node, 2, .counts)
    // Pairs are distinct, so the widths bound their number: no small node claims a billion pairs.
    let bits = images.width + keys.width
    guard bits >= 32 || images.count <= 1 << bits else {
      throw .corrupted("pairs=\(images.count) cannot differ in \(bits) bits", at: node.ref)
    }
  }

  @inline(__always)
  private static func array(
    _ node: Node, _ descriptor: Int, _ kind: KeyPairArrayKind
  ) throws(EngineError) -> PackedArray {
    let start = Layout.nodeHeaderBytes + descriptor * Layout.descriptorBytes
    guard node.bytes.uint8(start + 13) == kind.rawValue, node.bytes.uint16(start + 14) == 0,
      let array = PackedArray(
        in: node.bytes, at: Int(node.bytes.uint32(start + 8)), count: node.header.count,
        width: Int(node.bytes.uint8(start + 12)), base: node.bytes.uint64(start))
    else { throw .corrupted("array \(kind) of an index leaf is wrong", at: node.ref) }
    return array
  }

  @inline(__always)
  func image(_ index: Int) -> UInt64 { UInt64(bitPattern: images[index]) }

  @inline(__always)
  func key(_ index: Int) -> Int64 { keys[index] }

  @inline(__always)
  subscript(index: Int) -> KeyPair { KeyPair(image(index), keys[index]) }

  /// The number of equal pairs that an entry represents.
  @inline(__always)
  func multiplicity(_ index: Int) throws(EngineError) -> Int64 {
    let number = counts[index]
    guard number > 0 else { throw .corrupted("count=\(number) of an index entry", at: node.ref) }
    return number
  }

  /// The first index whose pair is not below `pair`.
  @inline(__always)
  func firstIndex(notBelow pair: KeyPair) -> Int {
    var low = 0
    var length = count
    while length > 0 {
      let half = length >> 1
      if isBelow(low + half, pair) {
        low += half + 1
        length -= half + 1
      } else {
        length = half
      }
    }
    return low
  }

  @inline(__always)
  private func isBelow(_ index: Int, _ pair: KeyPair) -> Bool {
    let image = image(index)
    return image == pair.image ? keys[index] < pair.key : image < pair.image
  }

  /// Copies the leaf for a writer.
  func decode() throws(EngineError) -> (images: [Int64], keys: [Int64], counts: [Int64]) {
    var decoded: (images: [Int64], keys: [Int64], counts: [Int64]) = ([], [], [])
    images.decode(into: &decoded.images)
    keys.decode(into: &decoded.keys)
    if counts.width > 0 || counts.base != 1 {
      counts.decode(into: &decoded.counts)
      for index in 0..<count { _ = try multiplicity(index) }
    }
    return decoded
  }
}
