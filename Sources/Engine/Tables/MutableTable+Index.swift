// MutableTable+Index.swift: the indexes of a table while a writer changes it: search indexes of
// columns that request one, and for every column of links the index of incoming links. Invariants:
// between two changes of rows, an index holds one pair for each row's value, for links one pair per
// link of a row, and for words, with those that wait, one per word; a rejected change alters
// neither rows nor indexes.

extension ColumnSchema {
  /// Whether the engine keeps an index for the column.
  var hasIndex: Bool { isSearched || isFullText }

  /// Whether the index finds rows by values.
  var isSearched: Bool { isIndexed || isUnique || type == .link }
}

extension MutableTable {
  /// Makes the trees of the columns that have an index.
  static func makeIndexes(
    _ schema: TableSchema, _ columns: [ColumnRecord], _ writer: TreeWriter
  ) -> [MutableKeyPairTree?] {
    zip(schema.columns, columns).map { column, record in
      guard column.hasIndex else { return nil }
      return MutableKeyPairTree(
        writer: writer, root: record.index.root, level: record.index.level,
        pairCount: record.index.entryCount, ofWords: column.isFullText)
    }
  }

  /// Puts changes of words that wait into their trees.
  func putWords() throws(EngineError) {
    guard unchanged == nil else { return }
    for column in indexedColumns where schema.columns[column].isFullText {
      try index(column).putWaiting()
    }
  }

  /// The index of a column that the schema gives one.
  func index(_ column: Int) -> MutableKeyPairTree {
    guard let index = indexes[column] else { preconditionFailure("the column has an index") }
    return index
  }

  func searchIndex(_ column: Int) -> SearchIndex<MutableKeyPairTree, MutableTree> {
    SearchIndex(
      pairs: index(column), rows: tree, column: column, layout: tree.shape.columns[column])
  }

  // MARK: rows

  /// The values of the indexed columns, in their order; nil when there is no such row.
  func indexedValues(_ key: Int64) throws(EngineError) -> [Value]? {
    var values: [Value] = []
    for column in indexedColumns {
      guard let value = try tree.value(key, column) else { return nil }
      values.append(value)
    }
    return values
  }

  /// Refuses a value that another row has in a unique column.
  func checkUnique(_ key: Int64, _ values: [Value]) throws(EngineError) {
    for column in indexedColumns where schema.columns[column].isUnique {
      try checkUnique(key, column, values[column])
    }
  }

  /// The same for one column, which is unique.
  func checkUnique(_ key: Int64, _ column: Int, _ value: Value) throws(EngineError) {
    var other: Int64?
    try searchIndex(column).forEachKey(IndexProbe(value)) { found throws(EngineError) in
      other = found == key ? nil : found
      return other == nil
    }
    if let other { throw duplicate(value, column, other) }
  }

  private func duplicate(_ value: Value, _ column: Int, _ other: Int64) -> EngineError {
    EngineError(
      code: .duplicateValue,
      message: "\(schema.columns[column].name) of \(schema.name) is unique, and the row with key "
        + "\(other) has \(value.brief) already; update that row, or use another value")
  }

  /// Updates the indexes for a changed row.
  ///
  /// `old` is nil for a new row and `new` for a removed one. Both have the values of the indexed
  /// columns only.
  func reindex(_ key: Int64, old: [Value]?, new: [Value]?) throws(EngineError) {
    for (position, column) in indexedColumns.enumerated() {
      try reindex(key, column, old: old?[position], new: new?[position])
    }
  }

  /// The same for one column.
  func reindex(
    _ key: Int64, _ column: Int, old: Value?, new: Value?
  ) throws(EngineError) {
    let index = index(column)
    if schema.columns[column].isFullText {
      try reindexWords(key, index, old: old, new: new)
      return
    }
    if schema.columns[column].collection == .none {
      let (oldImage, newImage) = (image(column, old), image(column, new))
      guard oldImage != newImage else { return }
      if let oldImage { try remove(KeyPair(oldImage, key), from: index, column) }
      if let newImage { try insert(KeyPair(newImage, key), into: index, column) }
      return
    }
    // Only differences are changed, so that one more element of a long list is one more pair.
    let (before, after) = (Self.targets(old).sorted(), Self.targets(new).sorted())
    var (left, right) = (0, 0)
    while left < before.count || right < after.count {
      if left < before.count, right < after.count, before[left] == after[right] {
        (left, right) = (left + 1, right + 1)
      } else if right == after.count || left < before.count && before[left] < after[right] {
        try remove(KeyPair(ValueImage.ordered(before[left]), key), from: index, column)
        left += 1
      } else {
        try index.insert(KeyPair(ValueImage.ordered(after[right]), key))
        right += 1
      }
    }
  }

  /// The same for links that were added to a collection or removed.
  func reindex(
    _ key: Int64, _ column: Int, _ changes: [LinkChange]
  ) throws(EngineError) {
    guard !changes.isEmpty else { return }
    let index = index(column)
    for change in changes {
      let pair = KeyPair(ValueImage.ordered(change.target), key)
      if change.isAdded {
        try index.insert(pair)
      } else {
        try remove(pair, from: index, column)
      }
    }
  }

  /// The image under which a value is indexed; nil when it is not indexed.
  private func image(_ column: Int, _ value: Value?) -> UInt64? {
    guard let value else { return nil }
    if case .null = value, schema.columns[column].type == .link { return nil }
    return ValueImage.of(value)
  }

  private func insert(
    _ pair: KeyPair, into index: MutableKeyPairTree, _ column: Int
  ) throws(EngineError) {
    let count = try index.insert(pair)
    guard count == 1 else {
      throw .corrupted("the index of \(place(column)) had \(pair) before the row was there")
    }
  }

  private func remove(
    _ pair: KeyPair, from index: MutableKeyPairTree, _ column: Int
  ) throws(EngineError) {
    guard try index.remove(pair) else {
      throw .corrupted("the index of \(place(column)) has no \(pair), and the row is there")
    }
  }

  private func place(_ column: Int) -> String { "\(schema.name).\(schema.columns[column].name)" }

  /// The keys that a value links to, as often as it does.
  static func targets(_ value: Value?) -> [Int64] {
    switch value {
    case .link(let key): [key]
    case .list(let values), .set(let values): values.flatMap { targets($0) }
    case .dictionary(let entries): entries.flatMap { targets($0.value) }
    default: []
    }
  }

  // MARK: columns

  /// Builds the index of a column from its rows.
  /// - Throws: `EngineError` with code `.duplicateValue` for a unique column; nothing changes then.
  /// - Complexity: O(rows log rows), and temporary memory for one pair per row.
  func fillIndex(of column: Int, isUnique: Bool = false) throws(EngineError) {
    if schema.columns[column].isFullText {
      try fillWords(of: column)
      return
    }
    let pairs = try pairs(of: column, isUnique: isUnique)
    let index = MutableKeyPairTree(writer: tree.writer)
    try index.fill(pairs)
    setIndex(index, of: column)
  }

  /// Makes the index of the column that was added last: no row has a link in it.
  func makeIndexOfNewColumn() throws(EngineError) {
    let column = columns.count - 1
    if schema.columns[column].type == .link {
      setIndex(MutableKeyPairTree(writer: tree.writer), of: column)
    } else {
      try fillIndex(of: column)
    }
  }

  /// The pairs of a column, from its rows, sorted.
  /// - Throws: `EngineError` with code `.duplicateValue` for a unique column.
  func pairs(of column: Int, isUnique: Bool) throws(EngineError) -> [KeyPair] {
    var pairs: [KeyPair] = []
    pairs.reserveCapacity(Int(clamping: min(tree.rowCount, 1 << 24)))
    let isLink = schema.columns[column].type == .link
    try tree.forEachValue(of: column) { key, value throws(EngineError) in
      if isLink {
        for target in Self.targets(value) {
          pairs.append(KeyPair(ValueImage.ordered(target), key))
        }
      } else {
        pairs.append(KeyPair(ValueImage.of(value), key))
      }
    }
    pairs.sort()
    if isUnique { try checkUnique(pairs, column) }
    return pairs
  }

  private func checkUnique(_ pairs: [KeyPair], _ column: Int) throws(EngineError) {
    var start = 0
    for end in 1..<max(1, pairs.count + 1) {
      guard end == pairs.count || pairs[end].image != pairs[start].image else { continue }
      if end - start > 1 {
        var keys: [Value: Int64] = [:]
        for pair in pairs[start..<end] {
          guard let value = try tree.value(pair.key, column) else { continue }
          if let other = keys.updateValue(pair.key, forKey: value) {
            throw duplicate(value, column, other)
          }
        }
      }
      start = end
    }
  }

  // MARK: commit

  /// Places and encodes the changed nodes of every index.
  func encodeIndexes(into sink: inout NodeSink) {
    for column in indexedColumns {
      let index = index(column)
      let root = index.encode(into: &sink)
      setIndexRoot(
        root.isNone
          ? .none : IndexRoot(root: root, level: index.level, entryCount: index.pairCount),
        of: column)
    }
  }
}

extension MutableTree: IndexedRows {
  func hasValue(
    _ probe: IndexProbe, _ key: Int64, _ column: Int
  ) throws(EngineError) -> Bool {
    guard let place = try find(key) else { return false }
    switch place {
    case .stored(let leaf, let row):
      return try probe.matches(
        leaf.arrays, shape.columns[column], row, writer.reader, newest: writer.base)
    case .memory(let leaf, let row):
      return try leaf.columns[column].value(at: row, writer) == probe.value
    }
  }

  /// Calls `body` with key and value of each row, in key order.
  func forEachValue(
    of column: Int, _ body: (Int64, Value) throws(EngineError) -> Void
  ) throws(EngineError) {
    try forEachPart { leaf throws(EngineError) in
      for row in 0..<leaf.count {
        try body(leaf.keys[row], try leaf.columns[column].value(at: row, writer))
      }
    } stored: { tree throws(EngineError) in
      try tree.forEachValue(of: column, body)
    }
  }

  /// Calls a closure with each leaf in memory, or with the committed tree that stands there, in key
  /// order.
  func forEachPart(
    _ inMemory: (MutableLeaf) throws(EngineError) -> Void,
    stored: (BPlusTree) throws(EngineError) -> Void
  ) throws(EngineError) {
    guard let root else { return }
    var stack = [(child: root, level: level)]
    while let (child, level) = stack.popLast() {
      switch child {
      case .inner(let inner): stack += inner.children.reversed().map { ($0, level - 1) }
      case .leaf(let leaf): try inMemory(leaf)
      case .stored(let link): try stored(committed(link, level))
      }
    }
  }
}

extension BPlusTree: IndexedRows {
  func value(_ key: Int64, _ column: Int) throws(EngineError) -> Value? {
    guard let (leaf, row) = try find(key) else { return nil }
    return try reader.value(leaf.arrays, shape.columns[column], row, newest: newest)
  }

  func hasValue(
    _ probe: IndexProbe, _ key: Int64, _ column: Int
  ) throws(EngineError) -> Bool {
    guard let (leaf, row) = try find(key) else { return false }
    return try probe.matches(leaf.arrays, shape.columns[column], row, reader, newest: newest)
  }

  /// Calls `body` with key and value of each row, in key order.
  func forEachValue(
    of column: Int, _ body: (Int64, Value) throws(EngineError) -> Void
  ) throws(EngineError) {
    try forEachLeaf { leaf throws(EngineError) in
      for row in 0..<leaf.count {
        let value = try reader.value(leaf.arrays, shape.columns[column], row, newest: newest)
        try body(leaf.keys[row], value)
      }
    }
  }
}

extension Value {
  /// For messages: long texts and bytes are cut.
  var brief: String {
    switch self {
    case .string(let text) where text.utf8.count > 60: "\"\(text.prefix(40))…\""
    case .binary(let bytes): "\(bytes.count) bytes"
    default: "\(self)"
    }
  }
}
