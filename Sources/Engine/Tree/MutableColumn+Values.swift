// MutableColumn+Values.swift: writes values to and reads them from a column that a writer changes.
// Callers have already checked the values against the column.

extension MutableColumn {
  /// The bytes of a value stored as bytes, or the entry that leads to them.
  private func entry(
    of value: Value, _ writer: TreeWriter
  ) throws(EngineError) -> (bytes: [UInt8], isExternal: Bool) {
    let bytes: [UInt8]
    switch (layout.collection, layout.type, value) {
    case (.none, .mixed, _): bytes = ValueCoding.encodeMixed(value)
    case (.none, _, .string(let text)): bytes = Array(text.utf8)
    case (.none, _, .binary(let content)): bytes = content
    case (.none, _, _): bytes = []
    default: return try CollectionContent.entry(of: value, CollectionShape(layout), writer)
    }
    return bytes.count > Layout.inlineBytesMax
      ? (writer.addString(bytes), true) : (bytes, false)
  }

  /// Marks a row inserted at `index` as null or not.
  @inline(__always)
  private mutating func insertNull(_ isNull: Bool, at index: Int, rows: Int) {
    if isNull && nulls.isEmpty { nulls = [Bool](repeating: false, count: rows - 1) }
    if isNull || !nulls.isEmpty { nulls.insert(isNull, at: index) }
  }

  @inline(__always)
  private mutating func replaceNull(_ isNull: Bool, at index: Int) {
    if isNull && nulls.isEmpty { nulls = [Bool](repeating: false, count: count) }
    if !nulls.isEmpty { nulls[index] = isNull }
  }

  /// The number of a value that is one; a null gets one that widens nothing.
  @inline(__always)
  private func number(of value: Value) -> Int64 {
    switch value {
    case .int(let number), .link(let number): number
    case .bool(let isTrue): isTrue ? 1 : 0
    case .float(let number): Int64(number.bitPattern)
    case .double(let number): Int64(bitPattern: number.bitPattern)
    case .date(let seconds, _): seconds
    default: lower <= upper ? lower : 0
    }
  }

  private func fixedBytes(of value: Value) -> [UInt8] {
    switch value {
    case .objectId(let id): id.bytes
    case .uuid(let id): id.bytes
    case .decimal128(let number): number.bytes
    default: [UInt8](repeating: 0, count: layout.storage.fixedBytes)
    }
  }

  /// Inserts a value.
  @inline(__always)
  mutating func insert(_ value: Value, at index: Int, _ writer: TreeWriter) throws(EngineError) {
    switch value {
    case .int(let number) where layout.storage == .integers && nulls.isEmpty:
      insert(number, at: index)
    case .string(let text)
    where layout.type == .string && nulls.isEmpty && text.utf8.count <= Layout.inlineBytesMax:
      insert(text.utf8, isExternal: false, at: index)
    default: try insertOther(value, at: index, writer)
    }
  }

  private mutating func insertOther(
    _ value: Value, at index: Int, _ writer: TreeWriter
  ) throws(EngineError) {
    switch layout.storage {
    case .integers, .bools, .words32, .words64: insert(number(of: value), at: index)
    case .dates:
      insert(number(of: value), at: index)
      var part: Int64 = 0
      if case .date(_, let nanoseconds) = value { part = nanoseconds }
      nanoseconds.insert(part, at: index)
      nanosecondsUpper = max(nanosecondsUpper, part)
    case .fixed12, .fixed16:
      bytes.insert(
        contentsOf: fixedBytes(of: value), at: index * layout.storage.fixedBytes)
    case .strings:
      let (entry, isExternal) = try entry(of: value, writer)
      insert(entry, isExternal: isExternal, at: index)
    }
    if layout.hasNulls { insertNull(value.rank == 0, at: index, rows: count) }
    measure()
  }

  /// Replaces a value; the nodes of the old one outside of the leaf are released.
  mutating func replace(_ value: Value, at index: Int, _ writer: TreeWriter) throws(EngineError) {
    switch layout.storage {
    case .integers, .bools, .words32, .words64: replace(number(of: value), at: index)
    case .dates:
      replace(number(of: value), at: index)
      var part: Int64 = 0
      if case .date(_, let nanoseconds) = value { part = nanoseconds }
      nanoseconds[index] = part
      nanosecondsUpper = max(nanosecondsUpper, part)
    case .fixed12, .fixed16: bytes.replaceSubrange(range(index), with: fixedBytes(of: value))
    case .strings:
      try dropExternal(at: index, writer)
      let (entry, isExternal) = try entry(of: value, writer)
      replace(entry, isExternal: isExternal, at: index)
    }
    if layout.hasNulls { replaceNull(value.rank == 0, at: index) }
    measure()
  }

  /// Releases what a row has outside of the leaf; the row is about to go or to change.
  @inline(__always)
  func dropExternal(at index: Int, _ writer: TreeWriter) throws(EngineError) {
    guard isExternal(index) else { return }
    try writer.drop(ExternalEntry(bytes[range(index)]), layout)
  }

  /// The value of a row.
  func value(at index: Int, _ writer: TreeWriter) throws(EngineError) -> Value {
    if isNull(index) { return .null }
    switch layout.storage {
    case .integers: return layout.type == .int ? .int(numbers[index]) : .link(numbers[index])
    case .bools: return .bool(numbers[index] != 0)
    case .words32:
      return .float(Float(bitPattern: UInt32(truncatingIfNeeded: numbers[index])))
    case .words64: return .double(Double(bitPattern: UInt64(bitPattern: numbers[index])))
    case .dates:
      return try ValueCoding.date(numbers[index], nanoseconds[index], at: .none)
    case .fixed12, .fixed16:
      let part = bytes[range(index)]
      let high = FixedBytes.number(part.prefix(8))
      let low = FixedBytes.number(part.dropFirst(8))
      switch layout.type {
      case .objectId: return .objectId(ObjectId(high: high, low: UInt32(truncatingIfNeeded: low)))
      case .uuid: return .uuid(UUIDBytes(high: high, low: low))
      default: return .decimal128(Decimal128(high: high, low: low))
      }
    case .strings: return try bytesValue(at: index, writer)
    }
  }

  private func bytesValue(at index: Int, _ writer: TreeWriter) throws(EngineError) -> Value {
    guard layout.collection == .none else {
      return try CollectionContent(self, at: index, writer).value
    }
    let entry = bytes[range(index)]
    let content = isExternal(index) ? try writer.string(ExternalEntry(entry)) : Array(entry)
    switch layout.type {
    case .string: return .string(String(decoding: content, as: UTF8.self))
    case .binary: return .binary(content)
    default:
      return try RawBytes.over(content) { bytes throws(EngineError) in
        try ValueCoding.decodeMixed(bytes, at: .none)
      }
    }
  }
}

extension MutableColumn {
  /// A copy of a committed column.
  init(_ arrays: NodeArrays, _ layout: ColumnLayout) throws(EngineError) {
    self.init(layout)
    var stored: PackedArray?
    switch layout.storage {
    case .integers: stored = try arrays.integers(layout)
    case .bools: stored = try arrays.bools(layout)
    case .words32, .words64: stored = try arrays.words(layout)
    case .dates:
      let (seconds, parts) = try arrays.dates(layout)
      seconds.decode(into: &numbers)
      parts.decode(into: &nanoseconds)
      for row in nanoseconds.indices where !FineDates.isPart(nanoseconds[row], of: numbers[row]) {
        _ = try ValueCoding.date(numbers[row], nanoseconds[row], at: arrays.node.ref)
      }
    case .fixed12, .fixed16:
      let fixed = try arrays.fixed(layout)
      bytes =
        fixed.bytes?.array
        ?? [UInt8](repeating: 0, count: arrays.count * layout.storage.fixedBytes)
    case .strings:
      let strings = try arrays.strings(layout)
      let hasExternals = try strings.decodeEnds(into: &numbers)
      bytes = strings.bytes.array
      if hasExternals { externals = numbers.indices.map { strings.flags[$0] != 0 } }
    }
    let flags = try arrays.nulls(layout)
    if flags.width > 0 || flags.base != 0 { nulls = (0..<arrays.count).map { flags[$0] != 0 } }
    guard let stored else {
      tighten()
      return
    }
    stored.decode(into: &numbers)
    bound(like: stored)
  }
}
