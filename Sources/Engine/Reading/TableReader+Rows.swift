// TableReader+Rows.swift: tests of columns, and the rows that pass several of them.

extension TableReader {
  private func test(_ column: Int, _ kind: LeafTest.Kind) -> RowTest {
    .column(ColumnTest(leafTest: LeafTest(column: column, kind: kind), reader: number))
  }

  // MARK: making tests

  /// A test of a column of numbers; a null and a NaN pass `notEqual` only.
  /// - Parameters:
  ///   - column: The column.
  ///   - comparison: The comparison for its values.
  /// - Returns: The test, good for this reader.
  /// - Throws: `EngineError` with code `.closed`.
  public func test<Number: ColumnNumber>(
    _ column: TableColumn<Number>, _ comparison: Comparison<Number>
  ) throws(EngineError) -> RowTest {
    try check(column)
    return test(column.index, Number._scans.test(comparison))
  }

  /// A test of a column of bools; a null does not pass.
  /// - Throws: `EngineError` with code `.closed`.
  public func test(
    _ column: TableColumn<Bool>, equalTo value: Bool
  ) throws(EngineError) -> RowTest {
    try check(column)
    return test(column.index, .bools(IntegerTest(.equal(value ? 1 : 0))))
  }

  /// A test of a column of texts, byte for byte; a null does not pass.
  /// - Throws: `EngineError` with code `.closed`.
  public func test(
    _ column: TableColumn<String>, equalTo text: String
  ) throws(EngineError) -> RowTest {
    try check(column)
    return test(column.index, .text(TextPattern(text, isPrefix: false)))
  }

  /// A test for how the texts of a column begin, byte for byte; a null does not pass.
  /// - Throws: `EngineError` with code `.closed`.
  public func test(
    _ column: TableColumn<String>, withPrefix text: String
  ) throws(EngineError) -> RowTest {
    try check(column)
    return test(column.index, .text(TextPattern(text, isPrefix: true)))
  }

  /// A test for texts that a search finds; a null does not pass.
  /// - Throws: `EngineError` with code `.closed`.
  package func test(
    _ column: TableColumn<String>, _ search: TextSearch
  ) throws(EngineError) -> RowTest {
    try check(column)
    return test(column.index, .search(search))
  }

  /// A test for being one of some texts, byte for byte; a null does not pass.
  /// - Returns: The test, good for this reader.
  /// - Throws: `EngineError` with code `.closed`.
  /// - Complexity: O(n log n) for n bytes of texts; the test itself does not depend on their
  ///   number, or by its logarithm when many have equal hashes.
  public func test(
    _ column: TableColumn<String>, isOneOf texts: [String]
  ) throws(EngineError) -> RowTest {
    try check(column)
    return test(column.index, .texts(TextChoices(texts)))
  }

  /// A test for linking to one of some rows, or being one of some integers; a null does not pass.
  /// - Parameters:
  ///   - column: A column of links, or of integers.
  ///   - keys: The keys of the rows, or the integers, ascending.
  /// - Returns: The test, good for this reader.
  /// - Throws: `EngineError` with code `.closed`.
  /// - Complexity: O(keys); the test itself is O(1) for a row where the keys are close together,
  ///   else O(log keys).
  public func test(
    _ column: TableColumn<Int64>, leadsToOneOf keys: [Int64]
  ) throws(EngineError) -> RowTest {
    try check(column)
    return test(column.index, .links(RowKeySet(keys)))
  }

  /// A test for having no value.
  /// - Parameter name: A column of any type but mixed, and no collection.
  /// - Returns: The test, good for this reader.
  /// - Throws: `EngineError` with code `.noSuchColumn`, or `.schemaMismatch` for a collection or a
  ///   mixed column.
  public func test(isNull name: String) throws(EngineError) -> RowTest {
    let index = try schema.column(named: name)
    guard schema.columns[index].collection == .none, schema.columns[index].type != .mixed else {
      throw EngineError(
        code: .schemaMismatch,
        message: "\(name) of \(schema.name) is a collection or mixed; a null is looked for in the "
          + "rows there")
    }
    return test(index, .null)
  }

  // MARK: rows

  /// Counts the rows that pass.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows × tests), 8 to 64 of them at a time.
  public func count(where test: RowTest) throws(EngineError) -> Int {
    try begin(test)
    if case .column(let single) = test { return try count(single.leafTest) }
    var found = 0
    try forEachMatchWords(test) { _, words in
      for word in words { found += word.nonzeroBitCount }
    }
    return found
  }

  /// The sum of the integers of the rows that pass, nulls left out, and the number of these.
  /// - Parameters:
  ///   - column: A column of integers.
  ///   - test: The condition.
  /// - Returns: The exact sum, 0 without numbers.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows × tests), 8 to 64 of them at a time, and O(rows that pass).
  package func sum(
    _ column: TableColumn<Int64>, where test: RowTest
  ) throws(EngineError) -> (total: Int128, count: Int) {
    try check(column)
    try begin(test)
    var (total, count): (Int128, Int) = (0, 0)
    try forEachMatchWords(test) { leaf, words throws(EngineError) in
      let nulls = try leaf.nulls(column.index, tree.shape)
      if !nulls.isAllZero {
        for word in words.indices { words[word] &= ~nulls.bits(word: word) }
      }
      total += try leaf.integers(column.index, tree.shape).sum(of: words)
      for word in words { count += word.nonzeroBitCount }
    }
    return (total, count)
  }

  /// The keys of the rows that pass, ascending.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows × tests), 8 to 64 of them at a time.
  public func keys(where test: RowTest) throws(EngineError) -> [Int64] {
    try begin(test)
    var keys: [Int64] = []
    try forEachMatch(test) { leaf, row in keys.append(leaf.keys[row]) }
    return keys
  }

  /// Calls `body` with the place of each row that passes, in key order.
  /// - Parameters:
  ///   - test: The condition; nil for all rows.
  ///   - body: Called with the positions, valid for this reader.
  /// - Throws: What `body` throws, or `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows × tests).
  public func forEachRow(
    where test: RowTest?, _ body: (RowPosition) throws(EngineError) -> Void
  ) throws(EngineError) {
    let test = test ?? .all([])
    try begin(test)
    guard isSealed else {
      try forEachMatch(test) { leaf, row throws(EngineError) in
        let found = position(leaf, row, key: leaf.keys[row])
        try tree.reader.mapping.checkPages()
        try body(found)
      }
      return
    }
    // The caller's code must not keep decrypted nodes in memory: it runs after the scan.
    var found: [RowPosition] = []
    try forEachMatch(test) { leaf, row in
      found.append(position(leaf, row, key: leaf.keys[row]))
    }
    for position in found { try body(position) }
  }

  func begin(_ test: RowTest) throws(EngineError) {
    test.check(number)
    try snapshot.check()
  }

  private func forEachMatch(
    _ test: RowTest, _ body: (LeafView, Int) throws(EngineError) -> Void
  ) throws(EngineError) {
    try forEachMatchWords(test) { leaf, words throws(EngineError) in
      for word in words.indices {
        var rows = words[word]
        while rows != 0 {
          try body(leaf, word << 6 + rows.trailingZeroBitCount)
          rows &= rows - 1
        }
      }
    }
  }

  /// Calls `body` with each leaf, in key order, and a bit for each of its rows that passes.
  @inline(__always)
  func forEachMatchWords(
    _ test: RowTest, _ body: (LeafView, inout [UInt64]) throws(EngineError) -> Void
  ) throws(EngineError) {
    var words: [UInt64] = []
    var spare: [[UInt64]] = []
    try forEachLeaf { leaf, walk throws(EngineError) in
      try test.fill(&words, from: leaf, walk, spare: &spare)
      try body(leaf, &words)
    }
  }
}
