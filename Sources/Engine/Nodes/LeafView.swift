// LeafView.swift: a leaf of a table read in place: keys, then columns (see NodeArrays.swift).
// String i is bytes[ends[i-1] ..< ends[i]]; with its flag set these 24 bytes are ref, checksum and
// size of a separate node, or ref, checksum, count and level of the tree of a collection.

/// A leaf.
struct LeafView {
  let arrays: NodeArrays
  let keys: PackedArray

  var node: Node { arrays.node }
  var count: Int { keys.count }

  init(_ node: Node) throws(EngineError) {
    arrays = try NodeArrays(node)
    guard arrays.descriptorCount > 0 else { throw .corrupted("a leaf has no keys", at: node.ref) }
    keys = try arrays.packed(0, .keys, id: 0)
    // Keys are distinct, so a width bounds their number: no small node claims a billion rows.
    guard keys.width >= 32 || keys.count <= 1 << keys.width else {
      throw .corrupted("rows=\(keys.count) cannot differ in \(keys.width) bits", at: node.ref)
    }
  }

  /// The index of a key, or nil.
  @inline(__always)
  func index(of key: Int64) -> Int? { keys.index(of: key) }

  /// Which rows of a column are null.
  @inline(__always)
  func nulls(_ column: Int, _ shape: LeafShape) throws(EngineError) -> PackedArray {
    try arrays.nulls(shape.columns[column])
  }

  /// The numbers of an int or link column.
  @inline(__always)
  func integers(_ column: Int, _ shape: LeafShape) throws(EngineError) -> PackedArray {
    try arrays.integers(shape.columns[column])
  }

  /// The zeros and ones of a bool column.
  @inline(__always)
  func bools(_ column: Int, _ shape: LeafShape) throws(EngineError) -> PackedArray {
    try arrays.bools(shape.columns[column])
  }

  /// The bits of a float or double column.
  @inline(__always)
  func words(_ column: Int, _ shape: LeafShape) throws(EngineError) -> PackedArray {
    try arrays.words(shape.columns[column])
  }

  /// The arrays of a date column.
  @inline(__always)
  func dates(
    _ column: Int, _ shape: LeafShape
  ) throws(EngineError) -> (seconds: PackedArray, nanoseconds: PackedArray) {
    try arrays.dates(shape.columns[column])
  }

  /// The values of an objectId, uuid or decimal128 column.
  @inline(__always)
  func fixed(_ column: Int, _ shape: LeafShape) throws(EngineError) -> FixedView {
    try arrays.fixed(shape.columns[column])
  }

  /// The arrays of a string, binary, mixed or collection column.
  @inline(__always)
  func strings(_ column: Int, _ shape: LeafShape) throws(EngineError) -> StringsView {
    try arrays.strings(shape.columns[column])
  }
}

/// A column of a leaf that is stored as bytes.
struct StringsView {
  let ref: Ref
  let ends: PackedArray
  let flags: PackedArray
  let bytes: RawBytes
  /// Where `bytes` start in the node.
  let offsetBytes: Int

  /// Whether any entry leads out of the leaf.
  var hasExternals: Bool { flags.width > 0 || flags.base != 0 }

  /// The entry of a row: its bytes, or the entry that leads to them.
  @inline(__always)
  func entry(_ index: Int) throws(EngineError) -> (bytes: RawBytes, isExternal: Bool) {
    let (start, count) = try range(index)
    return (bytes.part(at: start, count: count), flags[index] != 0)
  }

  /// The range of a row's entry in `bytes`.
  @inline(__always)
  func range(_ index: Int) throws(EngineError) -> (start: Int, count: Int) {
    let start = index == 0 ? 0 : ends[index - 1]
    let end = ends[index]
    guard start >= 0, start <= end, end <= Int64(bytes.count) else {
      throw .corrupted("string \(index) at \(start)..<\(end) of \(bytes.count) bytes", at: ref)
    }
    let count = Int(end - start)
    guard flags[index] == 0 || count == Layout.externalEntryBytes else {
      throw .corrupted("external string \(index) has \(count) bytes, not 24", at: ref)
    }
    return (Int(start), count)
  }

  /// Replaces the content of `values` by all ends, checked: they ascend up to the last byte, and
  /// entries that lead out of the leaf have their size and a ref that a file can have.
  /// - Returns: Whether any entry leads out of the leaf.
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
    guard hasExternals else { return false }
    for index in values.indices {
      let (start, _) = try range(index)
      // A writer gives long values that have no place yet temporary refs, far above those of any
      // file.
      guard flags[index] == 0 || bytes.uint64(start) < Layout.fileSizeBytesMax else {
        throw .corrupted("external string \(index) at ref \(bytes.uint64(start))", at: ref)
      }
    }
    return true
  }
}

/// A row's entry for a value outside of the leaf: link 16, then a word.
struct ExternalEntry {
  var link: NodeLink
  /// Bytes of the separate node; for a collection the count, and the level in the highest byte.
  var word: UInt64

  private static let levelShift: UInt64 = 56

  init(link: NodeLink, word: UInt64) {
    self.link = link
    self.word = word
  }

  init(link: NodeLink, count: UInt64, level: Int) {
    precondition(count <= Layout.elementCountMax, "a count has 56 bits")
    self.link = link
    word = count | UInt64(level) << Self.levelShift
  }

  init(_ entry: RawBytes) {
    link = NodeLink(ref: Ref(offsetBytes: entry.uint64(0)), checksum: entry.uint64(8))
    word = entry.uint64(16)
  }

  init(_ entry: ArraySlice<UInt8>) {
    func number(_ offset: Int) -> UInt64 {
      entry[entry.startIndex + offset..<entry.startIndex + offset + 8].reversed()
        .reduce(0) { $0 << 8 | UInt64($1) }
    }
    link = NodeLink(ref: Ref(offsetBytes: number(0)), checksum: number(8))
    word = number(16)
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendLittleEndian(link.ref.offsetBytes)
    bytes.appendLittleEndian(link.checksum)
    bytes.appendLittleEndian(word)
    return bytes
  }

  var count: UInt64 { word & (1 << Self.levelShift - 1) }
  var level: Int { Int(word >> Self.levelShift) }
}

extension PackedArray {
  /// The index of a key among those of a leaf, or nil.
  @inline(__always)
  func index(of key: Int64) -> Int? {
    if let index = indexWithoutGaps(of: key) { return index }
    let index = firstIndex(notBelow: key)
    return index < count && self[index] == key ? index : nil
  }

  /// The same where the keys up to this one have no gaps; else nil.
  @inline(__always)
  func indexWithoutGaps(of key: Int64) -> Int? {
    // Keys are distinct and ascend from the base, so a key's index is at most its distance from the
    // first key. In a leaf without gaps it is exactly that.
    let distance = UInt64(bitPattern: key) &- base
    return distance < UInt64(count) && self[Int(distance)] == key ? Int(distance) : nil
  }
}
