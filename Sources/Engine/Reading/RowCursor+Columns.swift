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

  @inline(__always)
  private func gather(
    _ keys: [Int64], _ array: (LeafView) throws(EngineError) -> PackedArray
  ) throws(EngineError) -> [Int64]? {
    try snapshot.check()
    return try tree.reader.reading { section throws(EngineError) in
      var numbers: [Int64] = []
      numbers.reserveCapacity(keys.count)
      var current: (leaf: LeafView, array: PackedArray)?
      var (first, last): (Int64, Int64) = (0, -1)
      for key in keys {
        if first <= key, key <= last, let current {
          guard let index = current.leaf.index(of: key) else { return nil }
          numbers.append(current.array[index])
          continue
        }
        // No view of the leaf before is used any more.
        section.refresh()
        guard let (leaf, index) = try tree.find(key) else { return nil }
        let found = try array(leaf)
        numbers.append(found[index])
        current = (leaf, found)
        (first, last) = (leaf.keys[0], leaf.keys[leaf.count - 1])
      }
      return numbers
    }
  }
}
