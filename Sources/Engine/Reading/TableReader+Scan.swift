// TableReader+Scan.swift: scans of whole columns: counts, sums, extremes and keys of the rows that
// match. Nulls match no comparison except `notEqual`, and sums and extremes ignore them.

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

  // MARK: numbers

  /// Counts the rows whose number passes; a NaN passes `notEqual` only.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows), integers 8 to 64 of them at a time.
  public func count<Number: ColumnNumber>(
    _ column: TableColumn<Number>, where comparison: Comparison<Number>
  ) throws(EngineError) -> Int {
    try check(column)
    return try count(LeafTest(column: column.index, kind: Number._scans.test(comparison)))
  }

  /// The keys of the rows whose number passes, ascending; a NaN passes `notEqual` only.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  public func keys<Number: ColumnNumber>(
    _ column: TableColumn<Number>, where comparison: Comparison<Number>
  ) throws(EngineError) -> [Int64] {
    try check(column)
    return try keys(LeafTest(column: column.index, kind: Number._scans.test(comparison)))
  }

  /// Calls `body` with the place of each row whose number passes, in key order.
  /// - Throws: What `body` throws, or `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  public func forEach<Number: ColumnNumber>(
    _ column: TableColumn<Number>, where comparison: Comparison<Number>,
    _ body: (RowPosition) throws(EngineError) -> Void
  ) throws(EngineError) {
    try forEachRow(where: try test(column, comparison), body)
  }

  /// The sum of a column; a column without numbers has the sum 0.
  ///
  /// A sum of integers is exact. One of floating-point numbers is added up as 64-bit numbers: row r
  /// in key order is added to lane r % 8, and at the end lanes 4 to 7 to lanes 0 to 3, 2 and 3 to
  /// 0 and 1, 1 to 0: the same rows have the same sum, however they are stored.
  /// - Throws: `EngineError` with code `.limit` when a sum of integers is not a 64-bit number,
  ///   `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  public func sum<Number: ColumnNumber>(
    _ column: TableColumn<Number>
  ) throws(EngineError) -> Number.Sum {
    try check(column)
    return try Number._scans.sum(self, column)
  }

  /// The smallest number of a column that is not NaN, or nil when there is none.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  public func minimum<Number: ColumnNumber>(
    _ column: TableColumn<Number>
  ) throws(EngineError) -> Number? {
    try check(column)
    return try Number._scans.extremes(self, column)?.lower
  }

  /// The greatest number of a column that is not NaN, or nil when there is none.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  public func maximum<Number: ColumnNumber>(
    _ column: TableColumn<Number>
  ) throws(EngineError) -> Number? {
    try check(column)
    return try Number._scans.extremes(self, column)?.upper
  }

  // MARK: bools

  /// Counts the rows that are true, or that are false.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows), 64 of them at a time.
  public func count(
    _ column: TableColumn<Bool>, equalTo value: Bool
  ) throws(EngineError) -> Int {
    try check(column)
    return try count(Self.test(column, value))
  }

  /// The keys of the rows that are true, or that are false, ascending.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  public func keys(
    _ column: TableColumn<Bool>, equalTo value: Bool
  ) throws(EngineError) -> [Int64] {
    try check(column)
    return try keys(Self.test(column, value))
  }

  private static func test(_ column: TableColumn<Bool>, _ value: Bool) -> LeafTest {
    LeafTest(column: column.index, kind: .bools(IntegerTest(.equal(value ? 1 : 0))))
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
