// RowCursor.swift: reads single rows of a table of a snapshot, for one thread. It caches the leaf
// of the previous row, so that nearby rows need no descent from the root, and one column of that
// leaf, so that a loop over one property looks up its array once per leaf. Invariants: the cursor
// keeps its snapshot, so its mapping, alive; for an encrypted file it caches nothing, so it keeps
// no plaintext in memory; `hot` is a part of `leaf`.

/// Reads single rows of a table; belongs to one thread at a time, if it caches.
package final class RowCursor: RowReading {
  let snapshot: Snapshot
  let tree: BPlusTree
  private let table: _OpenTable
  private let remembersLeaf: Bool
  private var leaf: LeafView?
  private var firstKey: Int64 = 0
  private var lastKey: Int64 = -1
  /// One column of `leaf`, and the keys.
  ///
  /// Both are views of the node, which `leaf` keeps: a copy of these counts no reference.
  private var hot: (keys: PackedArray, numbers: PackedArray)?
  private var hotColumn = -1
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
    self.remembersLeaf = remembersLeaf && tree.reader.cipher == nil
    schema = record.schema
    rowCount = Int(clamping: record.rowCount)
  }

  /// Calls `body` with the leaf of a row and the row's index in it; nil when there is no such row.
  @inline(__always)
  private func reading<Result>(
    _ key: Int64, _ body: (LeafView, Int) throws(EngineError) -> Result
  ) throws(EngineError) -> Result? {
    try snapshot.check()
    return try tree.reader.reading { _ throws(EngineError) in
      if firstKey <= key, key <= lastKey, let leaf {
        // Keys between the first and the last one of a leaf are in it or nowhere.
        guard let index = leaf.index(of: key) else { return nil }
        return try body(leaf, index)
      }
      guard let (found, index) = try tree.find(key) else { return nil }
      if remembersLeaf { remember(found) }
      return try body(found, index)
    }
  }

  private func remember(_ found: LeafView) {
    leaf = found
    (hot, hotColumn) = (nil, -1)
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

  /// A number from the cached column; nil when the row or the column is another one.
  @inline(__always)
  private func hotNumber(_ key: Int64, _ column: Int) throws(EngineError) -> Int64? {
    guard column == hotColumn, firstKey <= key, key <= lastKey, let hot,
      let index = hot.keys.index(of: key)
    else { return nil }
    try snapshot.check()
    let number = hot.numbers[index]
    try tree.reader.mapping.checkPages()
    return number
  }

  @inline(__always)
  private func heat(_ leaf: LeafView, _ array: PackedArray, _ column: Int) {
    if remembersLeaf { (hot, hotColumn) = ((leaf.keys, array), column) }
  }

  /// An integer of a column that cannot be null; nil when there is no such row.
  package func int(_ key: Int64, _ column: Int) throws(EngineError) -> Int64? {
    if let number = try hotNumber(key, column) { return number }
    return try reading(key) { leaf, row throws(EngineError) in
      let array = try leaf.integers(column, tree.shape)
      heat(leaf, array, column)
      return array[row]
    }
  }

  /// A number of a column that cannot be null; nil when there is no such row.
  package func double(_ key: Int64, _ column: Int) throws(EngineError) -> Double? {
    if let bits = try hotNumber(key, column) { return Double(bitPattern: UInt64(bitPattern: bits)) }
    return try reading(key) { leaf, row throws(EngineError) in
      let array = try leaf.words(column, tree.shape)
      heat(leaf, array, column)
      return Double(bitPattern: UInt64(bitPattern: array[row]))
    }
  }

  /// A truth value of a column that cannot be null; nil when there is no such row.
  package func bool(_ key: Int64, _ column: Int) throws(EngineError) -> Bool? {
    try reading(key) { leaf, row throws(EngineError) in
      try leaf.bools(column, tree.shape)[row] != 0
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
