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

    /// Adds a row, and its number.
    package mutating func add(_ number: KeyedNumbers.Number) {
      rows += 1
      switch number {
      case .none: return
      case .int(let int):
        total += Int128(int)
        sum += Double(int)
        least = min(least, int)
        greatest = max(greatest, int)
      case .double(let double): sum += double
      }
      numbers += 1
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

/// The numbers of one column in one leaf.
private struct LeafNumbers {
  private enum Numbers {
    case ints(PackedArray)
    case doubles(FloatingArray<Double>)
  }

  private let nulls: PackedArray
  private let numbers: Numbers

  init(_ column: Int, _ type: ColumnType, in leaf: LeafView, _ shape: LeafShape)
    throws(EngineError)
  {
    nulls = try leaf.nulls(column, shape)
    numbers =
      type == .double
      ? .doubles(try Double.numbers(of: column, in: leaf, shape))
      : .ints(try leaf.integers(column, shape))
  }

  @inline(__always)
  subscript(row: Int) -> KeyedNumbers.Number {
    guard nulls[row] == 0 else { return .none }
    switch numbers {
    case .ints(let ints): return .int(ints[row])
    case .doubles(let doubles): return .double(doubles[row])
    }
  }
}

extension TableReader {
  /// For each row that rows of this table link to: how many do, and what their numbers add up to.
  /// - Parameters:
  ///   - numbers: The name of a column of ints or doubles; nil without numbers.
  ///   - links: The column of links.
  ///   - test: Which rows are looked at.
  ///   - keys: Of these, which; nil for all.
  /// - Returns: The groups; a row without a link is in none. Doubles have a sum only.
  /// - Throws: `EngineError` with code `.noSuchColumn`, `.schemaMismatch` for numbers of another
  ///   type, `.corrupted` or `.closed`.
  /// - Complexity: O(rows).
  package func tally(
    _ numbers: String? = nil, by links: TableColumn<Int64>, where test: RowTest,
    keys: RowKeySet? = nil
  ) throws(EngineError) -> LinkTally {
    try check(links)
    try begin(test)
    let column: Int? = if let numbers { try numberColumn(numbers) } else { nil }
    var tally = LinkTally(rows: rowCount)
    try forEachMatchWords(test) { leaf, words throws(EngineError) in
      let nulls = try leaf.nulls(links.index, tree.shape)
      let targets = try leaf.integers(links.index, tree.shape)
      let numbers: LeafNumbers? =
        if let column { try self.numbers(column, in: leaf) } else { nil }
      for word in words.indices {
        var rows = nulls.isAllZero ? words[word] : words[word] & ~nulls.bits(word: word)
        while rows != 0 {
          let row = word << 6 + rows.trailingZeroBitCount
          rows &= rows - 1
          if let keys, !keys.contains(leaf.keys[row]) { continue }
          tally.update(targets[row]) { group in group.add(numbers?[row] ?? .none) }
        }
      }
    }
    return tally
  }

  /// The numbers of a column of ints or doubles, by the keys of their rows.
  /// - Parameter name: The name of the column.
  /// - Returns: The numbers.
  /// - Throws: As `tally`.
  /// - Complexity: O(rows).
  package func keyedNumbers(_ name: String) throws(EngineError) -> KeyedNumbers {
    try snapshot.check()
    let column = try numberColumn(name)
    var found = KeyedNumbers(numbers: KeyTable(of: .none, rows: rowCount))
    try forEachLeaf { leaf, _ throws(EngineError) in
      let numbers = try numbers(column, in: leaf)
      for row in 0..<leaf.count {
        found.numbers.update(leaf.keys[row]) { $0 = numbers[row] }
      }
    }
    return found
  }

  /// The index of a column of ints or doubles.
  private func numberColumn(_ name: String) throws(EngineError) -> Int {
    let index = try schema.column(named: name)
    return schema.columns[index].type == .double
      ? try column(name, of: Double.self).index : try column(name, of: Int64.self).index
  }

  @inline(__always)
  private func numbers(_ column: Int, in leaf: LeafView) throws(EngineError) -> LeafNumbers {
    try LeafNumbers(column, schema.columns[column].type, in: leaf, tree.shape)
  }
}
