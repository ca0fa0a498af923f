// RowComparison.swift: the rows of one table in two versions, side by side in key order. At every
// step both cursors are at the same key, or one is at keys that the other has passed. Where both
// are at the same link, its subtree is skipped. Otherwise the higher subtree is opened, or both if
// they have the same level, until both cursors are at rows. A shared subtree is recognized again
// after any change: once all rows before it are taken, both cursors are at it, or one of them has
// opened it and taken no row yet.

/// A walk over a table in two versions.
struct RowComparison {
  private let comparison: NodeComparison
  private let columns: [ColumnComparison]
  private let names: [String]
  private var left: SubtreeCursor
  private var right: SubtreeCursor

  /// - Parameters:
  ///   - comparison: The two versions.
  ///   - former: The table in the older one, if it is there.
  ///   - table: The table in the newer one, if it is there.
  init(_ comparison: NodeComparison, _ former: TableRecord?, _ table: TableRecord?) {
    self.comparison = comparison
    left = SubtreeCursor(Self.tree(comparison.older, former), comparison)
    right = SubtreeCursor(Self.tree(comparison.newer, table), comparison)
    names = table?.schema.columns.map(\.name) ?? []
    columns = (table?.shape.columns ?? []).map { layout in
      ColumnComparison(former?.shape.columns.first { $0.id == layout.id }, layout, comparison)
    }
  }

  private static func tree(_ state: VersionState, _ table: TableRecord?) -> BPlusTree {
    BPlusTree(
      reader: state.reader, root: table?.root ?? .none, level: table?.level ?? 0,
      shape: table?.shape ?? LeafShape([]), newest: state.version)
  }

  /// Adds the rows that differ.
  mutating func run(_ changes: inout TableChanges) throws(EngineError) {
    while !left.isAtEnd || !right.isAtEnd {
      if let mine = left.next, let other = right.next, mine.level == other.level,
        comparison.isSame(mine.link, other.link)
      {
        left.skip()
        right.skip()
      } else if left.leaf != nil && (right.leaf != nil || right.isAtEnd)
        || left.isAtEnd && right.leaf != nil
      {
        try takeRows(&changes)
      } else {
        try open()
      }
      // No view of a node is held: an encrypted file's pages may be evicted from memory.
      comparison.sections.older.refresh()
      comparison.sections.newer.refresh()
    }
  }

  private mutating func open() throws(EngineError) {
    let (mine, other) = (left.closed?.level ?? -1, right.closed?.level ?? -1)
    if mine >= other { try left.open() }
    if other >= mine { try right.open() }
  }

  /// Compares rows of the open leaves until one leaf has no more.
  private mutating func takeRows(_ changes: inout TableChanges) throws(EngineError) {
    guard var mine = left.leaf else {
      changes.insertions += right.leaf.map { $0.keys[$0.index...] } ?? []
      right.leaf = nil
      return
    }
    guard var other = right.leaf else {
      changes.deletions += mine.keys[mine.index...]
      left.leaf = nil
      return
    }
    var pairs: [RowPair] = []
    while mine.index < mine.keys.count, other.index < other.keys.count {
      let (key, otherKey) = (mine.keys[mine.index], other.keys[other.index])
      if key <= otherKey { mine.index += 1 }
      if otherKey <= key { other.index += 1 }
      if key < otherKey {
        changes.deletions.append(key)
      } else if otherKey < key {
        changes.insertions.append(otherKey)
      } else {
        pairs.append(RowPair(older: mine.index - 1, newer: other.index - 1))
      }
    }
    try compare(pairs, mine, other, &changes)
    left.leaf = mine
    right.leaf = other
    left.closeIfDone()
    right.closeIfDone()
  }

  private func compare(
    _ pairs: [RowPair], _ mine: SubtreeCursor.OpenLeaf, _ other: SubtreeCursor.OpenLeaf,
    _ changes: inout TableChanges
  ) throws(EngineError) {
    guard !pairs.isEmpty else { return }
    var masks = [UInt128](repeating: 0, count: pairs.count)
    let rows = RowPairs(
      pairs: pairs, older: try left.arrays(of: mine), newer: try right.arrays(of: other),
      areAll: pairs.count == mine.keys.count && pairs.count == other.keys.count)
    for (index, column) in columns.enumerated() {
      try column.compare(rows, bit: 1 << UInt128(index), &masks)
    }
    for (pair, mask) in zip(pairs, masks) where mask != 0 {
      changes.modifications.append(
        RowModification(key: other.keys[pair.newer], mask: mask, names: names))
    }
  }
}

/// A row by its places in two leaves.
struct RowPair {
  let older: Int
  let newer: Int
}

/// The rows that two leaves have in common.
struct RowPairs {
  let pairs: [RowPair]
  let older: NodeArrays
  let newer: NodeArrays
  /// Whether both leaves have exactly these rows, so that equal arrays mean equal columns.
  let areAll: Bool
}
