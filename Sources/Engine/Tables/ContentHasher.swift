// ContentHasher.swift [U]: hashes the content of a database to one number, independent of its
// nodes. hash(row) := finished(the table's seed, then the key, then the values, folded in)
// hash(all) := finished(sum of the table hashes and row hashes, and the number of rows) Sums make
// the result independent of the order in which rows and tables come, so a model over a dictionary
// can feed them as they are; the key in each row's hash makes the order count where it should. A
// null folds the inverted hash, so that no value equals it; a mixed value folds its type before
// itself, a collection its count before its elements. It is not part of the file format and guards
// against accidents only.

/// Computes the same number as `Snapshot.contentHash()` from tables, keys and values.
///
/// Feed each table's schema, then its rows: `beginTable`, `combine`…, and `finalize` at the end.
public struct ContentHasher: Sendable {
  private var sum: UInt64 = 0
  private var count: UInt64 = 0
  private var seed: UInt64 = 0
  private var types: [ColumnType] = []

  /// Starts with no content.
  public init() {}

  /// Starts a table; the following rows belong to it.
  public mutating func beginTable(_ schema: TableSchema) {
    var hash = Self.hash(of: schema.name)
    types = schema.columns.map(\.type)
    for column in schema.columns {
      let kind =
        UInt64(column.type.rawValue) | (column.isOptional ? 1 << 8 : 0)
        | UInt64(column.collection.rawValue) << 16
      hash = Self.fold(hash, Self.hash(of: column.name) ^ kind)
      if let target = column.target { hash = Self.fold(hash, Self.hash(of: target)) }
    }
    seed = hash
    sum &+= Self.finished(Self.fold(hash, 1))
  }

  /// Adds a row of the table begun last.
  /// - Complexity: O(bytes of the row).
  public mutating func combine(key: Int64, _ values: [Value]) {
    combine(rowHashes: rowHash(key: key, values), count: 1)
  }

  /// The contribution of a row of the current table; subtracted when the row is removed.
  /// - Complexity: O(bytes of the row).
  public func rowHash(key: Int64, _ values: [Value]) -> UInt64 {
    var hash = Self.fold(seed, UInt64(bitPattern: key))
    for index in values.indices {
      hash = Self.fold(hash, values[index], isMixed: types[index] == .mixed)
    }
    return Self.finished(hash)
  }

  /// Adds rows by the wrapping sum of their hashes.
  public mutating func combine(rowHashes: UInt64, count rowCount: UInt64) {
    sum &+= rowHashes
    count += rowCount
  }

  /// The hash of everything fed so far.
  public func finalize() -> UInt64 {
    Self.finished(Self.fold(sum, count))
  }

  /// Adds the rows of a tree's leaves.
  mutating func combine(
    _ tree: BPlusTree, section: ReadSection, scratch: inout Scratch
  ) throws(EngineError) {
    var walk = LeafWalk(tree, section)
    while let link = try walk.nextLink() {
      if let known = tree.reader.knownRowSum(
        link, shape: tree.shape, seed: seed, newest: tree.newest)
      {
        combine(rowHashes: known.sum, count: known.count)
        continue
      }
      try combine(
        walk.leaf(link), tree.shape, tree.reader, newest: tree.newest, scratch: &scratch)
    }
  }

  /// Adds the rows of a leaf, a column at a time and without making values of them.
  private mutating func combine(
    _ leaf: LeafView, _ shape: LeafShape, _ reader: NodeReader, newest: Version,
    scratch: inout Scratch
  ) throws(EngineError) {
    var isSelfContained = true
    leaf.keys.decode(into: &scratch.numbers)
    scratch.hashes.removeAll(keepingCapacity: true)
    for key in scratch.numbers {
      scratch.hashes.append(Self.fold(seed, UInt64(bitPattern: key)))
    }
    for layout in shape.columns {
      let arrays = leaf.arrays
      if layout.storage == .strings, try arrays.strings(layout).hasExternals {
        isSelfContained = false
      }
      try Self.fold(arrays, layout, reader, newest: newest, scratch: &scratch)
    }
    let rowSum = scratch.hashes.reduce(0 as UInt64) { $0 &+ Self.finished($1) }
    sum &+= rowSum
    count += UInt64(leaf.count)
    if isSelfContained, let cached = reader.cached(leaf.node) {
      cached.cache.keep(
        rowSum: rowSum, rowCount: UInt64(leaf.count), cached.key, shape: shape.code, seed: seed)
    }
  }

  /// Memory reused for each leaf.
  struct Scratch {
    var numbers: [Int64] = []
    var hashes: [UInt64] = []
  }

  /// Folds a column into the hashes of a leaf's rows.
  private static func fold(
    _ arrays: NodeArrays, _ layout: ColumnLayout, _ reader: NodeReader, newest: Version,
    scratch: inout Scratch
  ) throws(EngineError) {
    let nulls = try arrays.nulls(layout)
    let hasNulls = nulls.width > 0 || nulls.base != 0
    switch layout.storage {
    case .integers where !hasNulls:
      try arrays.integers(layout).decode(into: &scratch.numbers)
      fold(scratch.numbers, into: &scratch.hashes)
    case .bools where !hasNulls:
      try arrays.bools(layout).decode(into: &scratch.numbers)
      fold(scratch.numbers, into: &scratch.hashes)
    case .words32 where !hasNulls, .words64 where !hasNulls:
      try arrays.words(layout).decode(into: &scratch.numbers)
      fold(scratch.numbers, into: &scratch.hashes)
    case .strings where layout.type == .string && layout.collection == .none && !hasNulls:
      let strings = try arrays.strings(layout)
      if try strings.decodeEnds(into: &scratch.numbers) {
        for row in scratch.hashes.indices {
          let bytes = try reader.stringBytes(strings, row, newest: newest)
          scratch.hashes[row] = fold(scratch.hashes[row], hash(bytes))
        }
      } else {
        fold(strings.bytes, scratch.numbers, into: &scratch.hashes)
      }
    default:
      for row in scratch.hashes.indices {
        let value = try reader.value(arrays, layout, row, newest: newest)
        scratch.hashes[row] = fold(scratch.hashes[row], value, isMixed: layout.type == .mixed)
      }
    }
  }

  private static func fold(_ hash: UInt64, _ value: Value, isMixed: Bool) -> UInt64 {
    var hash = hash
    switch value {
    case .null: return fold(~hash, 0x6e75_6c6c)
    case .list(let values):
      hash = fold(hash, UInt64(values.count))
      for value in values { hash = fold(hash, value, isMixed: isMixed) }
      return hash
    case .set:
      guard case .set(let values) = value.canonical else { return hash }
      return fold(hash, .list(values), isMixed: isMixed)
    case .dictionary:
      guard case .dictionary(let entries) = value.canonical else { return hash }
      hash = fold(hash, UInt64(entries.count))
      for entry in entries {
        hash = fold(fold(hash, self.hash(of: entry.key)), entry.value, isMixed: isMixed)
      }
      return hash
    default: break
    }
    if isMixed { hash = fold(hash, UInt64(value.rank) << 48) }
    switch value {
    case .int(let number), .link(let number): return fold(hash, UInt64(bitPattern: number))
    case .string(let text): return fold(hash, self.hash(of: text))
    case .bool(let isTrue): return fold(hash, isTrue ? 1 : 0)
    case .float(let number): return fold(hash, UInt64(number.bitPattern))
    case .double(let number): return fold(hash, number.bitPattern)
    case .binary(let bytes): return fold(hash, RawBytes.over(bytes) { self.hash($0) })
    case .date(let seconds, let nanoseconds):
      return fold(fold(hash, UInt64(bitPattern: seconds)), UInt64(truncatingIfNeeded: nanoseconds))
    case .objectId(let id): return fold(fold(hash, id.high), UInt64(id.low))
    case .uuid(let id): return fold(fold(hash, id.high), id.low)
    case .decimal128(let number): return fold(fold(hash, number.high), number.low)
    case .typedLink(let table, let key):
      return fold(fold(hash, UInt64(table)), UInt64(bitPattern: key))
    case .null, .list, .set, .dictionary: return hash
    }
  }

  @inline(__always)
  private static func fold(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    let (high, low) = (hash ^ word ^ 0x9e37_79b9_7f4a_7c15).multipliedFullWidth(
      by: 0xd6e8_feb8_6659_fd93)
    return high ^ low ^ (hash << 1 | hash >> 63)
  }

  @inline(__always)
  private static func finished(_ hash: UInt64) -> UInt64 {
    let mixed = (hash ^ (hash >> 29)) &* 0xbf58_476d_1ce4_e5b9
    return mixed ^ (mixed >> 32)
  }

  private static func fold(_ numbers: [Int64], into hashes: inout [UInt64]) {
    for row in hashes.indices {
      hashes[row] = fold(hashes[row], UInt64(bitPattern: numbers[row]))
    }
  }

  /// Folds consecutive strings; their ends were checked.
  private static func fold(_ bytes: RawBytes, _ ends: [Int64], into hashes: inout [UInt64]) {
    var start = 0
    for row in hashes.indices {
      let end = Int(ends[row])
      hashes[row] = fold(hashes[row], hash(bytes.part(at: start, count: end - start)))
      start = end
    }
  }

  /// Eight bytes at a time; the last word holds the last one to eight bytes, first byte lowest.
  @inline(__always)
  private static func hash(_ bytes: RawBytes) -> UInt64 {
    var hash = UInt64(bytes.count)
    var offset = 0
    while offset < bytes.count - 8 {
      hash = fold(hash, bytes.uint64(offset))
      offset += 8
    }
    return fold(hash, rest(bytes, from: offset))
  }

  @inline(__always)
  private static func rest(_ bytes: RawBytes, from offset: Int) -> UInt64 {
    let count = bytes.count - offset
    if bytes.count >= 8 {
      return bytes.uint64(bytes.count - 8) >> UInt64(64 - 8 * count)
    }
    if count >= 4 {
      let low = UInt64(bytes.uint32(offset))
      return low | UInt64(bytes.uint32(offset + count - 4)) << UInt64(8 * (count - 4))
    }
    var rest: UInt64 = 0
    for index in 0..<count { rest |= UInt64(bytes.uint8(offset + index)) << UInt64(8 * index) }
    return rest
  }

  private static func hash(of string: String) -> UInt64 {
    var string = string
    return string.withUTF8 { buffer in
      // Safety: the view is used inside this closure only.
      unsafe hash(RawBytes(UnsafeRawBufferPointer(buffer)))
    }
  }
}
