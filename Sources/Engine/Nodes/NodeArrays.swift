// NodeArrays.swift: the arrays of a leaf read in place. Descriptors come first, then the arrays.
//   offset_bytes  size  field            (a descriptor, 16 bytes, from offset 48 on)
//              0     8  base of a packed array; number of bytes of a byte array
//              8     4  offset in the node, a multiple of 8
//             12     1  width of a packed array in bits; 0 for a byte array
//             13     1  kind, see ArrayKind
//             14     2  id of the column; 0 for the keys
// Ids ascend, and the arrays of one column are in the order of LeafShape.swift. A column that the
// leaf was written without reads as a constant: null, or 0 and empty. A removed column is skipped.

/// The arrays of a leaf of a table or of a collection.
struct NodeArrays {
  let node: Node
  let count: Int
  let descriptorCount: Int

  init(_ node: Node) throws(EngineError) {
    self.node = node
    count = node.header.count
    descriptorCount = node.header.auxiliary
    guard count > 0, descriptorCount <= Layout.descriptorCountMax,
      descriptorCount <= (node.bytes.count - Layout.nodeHeaderBytes) / Layout.descriptorBytes
    else {
      throw .corrupted(
        "rows=\(count) descriptors=\(descriptorCount) in node_bytes=\(node.bytes.count)",
        at: node.ref)
    }
  }

  @inline(__always)
  private func start(_ descriptor: Int) -> Int {
    Layout.nodeHeaderBytes + descriptor * Layout.descriptorBytes
  }

  @inline(__always)
  func columnID(_ descriptor: Int) -> UInt16 { node.bytes.uint16(start(descriptor) + 14) }

  @inline(__always)
  func kind(_ descriptor: Int) -> UInt8 { node.bytes.uint8(start(descriptor) + 13) }

  /// The byte range of an array in the node; nil when it is invalid.
  func range(_ descriptor: Int) -> Range<Int>? {
    let start = start(descriptor)
    let offset = Int(node.bytes.uint32(start + 8))
    let width = Int(node.bytes.uint8(start + 12))
    guard let kind = ArrayKind(rawValue: kind(descriptor)), PackedArray.widths.contains(width)
    else { return nil }
    var size = UInt64(PackedArray.sizeBytes(count: count, width: width))
    if kind.hasBytes { size = node.bytes.uint64(start) }
    guard offset % 8 == 0, offset <= node.bytes.count, size <= UInt64(node.bytes.count - offset)
    else { return nil }
    return offset..<offset + Int(size)
  }

  /// The first descriptor of a column; nil when the leaf was written without it.
  @inline(__always)
  private func first(_ layout: ColumnLayout) throws(EngineError) -> Int? {
    let expected = layout.firstDescriptor
    if expected + layout.descriptorCount <= descriptorCount, columnID(expected) == layout.id,
      expected == 0 || columnID(expected - 1) != layout.id
    {
      return expected
    }
    return try search(layout)
  }

  /// The columns changed since the leaf was written.
  @inline(never)
  private func search(_ layout: ColumnLayout) throws(EngineError) -> Int? {
    for descriptor in 0..<descriptorCount where columnID(descriptor) == layout.id {
      guard descriptor + layout.descriptorCount <= descriptorCount else {
        throw .corrupted(
          "column \(layout.id) needs \(layout.descriptorCount) descriptors from \(descriptor) on, "
            + "the leaf has \(descriptorCount)", at: node.ref)
      }
      return descriptor
    }
    return nil
  }

  /// Prefetches what a row has in the arrays, so that reading its values one after the other does
  /// not wait for memory each time.
  ///
  /// Where texts end is not known here: it takes them to be equally long.
  @inline(__always)
  func prefetch(row: Int) {
    for descriptor in 1..<max(1, min(descriptorCount, Self.prefetchedMax)) {
      let start = start(descriptor)
      let (offset, width) = (node.bytes.uint32(start + 8), Int(node.bytes.uint8(start + 12)))
      var bits = row &* width
      if ArrayKind(rawValue: kind(descriptor))?.hasBytes == true {
        bits = 8 &* row &* Int(truncatingIfNeeded: node.bytes.uint64(start)) / count
      } else if width == 0 {
        continue
      }
      node.bytes.prefetch(at: UInt64(offset), plus: bits >> 3, count: 1)
    }
  }

  private static let prefetchedMax = 24

  @inline(__always)
  func packed(
    _ descriptor: Int, _ kind: ArrayKind, id: UInt16
  ) throws(EngineError) -> PackedArray {
    let start = start(descriptor)
    guard node.bytes.uint8(start + 13) == kind.rawValue, node.bytes.uint16(start + 14) == id,
      let array = PackedArray(
        in: node.bytes, at: Int(node.bytes.uint32(start + 8)), count: count,
        width: Int(node.bytes.uint8(start + 12)), base: node.bytes.uint64(start))
    else { throw wrong(descriptor, kind, id) }
    return array
  }

  @inline(never)
  private func wrong(_ descriptor: Int, _ kind: ArrayKind, _ id: UInt16) -> EngineError {
    .corrupted("array \(descriptor) (\(kind) of column \(id)) of a leaf is wrong", at: node.ref)
  }

  /// Elements that are 0 or 1.
  @inline(__always)
  private func bits(
    _ descriptor: Int, _ kind: ArrayKind, id: UInt16
  ) throws(EngineError) -> PackedArray {
    let array = try packed(descriptor, kind, id: id)
    guard array.width == 0 ? array.base <= 1 : array.width == 1 && array.base == 0 else {
      throw wrong(descriptor, kind, id)
    }
    return array
  }

  private func constant(_ number: UInt64) -> PackedArray {
    PackedArray(constant: number, count: count, in: node.bytes)
  }

  /// The bytes of an array that has `expected` of them, or any number.
  @inline(__always)
  private func byteArray(
    _ descriptor: Int, _ kind: ArrayKind, id: UInt16, expected: Int? = nil
  ) throws(EngineError) -> (bytes: RawBytes, offset: Int) {
    let start = start(descriptor)
    let size = node.bytes.uint64(start)
    let offset = Int(node.bytes.uint32(start + 8))
    guard node.bytes.uint8(start + 13) == kind.rawValue, node.bytes.uint16(start + 14) == id,
      node.bytes.uint8(start + 12) == 0, offset <= node.bytes.count,
      size <= UInt64(node.bytes.count - offset), expected.map({ size == UInt64($0) }) ?? true
    else { throw wrong(descriptor, kind, id) }
    return (node.bytes.part(at: offset, count: Int(size)), offset)
  }

  // MARK: columns

  /// Which rows are null: 1 for null.
  @inline(__always)
  func nulls(_ layout: ColumnLayout) throws(EngineError) -> PackedArray {
    guard layout.hasNulls else { return constant(0) }
    guard let first = try first(layout) else { return constant(1) }
    return try bits(first + layout.storage.arrayCount, .nulls, id: layout.id)
  }

  /// Integers or keys of links.
  @inline(__always)
  func integers(_ layout: ColumnLayout) throws(EngineError) -> PackedArray {
    precondition(layout.storage == .integers)
    guard let first = try first(layout) else { return constant(0) }
    return try packed(first, .integers, id: layout.id)
  }

  /// Bools: 1 for true.
  @inline(__always)
  func bools(_ layout: ColumnLayout) throws(EngineError) -> PackedArray {
    precondition(layout.storage == .bools)
    guard let first = try first(layout) else { return constant(0) }
    return try bits(first, .bools, id: layout.id)
  }

  /// The bits of floating-point numbers; the base is 0 unless all are equal.
  @inline(__always)
  func words(_ layout: ColumnLayout) throws(EngineError) -> PackedArray {
    precondition(layout.storage == .words32 || layout.storage == .words64)
    guard let first = try first(layout) else { return constant(0) }
    let kind = layout.storage.firstKind
    let array = try packed(first, kind, id: layout.id)
    let width = kind == .words32 ? 32 : 64
    guard array.width == width ? array.base == 0 : array.width == 0,
      kind == .words64 || array.base <= 0xffff_ffff
    else { throw wrong(first, kind, layout.id) }
    return array
  }

  /// Dates; nanoseconds are checked where they are read.
  @inline(__always)
  func dates(
    _ layout: ColumnLayout
  ) throws(EngineError) -> (seconds: PackedArray, nanoseconds: PackedArray) {
    precondition(layout.storage == .dates)
    guard let first = try first(layout) else { return (constant(0), constant(0)) }
    return (
      try packed(first, .seconds, id: layout.id),
      try packed(first + 1, .nanoseconds, id: layout.id)
    )
  }

  /// Values of 12 or 16 bytes.
  @inline(__always)
  func fixed(_ layout: ColumnLayout) throws(EngineError) -> FixedView {
    precondition(layout.storage == .fixed12 || layout.storage == .fixed16)
    let size = layout.storage.fixedBytes
    guard let first = try first(layout) else {
      return FixedView(bytes: nil, sizeBytes: size, count: count)
    }
    let found = try byteArray(
      first, layout.storage.firstKind, id: layout.id, expected: count * size)
    return FixedView(bytes: found.bytes, sizeBytes: size, count: count)
  }

  /// Strings and other values stored as bytes.
  @inline(__always)
  func strings(_ layout: ColumnLayout) throws(EngineError) -> StringsView {
    precondition(layout.storage == .strings)
    guard let first = try first(layout) else {
      return StringsView(
        ref: node.ref, ends: constant(0), flags: constant(0),
        bytes: node.bytes.part(at: 0, count: 0), offsetBytes: 0)
    }
    let content = try byteArray(first + 2, .bytes, id: layout.id)
    return StringsView(
      ref: node.ref, ends: try packed(first, .ends, id: layout.id),
      flags: try bits(first + 1, .flags, id: layout.id), bytes: content.bytes,
      offsetBytes: content.offset)
  }
}

/// Values of one size.
struct FixedView {
  /// Nil when the leaf was written without the column: all bytes are 0 then.
  let bytes: RawBytes?
  let sizeBytes: Int
  let count: Int

  /// The value's bytes as two integers, the first byte highest; the second has 4 bytes of 12.
  @inline(__always)
  subscript(index: Int) -> (high: UInt64, low: UInt64) {
    precondition(index >= 0 && index < count)
    guard let bytes else { return (0, 0) }
    let offset = index * sizeBytes
    if sizeBytes == 12 {
      return (bytes.bigEndian64(offset), UInt64(bytes.bigEndian32(offset + 8)))
    }
    return (bytes.bigEndian64(offset), bytes.bigEndian64(offset + 8))
  }

  /// The value's bytes; nil when the leaf lacks the column and they are all 0.
  @inline(__always)
  func part(_ index: Int) -> RawBytes? {
    precondition(index >= 0 && index < count)
    return bytes?.part(at: index * sizeBytes, count: sizeBytes)
  }
}
