// TableReader+Scan.swift: whole columns: counts, sums, extremes and keys of the rows that pass.
// Nulls pass no comparison but `notEqual`, and sums and extremes leave them out.

extension TableReader {
  /// Calls `body` with each leaf, in key order.
  @inline(__always)
  func forEachLeaf(
    _ body: (LeafView, LeafWalk) throws(EngineError) -> Void
  ) throws(EngineError) {
    try tree.reader.reading { section throws(EngineError) in
      var walk = LeafWalk(tree, section)
      while let leaf = try walk.next() { try body(leaf, walk) }
    }
  }

  func count(_ test: LeafTest) throws(EngineError) -> Int {
    var found = 0
    try forEachLeaf { leaf, walk throws(EngineError) in
      found += try test.count(in: leaf, walk)
    }
    return found
  }

  func keys(_ test: LeafTest) throws(EngineError) -> [Int64] {
    try keys(where: .column(ColumnTest(leafTest: test, reader: number)))
  }

  // MARK: integers

  /// Counts the rows whose integer passes.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows), 8 to 64 of them at a time.
  public func count(
    _ column: TableColumn<Int64>, where comparison: Comparison<Int64>
  ) throws(EngineError) -> Int {
    try check(column)
    return try count(LeafTest(column: column.index, kind: .integers(IntegerTest(comparison))))
  }

  /// The keys of the rows whose integer passes, ascending.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  public func keys(
    _ column: TableColumn<Int64>, where comparison: Comparison<Int64>
  ) throws(EngineError) -> [Int64] {
    try check(column)
    return try keys(LeafTest(column: column.index, kind: .integers(IntegerTest(comparison))))
  }

  /// Calls `body` with the place of each row whose integer passes, in key order.
  /// - Throws: What `body` throws, or `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  public func forEach(
    _ column: TableColumn<Int64>, where comparison: Comparison<Int64>,
    _ body: (RowPosition) throws(EngineError) -> Void
  ) throws(EngineError) {
    try forEachRow(where: try test(column, comparison), body)
  }

  /// The sum of a column of integers, exact.
  /// - Throws: `EngineError` with code `.limit` when it is no 64-bit number, `.corrupted` or
  ///   `.closed`.
  /// - Complexity: O(rows).
  public func sum(_ column: TableColumn<Int64>) throws(EngineError) -> Int64 {
    try check(column)
    // Fewer than 2^63 rows of less than 2^63 each: 128 bits hold every sum.
    var sum: Int128 = 0
    try forEachLeaf { leaf, walk throws(EngineError) in
      let nulls = try leaf.nulls(column.index, tree.shape)
      let array = try leaf.integers(column.index, tree.shape)
      walk.prefetchNext(array.bytes, of: leaf)
      if nulls.isAllZero { sum += array.sum() } else { sum += array.sum(except: nulls) }
    }
    guard let exact = Int64(exactly: sum) else {
      throw EngineError(
        code: .limit,
        message: "sum=\(sum) is no 64-bit number; add parts up, or use a column of doubles")
    }
    return exact
  }

  /// The smallest integer of a column, or nil when there is none.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  public func minimum(_ column: TableColumn<Int64>) throws(EngineError) -> Int64? {
    try extremes(column)?.lower
  }

  /// The greatest integer of a column, or nil when there is none.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  public func maximum(_ column: TableColumn<Int64>) throws(EngineError) -> Int64? {
    try extremes(column)?.upper
  }

  private func extremes(
    _ column: TableColumn<Int64>
  ) throws(EngineError) -> (lower: Int64, upper: Int64)? {
    try check(column)
    var found: (lower: Int64, upper: Int64)?
    try forEachLeaf { leaf, walk throws(EngineError) in
      let nulls = try leaf.nulls(column.index, tree.shape)
      let array = try leaf.integers(column.index, tree.shape)
      walk.prefetchNext(array.bytes, of: leaf)
      guard let own = nulls.isAllZero ? array.extremes() : array.extremes(except: nulls) else {
        return
      }
      guard let known = found else {
        found = own
        return
      }
      found = (min(known.lower, own.lower), max(known.upper, own.upper))
    }
    return found
  }

  // MARK: text

  /// Counts the rows whose text is equal to another, byte for byte.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  public func count(
    _ column: TableColumn<String>, equalTo text: String
  ) throws(EngineError) -> Int {
    try check(column)
    return try count(Self.test(column, text, isPrefix: false))
  }

  /// Counts the rows whose text begins with another, byte for byte.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  public func count(
    _ column: TableColumn<String>, withPrefix text: String
  ) throws(EngineError) -> Int {
    try check(column)
    return try count(Self.test(column, text, isPrefix: true))
  }

  /// The keys of the rows whose text is equal to another, byte for byte, ascending.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  public func keys(
    _ column: TableColumn<String>, equalTo text: String
  ) throws(EngineError) -> [Int64] {
    try check(column)
    return try keys(Self.test(column, text, isPrefix: false))
  }

  /// The keys of the rows whose text begins with another, byte for byte, ascending.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  public func keys(
    _ column: TableColumn<String>, withPrefix text: String
  ) throws(EngineError) -> [Int64] {
    try check(column)
    return try keys(Self.test(column, text, isPrefix: true))
  }

  private static func test(
    _ column: TableColumn<String>, _ text: String, isPrefix: Bool
  ) -> LeafTest {
    LeafTest(column: column.index, kind: .text(TextPattern(text, isPrefix: isPrefix)))
  }
}
