// MutableTable+Words.swift: full-text indexes of a table while a writer changes it.

extension MutableTable {
  /// Notes which words of a row are new, and which it has no more.
  func reindexWords(
    _ key: Int64, _ index: MutableKeyPairTree, old: Value?, new: Value?
  ) throws(EngineError) {
    let (before, after) = (Words.images(in: old), Words.images(in: new))
    var (left, right) = (0, 0)
    while left < before.count || right < after.count {
      if left < before.count, right < after.count, before[left] == after[right] {
        (left, right) = (left + 1, right + 1)
      } else if right == after.count || left < before.count && before[left] < after[right] {
        index.waiting.append(WordChange(KeyPair(before[left], key), isAdded: false))
        left += 1
      } else {
        index.waiting.append(WordChange(KeyPair(after[right], key), isAdded: true))
        right += 1
      }
    }
    if index.waiting.count >= MutableKeyPairTree.waitingCountMax { try index.putWaiting() }
  }

  /// Builds the full-text index of a column from its rows.
  func fillWords(of column: Int) throws(EngineError) {
    var words = WordPairs()
    try tree.forEachText(of: column) { key, text in words.add(text, key) }
    guard words.areAscending else {
      throw .corrupted("the keys of table \(schema.name) do not ascend")
    }
    let index = MutableKeyPairTree(writer: tree.writer, ofWords: true)
    words.fill(index)
    setIndex(index, of: column)
  }
}

extension MutableTree {
  /// Calls `body` with key and text of each row that has one, in key order.
  func forEachText(
    of column: Int, _ body: (Int64, RawBytes) -> Void
  ) throws(EngineError) {
    try forEachPart { leaf throws(EngineError) in
      for row in 0..<leaf.count {
        guard case .string(let text) = try leaf.columns[column].value(at: row, writer) else {
          continue
        }
        RawBytes.over(text) { body(leaf.keys[row], $0) }
      }
    } stored: { tree throws(EngineError) in
      try tree.forEachText(of: column, body)
    }
  }
}

extension BPlusTree {
  /// Calls `body` with key and text of each row that has one, in key order.
  func forEachText(
    of column: Int, _ body: (Int64, RawBytes) -> Void
  ) throws(EngineError) {
    let layout = shape.columns[column]
    try forEachLeaf { leaf throws(EngineError) in
      let strings = try leaf.arrays.strings(layout)
      let nulls = try leaf.arrays.nulls(layout)
      for row in 0..<leaf.count where nulls[row] == 0 {
        body(leaf.keys[row], try reader.stringBytes(strings, row, newest: newest))
      }
    }
  }
}
