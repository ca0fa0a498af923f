// VerifyColumns.swift: checks the columns of leaves, and the collections and long values they lead
// to. It verifies: that descriptors have known kinds and ascending ids; bounds, widths and bases of
// arrays, and that none overlap; nanoseconds; UTF-8; types and sizes of mixed values and of
// elements; nodes of long values; trees of collections, with their counts; and that sets and
// dictionaries ascend.

extension Verifier {
  /// Arrays are stored in the order of their descriptors and share no byte: a change to one array,
  /// to the descriptors or to the node's header does not change any other.
  static func verifyDescriptors(_ arrays: NodeArrays) throws(EngineError) {
    var last: UInt16 = 0
    var end = Layout.nodeHeaderBytes + arrays.descriptorCount * Layout.descriptorBytes
    for descriptor in 0..<arrays.descriptorCount {
      let id = arrays.columnID(descriptor)
      let range = arrays.range(descriptor)
      guard id >= last, let range, range.isEmpty || range.lowerBound >= end else {
        throw .corrupted(
          "descriptor \(descriptor) has column_id=\(id) after \(last), "
            + "kind=\(arrays.kind(descriptor)) bytes=\(range.map { "\($0)" } ?? "none") "
            + "after \(end)", at: arrays.node.ref)
      }
      last = id
      if !range.isEmpty { end = range.upperBound }
    }
  }

  /// One column of a leaf, of a table or of a collection.
  mutating func verify(
    _ arrays: NodeArrays, _ layout: ColumnLayout
  ) throws(EngineError) {
    _ = try arrays.nulls(layout)
    switch layout.storage {
    case .integers: _ = try arrays.integers(layout)
    case .bools: _ = try arrays.bools(layout)
    case .words32, .words64: _ = try arrays.words(layout)
    case .fixed12, .fixed16: _ = try arrays.fixed(layout)
    case .dates:
      let dates = try arrays.dates(layout)
      var (seconds, parts): ([Int64], [Int64]) = ([], [])
      dates.seconds.decode(into: &seconds)
      dates.nanoseconds.decode(into: &parts)
      for row in parts.indices where !FineDates.isPart(parts[row], of: seconds[row]) {
        _ = try ValueCoding.date(seconds[row], parts[row], at: arrays.node.ref)
      }
    case .strings:
      let strings = try arrays.strings(layout)
      let hasExternals = try strings.checkEnds()
      // Pure ASCII text is UTF-8 wherever it is split; everything else is checked row by row.
      let isPlain = layout.type == .string && layout.collection == .none
      if isPlain, !hasExternals, strings.bytes.isASCII { return }
      for row in 0..<arrays.count { try verify(strings, row, layout) }
    }
  }

  private mutating func verify(
    _ strings: StringsView, _ row: Int, _ layout: ColumnLayout
  ) throws(EngineError) {
    let (entry, isExternal) = try strings.entry(row)
    if layout.collection != .none {
      let shape = CollectionShape(layout)
      if isExternal {
        try verify(
          CollectionReader(
            state.reader, shape, ExternalEntry(entry), newest: state.version, at: strings.ref))
      } else {
        let (keys, values) = try ValueCoding.decode(entry, shape, at: strings.ref)
        var order = AscendingOrder(kind: shape.kind)
        for index in values.indices {
          try order.check(
            key: shape.isDictionary ? keys[index] : nil, values[index], at: strings.ref)
        }
      }
      return
    }
    var bytes = entry
    if isExternal {
      let node = try state.reader.stringNode(
        ExternalEntry(entry), newest: state.version, again: true)
      try count(node)
      bytes = node.bytes.part(
        at: Layout.nodeHeaderBytes, count: node.bytes.count - Layout.nodeHeaderBytes)
    }
    switch layout.type {
    case .string:
      guard bytes.isUTF8 else { throw NodeReader.notText(row, layout, strings.ref) }
    case .mixed: _ = try ValueCoding.decodeMixed(bytes, at: strings.ref)
    default: break
    }
  }

  /// The tree of a collection, leaf after leaf.
  private mutating func verify(_ collection: CollectionReader) throws(EngineError) {
    var order = AscendingOrder(kind: collection.shape.kind)
    var stack = [(link: collection.root, level: collection.level, count: collection.count)]
    while let (link, level, count) = stack.popLast() {
      if level > 0 {
        let node = try node(link, .collectionInner, level)
        try self.count(node)
        let inner = try CollectionInnerView(node, count: count)
        for child in (0..<inner.childCount).reversed() {
          let range = try inner.range(child)
          stack.append((inner.link(child), level - 1, range.upperBound - range.lowerBound))
        }
        continue
      }
      let node = try node(link, .collectionLeaf)
      try self.count(node)
      let leaf = try CollectionReader.leaf(node, count: count)
      try Self.verifyDescriptors(leaf)
      for layout in collection.shape.columns { try verify(leaf, layout) }
      try verify(leaf, collection.shape, &order)
    }
  }

  private func verify(
    _ leaf: NodeArrays, _ shape: CollectionShape, _ order: inout AscendingOrder
  ) throws(EngineError) {
    guard shape.kind != .list else { return }
    let layout = shape.isDictionary ? shape.key : shape.element
    for index in 0..<leaf.count {
      let value = try state.reader.value(leaf, layout, index, newest: state.version)
      try order.check(value, at: leaf.node.ref)
    }
  }
}

/// Sets and dictionaries ascend, also from one leaf to the next.
private struct AscendingOrder {
  let kind: CollectionKind
  private var last: Value?

  init(kind: CollectionKind) { self.kind = kind }

  mutating func check(key: String?, _ value: Value, at ref: Ref) throws(EngineError) {
    switch kind {
    case .set: try check(value, at: ref)
    case .dictionary: try check(.string(key ?? ""), at: ref)
    default: break
    }
  }

  mutating func check(_ value: Value, at ref: Ref) throws(EngineError) {
    guard last.map({ Value.precedes($0, value) }) ?? true else {
      throw .corrupted("an element of a \(kind) does not stand above the one before", at: ref)
    }
    last = value
  }
}
