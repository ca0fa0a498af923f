// RowCursor+Columns.swift: one column of many rows at once, for sorting and adding up: no call and
// no descent from the root for each row, and no allocation except the returned array.

extension RowCursor {
  /// The integers, links as keys, of rows; unspecified where there is no value.
  /// - Parameters:
  ///   - keys: Keys of rows; ascending ones are fastest.
  ///   - column: The position of a column of integers or links.
  /// - Returns: A number for each key, in their order; nil when one has no row.
  /// - Throws: `EngineError` with code `.corrupted`, `.io` or `.closed`.
  /// - Complexity: O(keys) where neighbours share a leaf, else O(log rows) each.
  package func integers(_ keys: [Int64], _ column: Int) throws(EngineError) -> [Int64]? {
    try gather(keys) { leaf throws(EngineError) in try leaf.integers(column, tree.shape) }
  }

  /// The bits of 64-bit floating-point numbers of rows; unspecified where there is no value.
  /// - Returns: As `integers`.
  /// - Throws: As `integers`.
  package func doubleBits(_ keys: [Int64], _ column: Int) throws(EngineError) -> [Int64]? {
    try gather(keys) { leaf throws(EngineError) in try leaf.words(column, tree.shape) }
  }

  /// Which rows have no value: 1, the others 0.
  /// - Returns: As `integers`; of a column of any type.
  /// - Throws: As `integers`.
  package func nulls(_ keys: [Int64], _ column: Int) throws(EngineError) -> [Int64]? {
    try gather(keys) { leaf throws(EngineError) in try leaf.nulls(column, tree.shape) }
  }

  /// The texts of rows; empty where there is no value.
  /// - Returns: A text for each key, in their order; nil when one has no row.
  /// - Throws: As `integers`.
  /// - Complexity: As `integers`, and O(bytes).
  package func texts(_ keys: [Int64], _ column: Int) throws(EngineError) -> GatheredTexts? {
    var texts = GatheredTexts()
    texts.ends.reserveCapacity(keys.count)
    let areAll = try forEach(
      keys, { leaf throws(EngineError) in try leaf.strings(column, tree.shape) },
      { strings, index throws(EngineError) in
        texts.append(try tree.reader.stringBytes(strings, index, newest: tree.newest))
      })
    return areAll ? texts : nil
  }

  @inline(__always)
  private func gather(
    _ keys: [Int64], _ array: (LeafView) throws(EngineError) -> PackedArray
  ) throws(EngineError) -> [Int64]? {
    var numbers: [Int64] = []
    numbers.reserveCapacity(keys.count)
    return try forEach(keys, array, { array, index in numbers.append(array[index]) })
      ? numbers : nil
  }

  /// Calls `body` with the column of each row's leaf, and the row's index in it.
  /// - Returns: Whether each key has a row; it ends at the first one that has none.
  @inline(__always)
  private func forEach<Column>(
    _ keys: [Int64], _ column: (LeafView) throws(EngineError) -> Column,
    _ body: (Column, Int) throws(EngineError) -> Void
  ) throws(EngineError) -> Bool {
    try snapshot.check()
    return try tree.reader.reading { section throws(EngineError) in
      var current: (leaf: LeafView, column: Column)?
      var (first, last): (Int64, Int64) = (0, -1)
      for key in keys {
        if first <= key, key <= last, let current {
          guard let index = current.leaf.index(of: key) else { return false }
          try body(current.column, index)
          continue
        }
        // No view of the leaf before is used any more.
        section.refresh()
        guard let (leaf, index) = try tree.find(key) else { return false }
        let found = try column(leaf)
        try body(found, index)
        current = (leaf, found)
        (first, last) = (leaf.keys[0], leaf.keys[leaf.count - 1])
      }
      return true
    }
  }
}

/// Texts of rows, one after another.
package struct GatheredTexts {
  /// UTF-8.
  package fileprivate(set) var bytes: [UInt8] = []
  /// Where each text ends in `bytes`.
  package fileprivate(set) var ends: [Int] = []

  fileprivate mutating func append(_ text: RawBytes) {
    text.append(to: &bytes)
    ends.append(bytes.count)
  }
}
