// MutableLeaf.swift: a leaf while a writer changes it, and how it becomes bytes.
// Invariant: keys ascend strictly, and every column has as many rows as there are keys.

/// A leaf as arrays that can be changed.
final class MutableLeaf {
  var keys: [Int64]
  var columns: [MutableColumn]

  init(_ shape: LeafShape) {
    keys = []
    columns = shape.types.map { MutableColumn($0) }
  }

  private init(keys: [Int64], columns: [MutableColumn]) {
    self.keys = keys
    self.columns = columns
  }

  /// A copy of a committed leaf.
  init(_ leaf: LeafView, shape: LeafShape) throws(EngineError) {
    var keys: [Int64] = []
    leaf.keys.decode(into: &keys)
    var columns: [MutableColumn] = []
    for index in shape.types.indices {
      var column = MutableColumn(shape.types[index])
      switch column.type {
      case .int:
        try leaf.integers(index, shape).decode(into: &column.numbers)
        column.tighten()
      case .string:
        let strings = try leaf.strings(index, shape)
        try Self.copy(strings, into: &column)
      }
      columns.append(column)
    }
    self.keys = keys
    self.columns = columns
  }

  private static func copy(
    _ strings: StringsView, into column: inout MutableColumn
  ) throws(EngineError) {
    let hasExternals = try strings.decodeEnds(into: &column.numbers)
    column.bytes = strings.bytes.array
    guard hasExternals else { return }
    column.externals = column.numbers.indices.map { strings.flags[$0] != 0 }
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
    for column in columns {
      size += column.sizeBytes + Layout.descriptorBytes * (column.type == .int ? 1 : 3)
    }
    return size
  }

  /// The size bound of this leaf with the rows of its right neighbour.
  func sizeBytes(with right: MutableLeaf) -> Int {
    let rows = count + right.count
    var size = Layout.nodeHeaderBytes + Layout.descriptorBytes
    size += PackedArray.sizeBytes(
      count: rows, width: MutableColumn.width(keys.first ?? 0, right.keys.last ?? 0))
    for (left, other) in zip(columns, right.columns) {
      size += left.sizeBytes(
        rows: rows, bytes: left.bytes.count + other.bytes.count,
        lower: min(left.lower, other.lower), upper: max(left.upper, other.upper))
      size += Layout.descriptorBytes * (left.type == .int ? 1 : 3) + (rows + 63) / 64 * 8
    }
    return size
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

/// Where each array of a leaf goes; made first, so that the node's size is known before its place.
struct LeafPlan {
  private struct Item {
    let numbers: [Int64]
    let bytes: [UInt8]?
    let kind: ArrayKind
    let width: Int
    let base: UInt64
    let offset: Int
  }

  private var items: [Item] = []
  private(set) var sizeBytes: Int
  let rowCount: Int
  var descriptorCount: Int { items.count }

  init(_ leaf: MutableLeaf, shape: LeafShape) {
    precondition(leaf.count > 0, "an empty leaf has no place in a tree")
    rowCount = leaf.count
    sizeBytes = shape.arraysOffsetBytes
    add(leaf.keys, .keys, lower: leaf.keys[0], upper: leaf.keys[leaf.count - 1])
    for index in leaf.columns.indices {
      let column = leaf.columns[index]
      switch column.type {
      case .int:
        add(
          column.numbers, .integers, lower: column.numbers.min() ?? 0,
          upper: column.numbers.max() ?? 0)
      case .string:
        add(column.numbers, .ends, lower: column.numbers[0], upper: Int64(column.bytes.count))
        let flags =
          column.externals.isEmpty
          ? [Int64](repeating: 0, count: rowCount) : column.externals.map { $0 ? 1 : 0 }
        add(flags, .flags, lower: 0, upper: flags.contains(1) ? 1 : 0)
        items.append(
          Item(
            numbers: [], bytes: column.bytes, kind: .bytes, width: 0,
            base: UInt64(column.bytes.count), offset: sizeBytes))
        sizeBytes += (column.bytes.count + 7) / 8 * 8
      }
    }
    precondition(descriptorCount == shape.descriptorCount, "every column has its arrays")
  }

  private mutating func add(_ numbers: [Int64], _ kind: ArrayKind, lower: Int64, upper: Int64) {
    let width = MutableColumn.width(lower, upper)
    items.append(
      Item(
        numbers: numbers, bytes: nil, kind: kind, width: width, base: UInt64(bitPattern: lower),
        offset: sizeBytes))
    sizeBytes += PackedArray.sizeBytes(count: numbers.count, width: width)
  }

  /// Fills the node in.
  func encode(into node: MutableBytes) {
    var descriptor = Layout.nodeHeaderBytes
    for item in items {
      node.set(item.base, at: descriptor)
      node.set(UInt32(item.offset), at: descriptor + 8)
      node.set(UInt32(item.width) | UInt32(item.kind.rawValue) << 8, at: descriptor + 12)
      descriptor += Layout.descriptorBytes
      if let bytes = item.bytes {
        node.copy(bytes, to: item.offset)
        node.clear(from: item.offset + bytes.count, to: item.offset + (bytes.count + 7) / 8 * 8)
      } else {
        PackedArray.encode(
          item.numbers, base: item.base, width: item.width, into: node, at: item.offset)
      }
    }
  }
}
