// SearchIndex.swift: finding rows by value, through pairs and, where images are not enough, rows.

/// Rows whose values an index lookup can read.
protocol IndexedRows {
  /// The value of a column; nil when the row does not exist.
  func value(_ key: Int64, _ column: Int) throws(EngineError) -> Value?
  /// Whether there is a row with this key and the value.
  func hasValue(_ probe: IndexProbe, _ key: Int64, _ column: Int) throws(EngineError) -> Bool
}

/// A search index of one column, with the rows it leads to.
struct SearchIndex<Pairs: KeyPairSource, Rows: IndexedRows> {
  let pairs: Pairs
  let rows: Rows
  /// The column's position in the schema.
  let column: Int
  let layout: ColumnLayout

  // MARK: equality

  /// Calls `body` with the key of each row that has the value, ascending; stops at false.
  func forEachKey(
    _ probe: IndexProbe, _ body: (Int64) throws(EngineError) -> Bool
  ) throws(EngineError) {
    let isExact = probe.isExact(layout)
    try pairs.forEach(in: probe.image...probe.image) { _, key, _ throws(EngineError) in
      if !isExact {
        guard try rows.hasValue(probe, key, column) else { return true }
      }
      return try body(key)
    }
  }

  /// The keys of the rows that have the value, ascending.
  func keys(equalTo value: Value) throws(EngineError) -> [Int64] {
    let probe = try probe(value)
    var keys: [Int64] = []
    try forEachKey(probe) { key throws(EngineError) in
      keys.append(key)
      return true
    }
    return keys
  }

  /// The smallest of them.
  func firstKey(equalTo value: Value) throws(EngineError) -> Int64? {
    let probe = try probe(value)
    var found: Int64?
    try forEachKey(probe) { key throws(EngineError) in
      found = key
      return false
    }
    return found
  }

  private func probe(_ value: Value) throws(EngineError) -> IndexProbe {
    guard layout.type.isType(of: value) || value == .null && layout.type != .link else {
      throw EngineError(
        code: .schemaMismatch,
        message: "the index of a \(layout.type) column cannot be asked for \(value.brief)")
    }
    return IndexProbe(value)
  }

  // MARK: ranges

  /// Whether the row has to be read, because its image alone does not decide.
  private func isUnsure(_ image: UInt64, _ ends: ClosedRange<UInt64>) -> Bool {
    (layout.isOptional && image == ValueImage.null && layout.type != .bool)
      || (layout.type == .date && (image == ends.lowerBound || image == ends.upperBound))
  }

  /// The keys of the rows whose value is `lower` to `upper`, in the order of the values; rows of
  /// one value by key.
  func keys(between lower: Value, and upper: Value) throws(EngineError) -> [Int64] {
    var keys: [Int64] = []
    guard let ends = try ends(lower, upper) else { return keys }
    // Where the keys of the current image start. Dates within one second are sorted by their
    // nanoseconds; every other image represents one value.
    var start = 0
    var current = ends.lowerBound
    try pairs.forEach(in: ends) { image, key, _ throws(EngineError) in
      if image != current {
        try sort(&keys, from: start)
        (start, current) = (keys.count, image)
      }
      if isUnsure(image, ends) {
        guard Self.isInside(try value(key), from: lower, to: upper) else { return true }
      }
      keys.append(key)
      return true
    }
    try sort(&keys, from: start)
    return keys
  }

  private func sort(_ keys: inout [Int64], from start: Int) throws(EngineError) {
    guard layout.type == .date, keys.count - start > 1 else { return }
    var group: [(value: Value, key: Int64)] = []
    for key in keys[start...] { group.append((try value(key), key)) }
    group.sort { left, right in
      if Value.precedes(left.value, right.value) { return true }
      return !Value.precedes(right.value, left.value) && left.key < right.key
    }
    keys.replaceSubrange(start..., with: group.map(\.key))
  }

  private func value(_ key: Int64) throws(EngineError) -> Value {
    guard let value = try rows.value(key, column) else {
      throw .corrupted("the index of column \(layout.id) leads to key \(key), which has no row")
    }
    return value
  }

  /// The number of rows whose value is `lower` to `upper`.
  /// - Complexity: O(leaves of the range), and for dates the rows of the first and last second.
  func count(between lower: Value, and upper: Value) throws(EngineError) -> Int {
    guard let ends = try ends(lower, upper) else { return 0 }
    var count = try pairs.pairCount(in: ends)
    for image in Set([ends.lowerBound, ends.upperBound]).sorted() where isUnsure(image, ends) {
      try pairs.forEach(in: image...image) { _, key, _ throws(EngineError) in
        if !Self.isInside(try value(key), from: lower, to: upper) { count -= 1 }
        return true
      }
    }
    return count
  }

  private func ends(
    _ lower: Value, _ upper: Value
  ) throws(EngineError) -> ClosedRange<UInt64>? {
    guard [.int, .bool, .date].contains(layout.type), layout.type.isType(of: lower),
      layout.type.isType(of: upper)
    else {
      throw EngineError(
        code: .schemaMismatch,
        message: "a range from \(lower.brief) to \(upper.brief) of a \(layout.type) column; ranges "
          + "are for columns of ints, bools and dates, with ends of that type")
    }
    let (first, last) = (ValueImage.of(lower), ValueImage.of(upper))
    return first <= last ? first...last : nil
  }

  private static func isInside(_ value: Value, from lower: Value, to upper: Value) -> Bool {
    if case .null = value { return false }
    return !Value.precedes(value, lower) && !Value.precedes(upper, value)
  }
}

extension ColumnType {
  /// Whether a value that is not null is of this type.
  func isType(of value: Value) -> Bool {
    switch (self, value) {
    case (.int, .int), (.string, .string), (.bool, .bool), (.binary, .binary), (.date, .date),
      (.objectId, .objectId), (.uuid, .uuid), (.link, .link):
      true
    default: false
    }
  }
}

extension TableSchema {
  static func noIndex(_ column: String, _ table: String) -> EngineError {
    EngineError(
      code: .noIndex,
      message: "\(table).\(column) has no search index; add one, or look at every row")
  }

  /// Refuses a column that cannot be searched by value.
  func checkSearched(_ index: Int) throws(EngineError) {
    guard columns[index].isSearched, columns[index].collection == .none else {
      throw Self.noIndex(columns[index].name, name)
    }
  }

  /// Refuses a column whose words cannot be searched.
  func checkFullText(_ index: Int) throws(EngineError) {
    guard columns[index].isFullText else {
      throw EngineError(
        code: .noIndex,
        message: "\(name).\(columns[index].name) has no full-text index; add one, or look at "
          + "every row")
    }
  }

  /// The column of a name, whose links lead to a table.
  func linkColumn(_ name: String, to target: String) throws(EngineError) -> Int {
    let index = try column(named: name)
    guard columns[index].type == .link, columns[index].target == target else {
      throw EngineError(
        code: .schemaMismatch,
        message: "\(self.name).\(name) is a \(columns[index].type) column with target "
          + "\(columns[index].target ?? "none"), not one of links to \(target)")
    }
    return index
  }
}

/// A row that links to another.
public struct Backlink: Hashable, Sendable {
  /// The key of the row that links.
  public var key: Int64
  /// How often it does; more than once in lists and dictionaries only.
  public var count: Int

  /// Makes a backlink.
  /// - Parameters:
  ///   - key: The key of the row that links.
  ///   - count: How often it does.
  public init(key: Int64, count: Int) {
    self.key = key
    self.count = count
  }
}

extension KeyPairSource {
  /// The rows that link to a key, ascending.
  func backlinks(to key: Int64) throws(EngineError) -> [Backlink] {
    var links: [Backlink] = []
    let image = ValueImage.ordered(key)
    try forEach(in: image...image) { _, row, count throws(EngineError) in
      links.append(Backlink(key: row, count: Int(clamping: count)))
      return true
    }
    return links
  }

  /// How many links there are to a key.
  func backlinkCount(to key: Int64) throws(EngineError) -> Int {
    var sum = 0
    let image = ValueImage.ordered(key)
    try forEach(in: image...image) { _, _, count throws(EngineError) in
      let (next, overflow) = sum.addingReportingOverflow(Int(clamping: count))
      sum = overflow ? Int.max : next
      return true
    }
    return sum
  }
}
