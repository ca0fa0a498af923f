// LinkTally.swift: what one scan of a table collects by key: how many rows link to each row and
// what their numbers add up to, and the numbers of a column.

/// How many rows link to each row, and what a number of each adds up to.
package struct LinkTally: Sendable {
  /// The rows that link to one row.
  package struct Group: Equatable, Sendable {
    /// Their number.
    package internal(set) var rows = 0
    /// How many of them have a number.
    package internal(set) var numbers = 0
    /// The exact sum of their integers.
    package internal(set) var total: Int128 = 0
    /// The sum of their numbers as 64-bit floating-point numbers, added in the order of their keys.
    package internal(set) var sum = 0.0
    /// The smallest and the greatest integer; meaningless without one.
    package internal(set) var least = Int64.max
    package internal(set) var greatest = Int64.min

    /// A group of no rows.
    package init() {}

    /// Adds a row's number.
    package mutating func add(_ number: KeyedNumbers.Number) {
      rows += 1
      switch number {
      case .none: break
      case .int(let number): add(number)
      case .double(let number): add(number)
      }
    }

    @inline(__always)
    fileprivate mutating func add(_ number: Double) {
      numbers += 1
      sum += number
    }

    @inline(__always)
    fileprivate mutating func add(_ number: Int64) {
      numbers += 1
      total += Int128(number)
      sum += Double(number)
      least = min(least, number)
      greatest = max(greatest, number)
    }
  }

  private var groups: KeyTable<Group>

  /// - Parameter rows: The most rows that will be added.
  fileprivate init(rows: Int) { groups = KeyTable(of: Group(), rows: rows) }

  /// The rows that link to the row of a key.
  /// - Complexity: O(1).
  package subscript(key: Int64) -> Group { groups[key] }

  @inline(__always)
  fileprivate mutating func update(_ key: Int64, _ change: (inout Group) -> Void) {
    groups.update(key, change)
  }
}

/// The numbers that rows have in one column, by their keys.
package struct KeyedNumbers: Sendable {
  /// A number of a row: one of both, as its column has it.
  package enum Number: Equatable, Sendable {
    case none
    case int(Int64)
    case double(Double)
  }

  fileprivate var numbers: KeyTable<Number>

  /// The number of the row of a key; none for a null, and where there is no row.
  /// - Complexity: O(1).
  package subscript(key: Int64) -> Number { numbers[key] }
}

extension TableReader {
  /// For each row that rows of this table link to: how many do, and what their numbers add up to.
  /// - Parameters:
  ///   - links: The column of links.
  ///   - test: Which rows are looked at.
  /// - Returns: The groups; a row without a link is in none.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  package func tally(
    by links: TableColumn<Int64>, where test: RowTest
  ) throws(EngineError) -> LinkTally {
    try tally(by: links, where: test) { _ throws(EngineError) in
      ()
    } adding: { group, _, _ in
      group.rows += 1
    }
  }

  /// The same of the rows that have one of some keys.
  /// - Throws: As with a test.
  /// - Complexity: O(rows).
  package func tally(
    by links: TableColumn<Int64>, keys: RowKeySet
  ) throws(EngineError) -> LinkTally {
    try tally(by: links, where: .all([])) { leaf throws(EngineError) in
      leaf
    } adding: { group, leaf, row in
      if keys.contains(leaf.keys[row]) { group.rows += 1 }
    }
  }

  /// The same, and what an integer of each row adds up to; nulls are left out.
  /// - Throws: As without numbers.
  /// - Complexity: O(rows).
  package func tally(
    _ numbers: TableColumn<Int64>, by links: TableColumn<Int64>, where test: RowTest
  ) throws(EngineError) -> LinkTally {
    try check(numbers)
    return try tally(by: links, where: test) { leaf throws(EngineError) in
      (
        nulls: try leaf.nulls(numbers.index, tree.shape),
        numbers: try leaf.integers(numbers.index, tree.shape)
      )
    } adding: { group, column, row in
      group.rows += 1
      if column.nulls[row] == 0 { group.add(column.numbers[row]) }
    }
  }

  /// The same with 64-bit floating-point numbers, which have a sum only.
  /// - Throws: As without numbers.
  /// - Complexity: O(rows).
  package func tally(
    _ numbers: TableColumn<Double>, by links: TableColumn<Int64>, where test: RowTest
  ) throws(EngineError) -> LinkTally {
    try check(numbers)
    return try tally(by: links, where: test) { leaf throws(EngineError) in
      (
        nulls: try leaf.nulls(numbers.index, tree.shape),
        numbers: try Double.numbers(of: numbers.index, in: leaf, tree.shape)
      )
    } adding: { group, column, row in
      group.rows += 1
      if column.nulls[row] == 0 { group.add(column.numbers[row]) }
    }
  }

  @inline(__always)
  private func tally<Column>(
    by links: TableColumn<Int64>, where test: RowTest,
    _ column: (LeafView) throws(EngineError) -> Column,
    adding add: (inout LinkTally.Group, Column, Int) -> Void
  ) throws(EngineError) -> LinkTally {
    try check(links)
    try begin(test)
    var tally = LinkTally(rows: rowCount)
    try forEachMatchWords(test) { leaf, words throws(EngineError) in
      let nulls = try leaf.nulls(links.index, tree.shape)
      let keys = try leaf.integers(links.index, tree.shape)
      let column = try column(leaf)
      for word in words.indices {
        var rows = nulls.isAllZero ? words[word] : words[word] & ~nulls.bits(word: word)
        while rows != 0 {
          let row = word << 6 + rows.trailingZeroBitCount
          tally.update(keys[row]) { group in add(&group, column, row) }
          rows &= rows - 1
        }
      }
    }
    return tally
  }

  /// The numbers of a column of ints or doubles, by the keys of their rows.
  /// - Parameter name: The name of the column.
  /// - Returns: The numbers.
  /// - Throws: `EngineError` with code `.noSuchColumn`, `.schemaMismatch` for a column of another
  ///   type, `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  package func keyedNumbers(_ name: String) throws(EngineError) -> KeyedNumbers {
    if schema.columns.contains(where: { $0.name == name && $0.type == .double }) {
      let column = try column(name, of: Double.self)
      return try keyedNumbers(column) { leaf throws(EngineError) in
        try Double.numbers(of: column.index, in: leaf, tree.shape)
      } number: { numbers, row in
        .double(numbers[row])
      }
    }
    let column = try column(name, of: Int64.self)
    return try keyedNumbers(column) { leaf throws(EngineError) in
      try leaf.integers(column.index, tree.shape)
    } number: { numbers, row in
      .int(numbers[row])
    }
  }

  @inline(__always)
  private func keyedNumbers<Element, Numbers>(
    _ column: TableColumn<Element>, _ numbers: (LeafView) throws(EngineError) -> Numbers,
    number: (Numbers, Int) -> KeyedNumbers.Number
  ) throws(EngineError) -> KeyedNumbers {
    try check(column)
    var found = KeyedNumbers(numbers: KeyTable(of: .none, rows: rowCount))
    try forEachLeaf { leaf, _ throws(EngineError) in
      let nulls = try leaf.nulls(column.index, tree.shape)
      let numbers = try numbers(leaf)
      for row in 0..<leaf.count where nulls[row] == 0 {
        found.numbers.update(leaf.keys[row]) { $0 = number(numbers, row) }
      }
    }
    return found
  }
}
