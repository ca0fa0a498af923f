// RowCursor.swift [U]: reads single rows of a table of a snapshot, for one thread. It caches the
// leaf of the previous row, so that nearby rows need no descent from the root, and columns of that
// leaf, so that a loop over a few properties looks up their arrays once per leaf. Invariants: the
// cursor keeps its snapshot, so its mapping, alive; the leaf of an encrypted file, which may be
// evicted, is read only while its sector has the mark that it had; `hotKeys` and what `hot` has are
// parts of `leaf`, and of none of an encrypted file.

/// Reads single rows of a table; belongs to one thread at a time, if it caches.
@safe package final class RowCursor: RowReading {
  let snapshot: Snapshot
  let tree: BPlusTree
  private let table: _OpenTable
  private let remembersLeaf: Bool
  /// Those of the snapshot's mapping; here, so that looking at them counts no reference.
  private let faults: MappingFaults
  private let isSealed: Bool
  private var leaf: LeafView?
  /// That of the leaf's sector in an encrypted file, which may evict the leaf.
  private var leafMark: UInt32 = 0
  private var firstKey: Int64 = 0
  private var lastKey: Int64 = -1
  /// The keys of `leaf`; nil when it has no column in `hot`.
  ///
  /// These are views of the node, which `leaf` keeps: a copy of them counts no reference.
  private var hotKeys: PackedArray?
  /// Columns of `leaf`, each in the place of its number modulo the count.
  // Safety: `hotCount` elements, freed in deinit, indexed modulo that.
  private let hot: UnsafeMutablePointer<HotColumn>
  private static let hotCount = 8
  /// Name and columns.
  package let schema: TableSchema
  /// The number of rows.
  package let rowCount: Int

  /// Opens a table of a snapshot.
  /// - Parameters:
  ///   - snapshot: The snapshot.
  ///   - table: The table.
  ///   - remembersLeaf: Whether the leaf of the previous row is tried first. A cursor that does not
  ///     do so may be used by several threads at once.
  /// - Throws: `EngineError` with code `.noSuchTable` or `.closed`.
  package init(
    _ snapshot: Snapshot, _ table: String, remembersLeaf: Bool = true
  ) throws(EngineError) {
    try snapshot.check()
    let record = try snapshot.state.group.table(named: table)
    self.snapshot = snapshot
    tree = snapshot.tree(record)
    self.table = _OpenTable(record, snapshot.state)
    self.remembersLeaf = remembersLeaf
    isSealed = tree.reader.cipher != nil
    faults = tree.reader.mapping.faults
    schema = record.schema
    rowCount = Int(clamping: record.rowCount)
    unsafe hot = .allocate(capacity: Self.hotCount)
    unsafe hot.initialize(repeating: HotColumn(), count: Self.hotCount)
  }

  deinit { unsafe hot.deallocate() }

  /// Calls `body` with the leaf of a row and the row's index in it; nil when there is no such row.
  @inline(__always)
  private func reading<Result>(
    _ key: Int64, _ body: (LeafView, Int) throws(EngineError) -> Result
  ) throws(EngineError) -> Result? {
    try snapshot.check()
    return try tree.reader.reading { _ throws(EngineError) in
      if firstKey <= key, key <= lastKey, let leaf,
        !isSealed || tree.reader.holds(leaf.node, leafMark)
      {
        // Keys between the first and the last one of a leaf are in it or nowhere.
        guard let index = leaf.index(of: key) else { return nil }
        return try body(leaf, index)
      }
      guard let (found, index) = try tree.find(key) else { return nil }
      if remembersLeaf { remember(found, index) }
      return try body(found, index)
    }
  }

  private func remember(_ found: LeafView, _ row: Int) {
    found.arrays.prefetch(row: row)
    leaf = found
    if hotKeys != nil {
      hotKeys = nil
      unsafe hot.update(repeating: HotColumn(), count: Self.hotCount)
    }
    if isSealed { leafMark = tree.reader.mark(of: found.node) }
    firstKey = found.keys[0]
    lastKey = found.keys[found.count - 1]
  }

  /// Whether there is a row.
  /// - Throws: `EngineError` with code `.corrupted`, `.io` or `.closed`; so do the other reads.
  package func contains(_ key: Int64) throws(EngineError) -> Bool {
    try reading(key) { _, _ in true } ?? false
  }

  /// One value; nil when there is no such row.
  package func value(_ key: Int64, _ column: Int) throws(EngineError) -> Value? {
    try reading(key) { leaf, row throws(EngineError) in
      try tree.reader.value(leaf.arrays, tree.shape.columns[column], row, newest: tree.newest)
    }
  }

  /// The numbers of a column of `leaf`, if they are cached.
  @inline(__always)
  private func hotNumbers(_ column: Int) -> PackedArray? {
    let cached = unsafe hot[column & (Self.hotCount - 1)]
    return cached.column == column ? cached.numbers : nil
  }

  /// A number of a cached column, where the keys of its leaf have no gaps; nil when that does not
  /// answer, or must not.
  @inline(__always)
  private func hotNumber(_ key: Int64, _ column: Int) -> Int64? {
    guard let index = hotKeys?.indexWithoutGaps(of: key), let numbers = hotNumbers(column),
      snapshot.isUsable
    else { return nil }
    let number = numbers[index]
    return faults.isAny ? nil : number
  }

  /// The same, with any keys.
  private func warmNumber(_ key: Int64, _ column: Int) throws(EngineError) -> Int64? {
    guard firstKey <= key, key <= lastKey, let index = hotKeys?.index(of: key),
      let numbers = hotNumbers(column)
    else { return nil }
    try snapshot.check()
    let number = numbers[index]
    if faults.isAny { try tree.reader.mapping.checkPages() }
    return number
  }

  @inline(__always)
  private func heat(_ leaf: LeafView, _ numbers: PackedArray, _ column: Int) {
    guard remembersLeaf, !isSealed else { return }
    hotKeys = leaf.keys
    unsafe hot[column & (Self.hotCount - 1)] = HotColumn(column: column, numbers: numbers)
  }

  /// An integer of a column that cannot be null; nil when there is no such row.
  package func int(_ key: Int64, _ column: Int) throws(EngineError) -> Int64? {
    if let number = hotNumber(key, column) { return number }
    return try coldInt(key, column)
  }

  @inline(never)
  private func coldInt(_ key: Int64, _ column: Int) throws(EngineError) -> Int64? {
    if let number = try warmNumber(key, column) { return number }
    return try reading(key) { leaf, row throws(EngineError) in
      let array = try leaf.integers(column, tree.shape)
      heat(leaf, array, column)
      return array[row]
    }
  }

  /// A number of a column that cannot be null; nil when there is no such row.
  package func double(_ key: Int64, _ column: Int) throws(EngineError) -> Double? {
    let bits = if let hot = hotNumber(key, column) { hot } else { try coldBits(key, column) }
    return bits.map { Double(bitPattern: UInt64(bitPattern: $0)) }
  }

  @inline(never)
  private func coldBits(_ key: Int64, _ column: Int) throws(EngineError) -> Int64? {
    if let number = try warmNumber(key, column) { return number }
    return try reading(key) { leaf, row throws(EngineError) in
      let array = try leaf.words(column, tree.shape)
      heat(leaf, array, column)
      return array[row]
    }
  }

  /// A truth value of a column that cannot be null; nil when there is no such row.
  package func bool(_ key: Int64, _ column: Int) throws(EngineError) -> Bool? {
    try reading(key) { leaf, row throws(EngineError) in
      try leaf.bools(column, tree.shape)[row] != 0
    }
  }

  /// A text; nil when there is no such row, and for a column that may hold something else.
  package func text(_ key: Int64, _ column: Int) throws(EngineError) -> String? {
    let layout = tree.shape.columns[column]
    guard layout.type == .string, layout.collection == .none, !layout.hasNulls else { return nil }
    return try reading(key) { leaf, row throws(EngineError) in
      let bytes = try tree.reader.stringBytes(
        leaf.arrays.strings(layout), row, newest: tree.newest)
      guard let text = bytes.string else {
        throw NodeReader.notText(row, layout, leaf.node.ref)
      }
      return text
    }
  }

  /// The smallest key of a row that has a value in a column with a search index, or nil.
  package func firstKey(_ column: Int, equalTo value: Value) throws(EngineError) -> Int64? {
    try snapshot.check()
    return try table.firstKey(column, equalTo: value)
  }

  /// All keys, ascending.
  /// - Complexity: O(rows).
  package func keys() throws(EngineError) -> [Int64] {
    try snapshot.check()
    return try table.keys()
  }

  /// The smallest key, or nil.
  package func smallestKey() throws(EngineError) -> Int64? {
    try snapshot.check()
    return try table.firstKey()
  }
}

/// A column of the leaf that a cursor remembers.
private struct HotColumn {
  var column = -1
  var numbers: PackedArray?
}
