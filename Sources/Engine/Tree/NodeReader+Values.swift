// NodeReader+Values.swift: values of rows and of collections' elements, made from a leaf's arrays.

extension NodeReader {
  /// The node of a long string, binary or mixed value.
  func stringNode(
    _ entry: ExternalEntry, newest: Version, again: Bool = false
  ) throws(EngineError) -> Node {
    let link = entry.link
    let node =
      again
      ? try verifiedAgain(link, kind: .string, newest: newest)
      : try node(link, kind: .string, newest: newest)
    guard UInt64(node.header.count) == entry.word, node.header.count <= Layout.longValueBytesMax,
      node.bytes.count == Layout.nodeHeaderBytes + node.header.count
    else {
      throw .corrupted(
        "string_bytes=\(node.header.count) != size_in_leaf=\(entry.word)", at: link.ref)
    }
    return node
  }

  /// The bytes of a string, in the leaf or in a separate node.
  @inline(__always)
  func stringBytes(
    _ strings: StringsView, _ index: Int, newest: Version
  ) throws(EngineError) -> RawBytes {
    let (entry, isExternal) = try strings.entry(index)
    guard isExternal else { return entry }
    let node = try stringNode(ExternalEntry(entry), newest: newest)
    return node.bytes.part(
      at: Layout.nodeHeaderBytes, count: node.bytes.count - Layout.nodeHeaderBytes)
  }

  /// The values of a row.
  func row(
    _ leaf: LeafView, _ index: Int, _ shape: LeafShape, newest: Version
  ) throws(EngineError) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(shape.columns.count)
    for column in shape.columns.indices {
      values.append(try value(leaf.arrays, shape.columns[column], index, newest: newest))
    }
    return values
  }

  /// One value of a row or collection.
  @inline(__always)
  func value(
    _ arrays: NodeArrays, _ layout: ColumnLayout, _ index: Int, newest: Version
  ) throws(EngineError) -> Value {
    if layout.hasNulls, try arrays.nulls(layout)[index] != 0 { return .null }
    switch layout.storage {
    case .integers:
      let number = try arrays.integers(layout)[index]
      return layout.type == .int ? .int(number) : .link(number)
    case .strings where layout.type == .string && layout.collection == .none:
      let bytes = try stringBytes(try arrays.strings(layout), index, newest: newest)
      guard let string = bytes.string else { throw Self.notText(index, layout, arrays.node.ref) }
      return .string(string)
    default: return try otherValue(arrays, layout, index, newest: newest)
    }
  }

  static func notText(_ index: Int, _ layout: ColumnLayout, _ ref: Ref) -> EngineError {
    .corrupted("string \(index) of column \(layout.id) is not UTF-8", at: ref)
  }

  private func otherValue(
    _ arrays: NodeArrays, _ layout: ColumnLayout, _ index: Int, newest: Version
  ) throws(EngineError) -> Value {
    switch layout.storage {
    case .bools: return .bool(try arrays.bools(layout)[index] != 0)
    case .words32:
      let bits = UInt32(truncatingIfNeeded: try arrays.words(layout)[index])
      return .float(Float(bitPattern: bits))
    case .words64:
      return .double(Double(bitPattern: UInt64(bitPattern: try arrays.words(layout)[index])))
    case .dates:
      let (seconds, nanoseconds) = try arrays.dates(layout)
      return try ValueCoding.date(seconds[index], nanoseconds[index], at: arrays.node.ref)
    case .fixed12:
      let (high, low) = try arrays.fixed(layout)[index]
      return .objectId(ObjectId(high: high, low: UInt32(truncatingIfNeeded: low)))
    case .fixed16:
      let (high, low) = try arrays.fixed(layout)[index]
      return layout.type == .uuid
        ? .uuid(UUIDBytes(high: high, low: low)) : .decimal128(Decimal128(high: high, low: low))
    default: break
    }
    let strings = try arrays.strings(layout)
    guard layout.collection == .none else {
      return try CollectionContent(self, layout, strings, index, newest: newest).value
    }
    let bytes = try stringBytes(strings, index, newest: newest)
    return layout.type == .binary
      ? .binary(bytes.array) : try ValueCoding.decodeMixed(bytes, at: arrays.node.ref)
  }
}
