// SearchIndex.swift: finding rows by value, through pairs and, where images are not enough, rows.

/// Rows that can be asked about one column.
protocol IndexedRows {
  /// The value of a column; nil when there is no row.
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
      guard try isExact || rows.hasValue(probe, key, column) else { return true }
      return try body(key)
    }
  }

  /// The keys of the rows that have the value, ascending.
  func keys(_ probe: IndexProbe) throws(EngineError) -> [Int64] {
    var keys: [Int64] = []
    try forEachKey(probe) { key throws(EngineError) in
      keys.append(key)
      return true
    }
    return keys
  }

  /// The smallest of them.
  func firstKey(_ probe: IndexProbe) throws(EngineError) -> Int64? {
    var found: Int64?
    try forEachKey(probe) { key throws(EngineError) in
      found = key
      return false
    }
    return found
  }

  // MARK: ranges

  /// Whether images between those of the ends say everything about their rows.
  private func isUnsure(_ image: UInt64, _ ends: ClosedRange<UInt64>) -> Bool {
    (layout.isOptional && image == ValueImage.null && layout.type != .bool)
      || (layout.type == .date && (image == ends.lowerBound || image == ends.upperBound))
  }

  /// The keys of the rows whose value is `lower` to `upper`, in the order of the values; rows of
  /// one value by key.
  func keys(_ lower: Value, _ upper: Value) throws(EngineError) -> [Int64] {
    var keys: [Int64] = []
    guard let ends = Self.ends(lower, upper) else { return keys }
    // Where the keys of the current image start. Several dates of one second are put in order by
    // their nanoseconds; all other images stand for one value.
    var start = 0
    var current = ends.lowerBound
    try pairs.forEach(in: ends) { image, key, _ throws(EngineError) in
      if image != current {
        try sort(&keys, from: start)
        (start, current) = (keys.count, image)
      }
      if isUnsure(image, ends) {
        guard Self.isInside(try value(key), lower, upper) else { return true }
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
  func count(_ lower: Value, _ upper: Value) throws(EngineError) -> Int {
    guard let ends = Self.ends(lower, upper) else { return 0 }
    var count = try pairs.pairCount(in: ends)
    for image in Set([ends.lowerBound, ends.upperBound]).sorted() where isUnsure(image, ends) {
      try pairs.forEach(in: image...image) { _, key, _ throws(EngineError) in
        if !Self.isInside(try value(key), lower, upper) { count -= 1 }
        return true
      }
    }
    return count
  }

  private static func ends(_ lower: Value, _ upper: Value) -> ClosedRange<UInt64>? {
    let (first, last) = (ValueImage.of(lower), ValueImage.of(upper))
    return first <= last ? first...last : nil
  }

  private static func isInside(_ value: Value, _ lower: Value, _ upper: Value) -> Bool {
    if case .null = value { return false }
    return !Value.precedes(value, lower) && !Value.precedes(upper, value)
  }
}
