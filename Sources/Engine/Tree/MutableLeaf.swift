// MutableLeaf.swift: a leaf while a writer changes it.
// Invariant: keys ascend strictly, and every column has as many rows as there are keys.

/// Where the rows of a leaf in memory were read from.
struct LeafOrigin {
  /// The leaf in the file, with its own checksum.
  let link: NodeLink
  /// The version that wrote it.
  let born: Version
  /// Whether it has a patch in the base version.
  let isPatched: Bool
  /// By which its release is taken back.
  let release: Int
}

/// A leaf as arrays that can be changed.
///
/// A transaction changes it, and no closure during a change of `keys` or `columns` reads it, so
/// exclusivity is not checked at run time.
final class MutableLeaf: MutableTreeLeaf {
  typealias Guide = Separators<Int64>

  @safe @exclusivity(unchecked) var keys: [Int64]
  @safe @exclusivity(unchecked) var columns: [MutableColumn]
  var stored: NodeLink?
  /// nil for a new leaf.
  var origin: LeafOrigin?

  init(_ shape: LeafShape) {
    keys = []
    columns = shape.columns.map { MutableColumn($0) }
  }

  init(keys: [Int64], columns: [MutableColumn]) {
    self.keys = keys
    self.columns = columns
  }

  /// A copy of a committed leaf.
  init(_ leaf: LeafView, shape: LeafShape) throws(EngineError) {
    var keys: [Int64] = []
    leaf.keys.decode(into: &keys)
    var columns: [MutableColumn] = []
    for layout in shape.columns { columns.append(try MutableColumn(leaf.arrays, layout)) }
    self.keys = keys
    self.columns = columns
  }

  var count: Int { keys.count }

  func firstIndex(notBelow key: Int64) -> Int {
    if let last = keys.last, last < key { return keys.count }
    return keys.partitioningIndex { $0 >= key }
  }

  func index(of key: Int64) -> Int? {
    let index = firstIndex(notBelow: key)
    return index < keys.count && keys[index] == key ? index : nil
  }

  /// At most this many bytes when encoded.
  var sizeBytes: Int {
    var size = Layout.nodeHeaderBytes + Layout.descriptorBytes
    size += PackedArray.sizeBytes(
      count: keys.count, width: MutableColumn.width(keys.first ?? 0, keys.last ?? 0))
    for index in columns.indices {
      size += columns[index].sizeBytes
      size += Layout.descriptorBytes * columns[index].layout.descriptorCount
    }
    return size
  }

  /// The size bound of this leaf with the rows of its right neighbour.
  func sizeBytes(with right: MutableLeaf) -> Int {
    let rows = count + right.count
    var size = Layout.nodeHeaderBytes + Layout.descriptorBytes
    size += PackedArray.sizeBytes(
      count: rows, width: MutableColumn.width(keys.first ?? 0, right.keys.last ?? 0))
    for index in columns.indices {
      size += columns[index].sizeBytes(with: right.columns[index])
      size += Layout.descriptorBytes * columns[index].layout.descriptorCount
    }
    return size
  }

  /// Releases the external values of a row that is about to be removed.
  func dropExternals(at index: Int, _ writer: TreeWriter) throws(EngineError) {
    for column in columns.indices where columns[column].isExternal(index) {
      try columns[column].dropExternal(at: index, writer)
    }
  }

  func dropExternals(_ writer: TreeWriter) throws(EngineError) {
    for row in 0..<count { try dropExternals(at: row, writer) }
  }

  func remove(at index: Int) {
    keys.remove(at: index)
    for column in columns.indices { columns[column].remove(at: index) }
  }

  /// Cuts the rows from `index` on off.
  func split(at index: Int) -> MutableLeaf {
    precondition(index > 0 && index < count, "both halves of a split have rows")
    let right = Array(keys[index...])
    keys.removeSubrange(index...)
    var cut: [MutableColumn] = []
    for column in columns.indices { cut.append(columns[column].split(at: index)) }
    return MutableLeaf(keys: right, columns: cut)
  }

  /// Adds the rows of the right neighbour.
  func append(_ right: MutableLeaf) {
    keys += right.keys
    for column in columns.indices { columns[column].append(right.columns[column]) }
  }
}
