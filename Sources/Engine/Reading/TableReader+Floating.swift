// TableReader+Floating.swift: counts, keys, sums and extremes of floating-point columns, and bools.
// The two floating-point types have the same calls; they are written twice because a caller in
// another module would run a generic one unspecialised.

extension TableReader {
  // MARK: Bool

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

  // MARK: Double

  /// Counts the rows whose number passes; a NaN passes `notEqual` only.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  public func count(
    _ column: TableColumn<Double>, where comparison: Comparison<Double>
  ) throws(EngineError) -> Int {
    try check(column)
    return try count(LeafTest(column: column.index, kind: .doubles(FloatingTest(comparison))))
  }

  /// The keys of the rows whose number passes, ascending; a NaN passes `notEqual` only.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  public func keys(
    _ column: TableColumn<Double>, where comparison: Comparison<Double>
  ) throws(EngineError) -> [Int64] {
    try check(column)
    return try keys(LeafTest(column: column.index, kind: .doubles(FloatingTest(comparison))))
  }

  /// The sum of a column, as 64-bit numbers; a column without numbers has the sum 0.
  ///
  /// Row r in key order is added to lane r % 8, and at the end lanes 4 to 7 to lanes 0 to 3, 2 and
  /// 3 to 0 and 1, 1 to 0: the same rows have the same sum, however they are stored.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  public func sum(_ column: TableColumn<Double>) throws(EngineError) -> Double {
    try check(column)
    var sum = FloatingSum()
    try forEachLeaf { leaf, walk throws(EngineError) in
      let nulls = try leaf.nulls(column.index, tree.shape)
      let array = try leaf.doubles(column.index, tree.shape)
      walk.prefetchNext(array.bytes, of: leaf)
      if nulls.isAllZero { array.add(to: &sum) } else { array.add(to: &sum, except: nulls) }
    }
    return sum.total
  }

  /// The smallest number of a column that is no NaN, or nil when there is none.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  public func minimum(_ column: TableColumn<Double>) throws(EngineError) -> Double? {
    try extremes(column)?.lower
  }

  /// The greatest number of a column that is no NaN, or nil when there is none.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  public func maximum(_ column: TableColumn<Double>) throws(EngineError) -> Double? {
    try extremes(column)?.upper
  }

  private func extremes(
    _ column: TableColumn<Double>
  ) throws(EngineError) -> (lower: Double, upper: Double)? {
    try check(column)
    var found: (lower: Double, upper: Double)?
    try forEachLeaf { leaf, walk throws(EngineError) in
      let nulls = try leaf.nulls(column.index, tree.shape)
      let array = try leaf.doubles(column.index, tree.shape)
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

  // MARK: Float

  /// Counts the rows whose number passes; a NaN passes `notEqual` only.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  public func count(
    _ column: TableColumn<Float>, where comparison: Comparison<Float>
  ) throws(EngineError) -> Int {
    try check(column)
    return try count(LeafTest(column: column.index, kind: .floats(FloatingTest(comparison))))
  }

  /// The keys of the rows whose number passes, ascending; a NaN passes `notEqual` only.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  public func keys(
    _ column: TableColumn<Float>, where comparison: Comparison<Float>
  ) throws(EngineError) -> [Int64] {
    try check(column)
    return try keys(LeafTest(column: column.index, kind: .floats(FloatingTest(comparison))))
  }

  /// The sum of a column, as 64-bit numbers; a column without numbers has the sum 0.
  ///
  /// Row r in key order is added to lane r % 8, and at the end lanes 4 to 7 to lanes 0 to 3, 2 and
  /// 3 to 0 and 1, 1 to 0: the same rows have the same sum, however they are stored.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  public func sum(_ column: TableColumn<Float>) throws(EngineError) -> Double {
    try check(column)
    var sum = FloatingSum()
    try forEachLeaf { leaf, walk throws(EngineError) in
      let nulls = try leaf.nulls(column.index, tree.shape)
      let array = try leaf.floats(column.index, tree.shape)
      walk.prefetchNext(array.bytes, of: leaf)
      if nulls.isAllZero { array.add(to: &sum) } else { array.add(to: &sum, except: nulls) }
    }
    return sum.total
  }

  /// The smallest number of a column that is no NaN, or nil when there is none.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  public func minimum(_ column: TableColumn<Float>) throws(EngineError) -> Float? {
    try extremes(column)?.lower
  }

  /// The greatest number of a column that is no NaN, or nil when there is none.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  public func maximum(_ column: TableColumn<Float>) throws(EngineError) -> Float? {
    try extremes(column)?.upper
  }

  private func extremes(
    _ column: TableColumn<Float>
  ) throws(EngineError) -> (lower: Float, upper: Float)? {
    try check(column)
    var found: (lower: Float, upper: Float)?
    try forEachLeaf { leaf, walk throws(EngineError) in
      let nulls = try leaf.nulls(column.index, tree.shape)
      let array = try leaf.floats(column.index, tree.shape)
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
}
