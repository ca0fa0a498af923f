// LeafView.swift: a leaf read in place. Descriptors first, then the arrays they describe.
//   offset_bytes  size  field            (a descriptor, 16 bytes, from offset 48 on)
//              0     8  base of a packed array; number of bytes of a byte array
//              8     4  offset in the node, a multiple of 8
//             12     1  width of a packed array in bits; 0 for a byte array
//             13     1  kind: 1 keys, 2 integers, 3 ends of strings, 4 external flags, 5 bytes
//             14     2  0
// Descriptor 0 is the keys; then one per int column, three (ends, flags, bytes) per string column.
// String i is bytes[ends[i-1] ..< ends[i]]; with its flag set these 24 bytes are ref, checksum and
// size of a string node.

/// What an array of a leaf is for.
enum ArrayKind: UInt8 {
  case keys = 1
  case integers = 2
  case ends = 3
  case flags = 4
  case bytes = 5
}

/// Where the arrays of a table's columns stand among a leaf's descriptors.
struct LeafShape: Hashable, Sendable {
  let types: [ColumnType]
  let firstDescriptors: [Int]
  let descriptorCount: Int
  /// The types, one bit each below a leading 1; 0 when they are too many for that.
  let code: UInt64

  init(_ types: [ColumnType]) {
    self.types = types
    code = types.count > 62 ? 0 : types.reduce(1) { $0 << 1 | ($1 == .string ? 1 : 0) }
    var next = 1
    var first: [Int] = []
    for type in types {
      first.append(next)
      next += type == .int ? 1 : 3
    }
    firstDescriptors = first
    descriptorCount = next
  }

  var arraysOffsetBytes: Int {
    Layout.nodeHeaderBytes + descriptorCount * Layout.descriptorBytes
  }
}

/// A leaf.
struct LeafView {
  let node: Node
  let keys: PackedArray

  var count: Int { keys.count }

  init(_ node: Node, shape: LeafShape) throws(EngineError) {
    guard node.header.auxiliary == shape.descriptorCount, node.header.count > 0,
      shape.arraysOffsetBytes <= node.bytes.count
    else {
      throw .corrupted(
        "rows=\(node.header.count) descriptors=\(node.header.auxiliary), the table needs "
          + "\(shape.descriptorCount)", at: node.ref)
    }
    self.node = node
    keys = try Self.array(node, 0, .keys)
    // Keys are distinct, so a width bounds their number: no small node claims a billion rows.
    guard keys.width >= 32 || keys.count <= 1 << keys.width else {
      throw .corrupted("rows=\(keys.count) cannot differ in \(keys.width) bits", at: node.ref)
    }
  }

  @inline(__always)
  private static func array(
    _ node: Node, _ descriptor: Int, _ kind: ArrayKind
  ) throws(EngineError) -> PackedArray {
    let start = Layout.nodeHeaderBytes + descriptor * Layout.descriptorBytes
    guard node.bytes.uint8(start + 13) == kind.rawValue, node.bytes.uint16(start + 14) == 0,
      let array = PackedArray(
        in: node.bytes, at: Int(node.bytes.uint32(start + 8)), count: node.header.count,
        width: Int(node.bytes.uint8(start + 12)), base: node.bytes.uint64(start))
    else { throw .corrupted("array \(descriptor) (\(kind)) of a leaf is wrong", at: node.ref) }
    return array
  }

  /// The index of a key, or nil.
  @inline(__always)
  func index(of key: Int64) -> Int? {
    // Keys are distinct and ascend from the base, so a key stands at most as far behind the first
    // one as it is greater. In a leaf without gaps it stands exactly there.
    let distance = UInt64(bitPattern: key) &- keys.base
    if distance < UInt64(keys.count), keys[Int(distance)] == key { return Int(distance) }
    let index = keys.firstIndex(notBelow: key)
    return index < keys.count && keys[index] == key ? index : nil
  }

  /// The numbers of an int column.
  @inline(__always)
  func integers(_ column: Int, _ shape: LeafShape) throws(EngineError) -> PackedArray {
    try Self.array(node, shape.firstDescriptors[column], .integers)
  }

  /// The arrays of a string column.
  @inline(__always)
  func strings(_ column: Int, _ shape: LeafShape) throws(EngineError) -> StringsView {
    let descriptor = shape.firstDescriptors[column]
    let ends = try Self.array(node, descriptor, .ends)
    let flags = try Self.array(node, descriptor + 1, .flags)
    let start = Layout.nodeHeaderBytes + (descriptor + 2) * Layout.descriptorBytes
    let count = node.bytes.uint64(start)
    let offset = Int(node.bytes.uint32(start + 8))
    guard node.bytes.uint8(start + 13) == ArrayKind.bytes.rawValue, flags.width <= 1,
      node.bytes.uint8(start + 12) == 0, offset <= node.bytes.count,
      count <= UInt64(node.bytes.count - offset)
    else { throw .corrupted("bytes of column \(column) lie outside the leaf", at: node.ref) }
    return StringsView(
      ref: node.ref, ends: ends, flags: flags, bytes: node.bytes.part(at: offset, count: Int(count))
    )
  }
}

/// A string column of a leaf.
struct StringsView {
  let ref: Ref
  let ends: PackedArray
  let flags: PackedArray
  let bytes: RawBytes

  /// The entry of a row: the string's bytes, or what leads to its node.
  @inline(__always)
  func entry(_ index: Int) throws(EngineError) -> (bytes: RawBytes, isExternal: Bool) {
    let start = index == 0 ? 0 : ends[index - 1]
    let end = ends[index]
    guard start >= 0, start <= end, end <= Int64(bytes.count) else {
      throw .corrupted("string \(index) at \(start)..<\(end) of \(bytes.count) bytes", at: ref)
    }
    let entry = bytes.part(at: Int(start), count: Int(end - start))
    let isExternal = flags[index] != 0
    guard !isExternal || entry.count == Layout.externalEntryBytes else {
      throw .corrupted("external string \(index) has \(entry.count) bytes, not 24", at: ref)
    }
    return (entry, isExternal)
  }
}

extension StringsView {
  /// Replaces the content of `values` by all ends, checked: they ascend up to the last byte, and
  /// entries of long strings have their size.
  /// - Returns: Whether any string is a node of its own.
  @discardableResult
  func decodeEnds(into values: inout [Int64]) throws(EngineError) -> Bool {
    ends.decode(into: &values)
    var last: Int64 = 0
    var isAscending = true
    for end in values {
      isAscending = isAscending && end >= last
      last = end
    }
    guard isAscending, last == Int64(bytes.count) else {
      throw .corrupted("string ends descend, or last_end=\(last) != bytes=\(bytes.count)", at: ref)
    }
    guard flags.width > 0 || flags.base != 0 else { return false }
    for index in values.indices { _ = try entry(index) }
    return true
  }
}

extension NodeReader {
  /// The link and size that the entry of a long string holds.
  static func externalLink(_ entry: RawBytes) -> (link: NodeLink, sizeBytes: UInt64) {
    let link = NodeLink(ref: Ref(offsetBytes: entry.uint64(0)), checksum: entry.uint64(8))
    return (link, entry.uint64(16))
  }

  /// The node of a long string.
  func stringNode(
    _ entry: RawBytes, newest: Version, again: Bool = false
  ) throws(EngineError) -> Node {
    let (link, size) = Self.externalLink(entry)
    let node =
      again
      ? try verifiedAgain(link, kind: .string, newest: newest)
      : try node(link, kind: .string, newest: newest)
    guard UInt64(node.header.count) == size, node.header.count <= Layout.stringBytesMax,
      node.bytes.count == Layout.nodeHeaderBytes + node.header.count
    else {
      throw .corrupted("string_bytes=\(node.header.count) != size_in_leaf=\(size)", at: link.ref)
    }
    return node
  }

  /// The bytes of a string, in the leaf or in a node of its own.
  func stringBytes(
    _ strings: StringsView, _ index: Int, newest: Version
  ) throws(EngineError) -> RawBytes {
    let (entry, isExternal) = try strings.entry(index)
    guard isExternal else { return entry }
    let node = try stringNode(entry, newest: newest)
    return node.bytes.part(
      at: Layout.nodeHeaderBytes, count: node.bytes.count - Layout.nodeHeaderBytes)
  }

  /// The values of a row.
  func row(
    _ leaf: LeafView, _ index: Int, _ shape: LeafShape, newest: Version
  ) throws(EngineError) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(shape.types.count)
    for column in shape.types.indices {
      switch shape.types[column] {
      case .int: values.append(.int(try leaf.integers(column, shape)[index]))
      case .string:
        let bytes = try stringBytes(try leaf.strings(column, shape), index, newest: newest)
        guard let string = bytes.string else {
          throw .corrupted("string \(index) of column \(column) is not UTF-8", at: leaf.node.ref)
        }
        values.append(.string(string))
      }
    }
    return values
  }
}
