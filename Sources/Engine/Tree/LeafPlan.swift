// LeafPlan.swift: plans the bytes of a leaf, of a table or of a collection, from its arrays.

/// The offset of each array of a leaf; computed first, so that the node's size is known before its
/// place.
struct LeafPlan {
  private struct Item {
    let numbers: [Int64]
    let bytes: [UInt8]?
    let kind: ArrayKind
    let id: UInt16
    let width: Int
    let base: UInt64
    let offset: Int
  }

  private var items: [Item] = []
  private(set) var sizeBytes: Int
  let rowCount: Int
  var descriptorCount: Int { items.count }

  /// - Parameters:
  ///   - keys: The keys of rows; nil for the leaf of a collection.
  ///   - columns: The columns, ids ascending.
  init(keys: [Int64]?, _ columns: [MutableColumn]) {
    rowCount = keys?.count ?? columns[0].count
    precondition(rowCount > 0, "an empty leaf has no place in a tree")
    let descriptors = columns.reduce(keys == nil ? 0 : 1) { $0 + $1.layout.descriptorCount }
    sizeBytes = Layout.nodeHeaderBytes + descriptors * Layout.descriptorBytes
    items.reserveCapacity(descriptors)
    if let keys { add(keys, .keys, id: 0, lower: keys[0], upper: keys[rowCount - 1]) }
    for index in columns.indices { add(columns[index]) }
    precondition(items.count == descriptors, "every column has its arrays")
  }

  private mutating func add(_ source: MutableColumn) {
    precondition(source.count == rowCount, "every column has a value for each row")
    var column = source
    column.tighten()
    let id = column.layout.id
    let storage = column.layout.storage
    switch storage {
    case .integers, .bools:
      add(column.numbers, storage.firstKind, id: id, lower: column.lower, upper: column.upper)
    case .words32, .words64:
      let width = column.numberWidth(column.lower, column.upper)
      add(
        column.numbers, storage.firstKind, id: id, width: width,
        base: width == 0 ? UInt64(bitPattern: column.lower) : 0)
    case .dates:
      add(column.numbers, .seconds, id: id, lower: column.lower, upper: column.upper)
      add(column.nanoseconds, .nanoseconds, id: id, lower: 0, upper: column.nanosecondsUpper)
    case .fixed12, .fixed16: add(column.bytes, storage.firstKind, id: id)
    case .strings:
      add(
        column.numbers, .ends, id: id, lower: column.numbers[0], upper: Int64(column.bytes.count))
      add(flags: column.externals, .flags, id: id)
      add(column.bytes, .bytes, id: id)
    }
    if column.layout.hasNulls { add(flags: column.nulls, .nulls, id: id) }
  }

  private mutating func add(flags: [Bool], _ kind: ArrayKind, id: UInt16) {
    let first = flags.first ?? false
    if flags.allSatisfy({ $0 == first }) {
      items.append(
        Item(
          numbers: [], bytes: nil, kind: kind, id: id, width: 0, base: first ? 1 : 0,
          offset: sizeBytes))
    } else {
      add(flags.map { $0 ? 1 : 0 }, kind, id: id, width: 1, base: 0)
    }
  }

  private mutating func add(_ bytes: [UInt8], _ kind: ArrayKind, id: UInt16) {
    items.append(
      Item(
        numbers: [], bytes: bytes, kind: kind, id: id, width: 0, base: UInt64(bytes.count),
        offset: sizeBytes))
    sizeBytes += (bytes.count + 7) / 8 * 8
  }

  private mutating func add(
    _ numbers: [Int64], _ kind: ArrayKind, id: UInt16, lower: Int64, upper: Int64
  ) {
    add(
      numbers, kind, id: id, width: MutableColumn.width(lower, upper),
      base: UInt64(bitPattern: lower))
  }

  private mutating func add(
    _ numbers: [Int64], _ kind: ArrayKind, id: UInt16, width: Int, base: UInt64
  ) {
    items.append(
      Item(
        numbers: numbers, bytes: nil, kind: kind, id: id, width: width, base: base,
        offset: sizeBytes))
    sizeBytes += PackedArray.sizeBytes(count: numbers.count, width: width)
  }

  /// Fills the node in.
  func encode(into node: MutableBytes) {
    var descriptor = Layout.nodeHeaderBytes
    for item in items {
      node.set(item.base, at: descriptor)
      node.set(UInt32(item.offset), at: descriptor + 8)
      node.set(
        UInt32(item.width) | UInt32(item.kind.rawValue) << 8 | UInt32(item.id) << 16,
        at: descriptor + 12)
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

  /// The edits that turn an old leaf of the same size, count and number of arrays into the planned
  /// one, in the old leaf's place.
  /// - Returns: The checksum that the leaf has there, and the edits; nil when they are too many.
  func edits(
    of base: RawBytes, sizeBytesMax: Int
  ) -> (checksum: UInt64, edits: [UInt8])? {
    guard sizeBytesMax > 0 else { return nil }
    let leaf = NodeInMemory(like: base) { encode(into: $0) }
    return LeafPatch.edits(from: base, to: leaf.bytes, sizeBytesMax: sizeBytesMax).map {
      (leaf.checksum, $0)
    }
  }
}
