// Snapshot+Index.swift: finding the rows of one version by value, and who links to a row.

extension Snapshot {
  private func pairs(_ table: TableRecord, _ column: Int) -> KeyPairTree {
    let index = table.columns[column].index
    return KeyPairTree(
      reader: state.reader, root: index.root, level: index.level, newest: state.version)
  }

  private func searchIndex(
    _ name: String, _ column: String
  ) throws(EngineError) -> SearchIndex<KeyPairTree, BPlusTree> {
    try check()
    let table = try state.group.table(named: name)
    let index = try table.schema.searchedColumn(column)
    return SearchIndex(
      pairs: pairs(table, index), rows: tree(table), column: index,
      layout: table.shape.columns[index])
  }

  private func linkIndex(
    _ target: String, _ origin: String, _ column: String
  ) throws(EngineError) -> KeyPairTree {
    try check()
    _ = try state.group.table(named: target)
    let table = try state.group.table(named: origin)
    return pairs(table, try table.schema.linkColumn(column, to: target))
  }

  /// The keys of the rows that have a value, ascending.
  /// - Parameters:
  ///   - table: The table.
  ///   - column: A column with a search index, or of single links.
  ///   - value: The value; null finds rows without one.
  /// - Returns: The keys.
  /// - Throws: `EngineError` with code `.noIndex`, `.noSuchTable`, `.noSuchColumn`,
  ///   `.schemaMismatch`, `.corrupted` or `.closed`.
  /// - Complexity: O(log rows + found).
  public func keys(
    in table: String, column: String, equalTo value: Value
  ) throws(EngineError) -> [Int64] {
    try reading { () throws(EngineError) in
      try searchIndex(table, column).keys(equalTo: value)
    }
  }

  /// The smallest key of a row that has a value, or nil.
  /// - Throws: As `keys(in:column:equalTo:)`.
  /// - Complexity: O(log rows).
  public func firstKey(
    in table: String, column: String, equalTo value: Value
  ) throws(EngineError) -> Int64? {
    try reading { () throws(EngineError) in
      try searchIndex(table, column).firstKey(equalTo: value)
    }
  }

  /// The keys of the rows whose value is in a range, both ends included.
  ///
  /// They come in the order of the values, rows of one value by key. Null is in no range.
  /// - Throws: As `keys(in:column:equalTo:)`; `.schemaMismatch` unless it is a column of ints,
  ///   bools or dates.
  /// - Complexity: O(log rows + found).
  public func keys(
    in table: String, column: String, between lower: Value, and upper: Value
  ) throws(EngineError) -> [Int64] {
    try reading { () throws(EngineError) in
      try searchIndex(table, column).keys(between: lower, and: upper)
    }
  }

  /// The number of rows whose value is `lower` to `upper`, both included.
  /// - Throws: As `keys(in:column:between:and:)`.
  /// - Complexity: O(leaves of the index in the range).
  public func count(
    in table: String, column: String, between lower: Value, and upper: Value
  ) throws(EngineError) -> Int {
    try reading { () throws(EngineError) in
      try searchIndex(table, column).count(between: lower, and: upper)
    }
  }

  /// The rows that link to a row, ascending, and how often each does.
  /// - Parameters:
  ///   - key: The key of the row that is linked to.
  ///   - table: Its table.
  ///   - origin: The table of the rows that link.
  ///   - column: Their column of links.
  /// - Returns: Keys and numbers of links.
  /// - Throws: `EngineError` with code `.noSuchTable`, `.noSuchColumn`, `.schemaMismatch`,
  ///   `.corrupted` or `.closed`.
  /// - Complexity: O(log links + found).
  public func backlinks(
    to key: Int64, in table: String, from origin: String, column: String
  ) throws(EngineError) -> [Backlink] {
    try reading { () throws(EngineError) in
      try linkIndex(table, origin, column).backlinks(to: key)
    }
  }

  /// How often rows link to a row.
  /// - Throws: As `backlinks(to:in:from:column:)`.
  /// - Complexity: O(log links + rows that link).
  public func backlinkCount(
    to key: Int64, in table: String, from origin: String, column: String
  ) throws(EngineError) -> Int {
    try reading { () throws(EngineError) in
      try linkIndex(table, origin, column).backlinkCount(to: key)
    }
  }
}
