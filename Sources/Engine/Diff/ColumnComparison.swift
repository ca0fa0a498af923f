// ColumnComparison.swift: compares one column of the rows that two leaves have in common. Equal
// arrays of leaves with the same rows are equal columns, without looking at rows. Otherwise rows
// are compared, and values outside of the leaves are read only where their links differ.

/// A column in two versions.
struct ColumnComparison {
  /// The column in the older version; nil when it was added since.
  private let former: ColumnLayout?
  private let layout: ColumnLayout
  private let comparison: NodeComparison

  init(_ former: ColumnLayout?, _ layout: ColumnLayout, _ comparison: NodeComparison) {
    self.former = former
    self.layout = layout
    self.comparison = comparison
  }

  private var older: VersionState { comparison.older }
  private var newer: VersionState { comparison.newer }

  /// Sets a bit for each row whose values differ.
  func compare(
    _ rows: RowPairs, bit: UInt128, _ masks: inout [UInt128]
  ) throws(EngineError) {
    guard let former, former.type == layout.type, former.collection == layout.collection else {
      return try compareValues(rows, bit: bit, &masks)
    }
    let nulls = (try rows.older.nulls(former), try rows.newer.nulls(layout))
    func mark(_ areEqual: (RowPair) throws(EngineError) -> Bool) throws(EngineError) {
      for (index, pair) in rows.pairs.enumerated() {
        let (wasNull, isNull) = (nulls.0[pair.older] != 0, nulls.1[pair.newer] != 0)
        if wasNull != isNull {
          masks[index] |= bit
        } else if !isNull, try !areEqual(pair) {
          masks[index] |= bit
        }
      }
    }
    /// Compares packed arrays, in place of the values.
    func mark(_ arrays: (PackedArray, PackedArray)...) throws(EngineError) {
      if rows.areAll, nulls.0.isEqual(to: nulls.1),
        arrays.allSatisfy({ $0.isEqual(to: $1) })
      {
        return
      }
      try mark { pair in arrays.allSatisfy { $0[pair.older] == $1[pair.newer] } }
    }
    switch layout.storage {
    case .integers: try mark((rows.older.integers(former), rows.newer.integers(layout)))
    case .bools: try mark((rows.older.bools(former), rows.newer.bools(layout)))
    case .words32, .words64: try mark((rows.older.words(former), rows.newer.words(layout)))
    case .dates:
      let (before, after) = (try rows.older.dates(former), try rows.newer.dates(layout))
      try mark((before.seconds, after.seconds), (before.nanoseconds, after.nanoseconds))
    case .fixed12, .fixed16:
      let (before, after) = (try rows.older.fixed(former), try rows.newer.fixed(layout))
      try mark { pair in before[pair.older] == after[pair.newer] }
    case .strings:
      let (before, after) = (try rows.older.strings(former), try rows.newer.strings(layout))
      if rows.areAll, nulls.0.isEqual(to: nulls.1), before.ends.isEqual(to: after.ends),
        before.flags.isEqual(to: after.flags), before.bytes.isEqual(to: after.bytes),
        !before.hasExternals
      {
        return
      }
      try mark { pair throws(EngineError) in try areEqual(before, after, pair, former) }
    }
  }

  /// Any column by its values; one that was added is compared with the default that adding it gave.
  private func compareValues(
    _ rows: RowPairs, bit: UInt128, _ masks: inout [UInt128]
  ) throws(EngineError) {
    for (index, pair) in rows.pairs.enumerated() {
      let before =
        try former.map { former throws(EngineError) in
          try older.reader.value(rows.older, former, pair.older, newest: older.version)
        } ?? layout.absentValue
      let after = try newer.reader.value(rows.newer, layout, pair.newer, newest: newer.version)
      if before != after { masks[index] |= bit }
    }
  }

  // MARK: entries of bytes

  private func areEqual(
    _ before: StringsView, _ after: StringsView, _ pair: RowPair, _ former: ColumnLayout
  ) throws(EngineError) -> Bool {
    let (entry, isExternal) = try before.entry(pair.older)
    let (otherEntry, isOtherExternal) = try after.entry(pair.newer)
    if isExternal == isOtherExternal {
      guard isExternal else {
        if entry.isEqual(to: otherEntry) { return true }
        // One text or one array of bytes has one encoding; numbers and elements may have several.
        if layout.collection == .none, layout.type != .mixed { return false }
        return try areValuesEqual(before, after, pair, former)
      }
      let (mine, other) = (ExternalEntry(entry), ExternalEntry(otherEntry))
      if mine.word == other.word, comparison.isSame(mine.link, other.link) { return true }
      guard layout.collection == .none else {
        return try areCollectionsEqual(mine, other, (before.ref, after.ref), former)
      }
    } else if layout.collection != .none {
      return try areValuesEqual(before, after, pair, former)
    }
    comparison.count((isExternal ? 1 : 0) + (isOtherExternal ? 1 : 0))
    let bytes = try older.reader.stringBytes(before, pair.older, newest: older.version)
    let otherBytes = try newer.reader.stringBytes(after, pair.newer, newest: newer.version)
    if bytes.isEqual(to: otherBytes) { return true }
    return layout.type == .mixed ? try areValuesEqual(before, after, pair, former) : false
  }

  private func areValuesEqual(
    _ before: StringsView, _ after: StringsView, _ pair: RowPair, _ former: ColumnLayout
  ) throws(EngineError) -> Bool {
    guard layout.collection == .none else {
      let mine = try CollectionContent(
        older.reader, former, before, pair.older, newest: older.version)
      let other = try CollectionContent(
        newer.reader, layout, after, pair.newer, newest: newer.version)
      // One of the two has few elements: it is stored in its row.
      guard mine.count == other.count else { return false }
      return try mine.value == other.value
    }
    let bytes = try older.reader.stringBytes(before, pair.older, newest: older.version)
    let otherBytes = try newer.reader.stringBytes(after, pair.newer, newest: newer.version)
    return try ValueCoding.decodeMixed(bytes, at: before.ref)
      == ValueCoding.decodeMixed(otherBytes, at: after.ref)
  }

  private func areCollectionsEqual(
    _ mine: ExternalEntry, _ other: ExternalEntry, _ refs: (Ref, Ref), _ former: ColumnLayout
  ) throws(EngineError) -> Bool {
    guard mine.count == other.count else { return false }
    let before = try CollectionReader(
      older.reader, CollectionShape(former), mine, newest: older.version, at: refs.0)
    let after = try CollectionReader(
      newer.reader, CollectionShape(layout), other, newest: newer.version, at: refs.1)
    var elements = ElementComparison(before, after, comparison)
    return try elements.areEqual()
  }
}

extension PackedArray {
  /// Whether two arrays are the same bits, so that they have the same elements.
  func isEqual(to other: PackedArray) -> Bool {
    count == other.count && width == other.width && base == other.base
      && (width == 0 || bytes.isEqual(to: other.bytes))
  }
}

extension RawBytes {
  /// Whether both are the same bytes.
  func isEqual(to other: RawBytes) -> Bool { count == other.count && order(other) == 0 }
}
