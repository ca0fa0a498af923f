// OpenTable.swift: one table of a version or of a write transaction, and every read of it by the
// names of its columns. Invariant: links are followed only in a section of the table's reader, so
// nodes stay readable until the section ends.

/// A table found by its name, for one read: the basis of `ReadableVersion`.
public struct _OpenTable {
  @usableFromInline let id: UInt32
  @usableFromInline let rowCount: Int
  @usableFromInline let schema: TableSchema
  private let rows: OpenRows
  private let indexes: Indexes

  /// Where the indexes of the columns are.
  private enum Indexes {
    case committed([ColumnRecord])
    case changing(MutableTable)
  }

  /// A table of a version.
  init(_ record: TableRecord, _ state: VersionState) {
    id = record.id
    rowCount = Int(clamping: record.rowCount)
    schema = record.schema
    rows = .committed(
      BPlusTree(
        reader: state.reader, root: record.root, level: record.level, shape: record.shape,
        newest: state.version))
    indexes = .committed(record.columns)
  }

  /// A table of a write transaction.
  init(_ table: MutableTable) {
    id = table.id
    rowCount = Int(clamping: table.tree.rowCount)
    schema = table.schema
    rows = .changing(table.tree)
    indexes = .changing(table)
  }

  @inline(__always)
  private func reading<Result>(
    _ body: () throws(EngineError) -> Result
  ) throws(EngineError) -> Result {
    try rows.reader.reading { _ throws(EngineError) in try body() }
  }
}

// MARK: rows

extension _OpenTable {
  @usableFromInline
  func keys() throws(EngineError) -> [Int64] {
    try rows.reader.reading { section throws(EngineError) in
      var keys: [Int64] = []
      keys.reserveCapacity(min(rowCount, 1 << 24))
      try rows.appendKeys(to: &keys, section)
      return keys
    }
  }

  @usableFromInline
  func firstKey() throws(EngineError) -> Int64? {
    try rows.reader.reading { section throws(EngineError) in try rows.firstKey(section) }
  }

  @usableFromInline
  func contains(_ key: Int64) throws(EngineError) -> Bool {
    try reading { () throws(EngineError) in try rows.contains(key) }
  }

  @usableFromInline
  func row(_ key: Int64) throws(EngineError) -> [Value]? {
    try reading { () throws(EngineError) in try rows.row(key) }
  }

  @usableFromInline
  func value(_ key: Int64, _ column: String) throws(EngineError) -> Value? {
    let index = try schema.column(named: column)
    return try reading { () throws(EngineError) in try rows.value(key, index) }
  }
}

// MARK: indexes

extension _OpenTable {
  private func pairs(_ column: Int) -> OpenPairs {
    switch indexes {
    case .committed(let columns):
      let index = columns[column].index
      return .committed(
        KeyPairTree(
          reader: rows.reader, root: index.root, level: index.level, newest: rows.newest,
          ofWords: schema.columns[column].isFullText))
    case .changing(let table): return .changing(table.index(column))
    }
  }

  private func searchIndex(
    _ name: String
  ) throws(EngineError) -> SearchIndex<OpenPairs, OpenRows> {
    try searchIndex(try schema.column(named: name))
  }

  private func searchIndex(
    _ column: Int
  ) throws(EngineError) -> SearchIndex<OpenPairs, OpenRows> {
    try schema.checkSearched(column)
    return SearchIndex(
      pairs: pairs(column), rows: rows, column: column, layout: rows.shape.columns[column])
  }

  private func linkIndex(_ name: String, to target: String) throws(EngineError) -> OpenPairs {
    pairs(try schema.linkColumn(name, to: target))
  }

  @usableFromInline
  func keys(_ column: String, equalTo value: Value) throws(EngineError) -> [Int64] {
    try reading { () throws(EngineError) in try searchIndex(column).keys(equalTo: value) }
  }

  @usableFromInline
  func keys(_ column: String, matching search: WordSearch) throws(EngineError) -> [Int64] {
    let column = try schema.column(named: column)
    try schema.checkFullText(column)
    guard search.isIndexable else {
      throw EngineError(
        code: .schemaMismatch,
        message: "a search in a full-text index requires a word, and this one only excludes some; "
          + "look at every row")
    }
    return try reading { () throws(EngineError) in
      if case .changing(let table) = indexes { try table.index(column).putWaiting() }
      return try WordIndex(pairs: pairs(column), rows: rows, column: column).keys(
        matching: search)
    }
  }

  @usableFromInline
  func firstKey(_ column: String, equalTo value: Value) throws(EngineError) -> Int64? {
    try reading { () throws(EngineError) in try searchIndex(column).firstKey(equalTo: value) }
  }

  func firstKey(_ column: Int, equalTo value: Value) throws(EngineError) -> Int64? {
    try reading { () throws(EngineError) in try searchIndex(column).firstKey(equalTo: value) }
  }

  @usableFromInline
  func keys(
    _ column: String, between lower: Value, and upper: Value
  ) throws(EngineError) -> [Int64] {
    try reading { () throws(EngineError) in
      try searchIndex(column).keys(between: lower, and: upper)
    }
  }

  @usableFromInline
  func count(
    _ column: String, between lower: Value, and upper: Value
  ) throws(EngineError) -> Int {
    try reading { () throws(EngineError) in
      try searchIndex(column).count(between: lower, and: upper)
    }
  }

  @usableFromInline
  func backlinks(
    to key: Int64, in target: String, _ column: String
  ) throws(EngineError) -> [Backlink] {
    try reading { () throws(EngineError) in
      try linkIndex(column, to: target).backlinks(to: key)
    }
  }

  @usableFromInline
  func backlinkCount(
    to key: Int64, in target: String, _ column: String
  ) throws(EngineError) -> Int {
    try reading { () throws(EngineError) in
      try linkIndex(column, to: target).backlinkCount(to: key)
    }
  }
}

// MARK: collections

extension _OpenTable {
  /// Calls `body` with the collection that a path names.
  private func reading<Result>(
    _ path: CollectionPath, _ kinds: [CollectionKind] = CollectionKind.any,
    _ body: (CollectionContent) throws(EngineError) -> Result
  ) throws(EngineError) -> Result {
    let column = try path.column(in: schema, kinds)
    return try reading { () throws(EngineError) in
      guard let content = try rows.collection(path.key, column) else { throw path.notFound() }
      return try body(content)
    }
  }

  @usableFromInline
  func count(of path: CollectionPath) throws(EngineError) -> Int {
    try reading(path) { $0.count }
  }

  @usableFromInline
  func element(at index: Int, of path: CollectionPath) throws(EngineError) -> Value {
    try reading(path) { content throws(EngineError) in
      try path.checkIndex(index, count: content.count)
      return try content.element(at: index)
    }
  }

  @usableFromInline
  func contains(_ value: Value, in path: CollectionPath) throws(EngineError) -> Bool {
    try reading(path, [.set]) { content throws(EngineError) in
      try content.position(of: value).isThere
    }
  }

  @usableFromInline
  func value(forKey key: String, in path: CollectionPath) throws(EngineError) -> Value? {
    try reading(path, [.dictionary]) { content throws(EngineError) in
      let (index, isThere) = try content.position(ofKey: key)
      return isThere ? try content.element(at: index) : nil
    }
  }

  @usableFromInline
  func forEach(
    in path: CollectionPath, _ body: (String?, Value) throws(EngineError) -> Void
  ) throws(EngineError) {
    try reading(path) { content throws(EngineError) in
      try content.forEachElement { key, value throws(EngineError) in
        try rows.reader.mapping.checkPages()
        try body(key, value)
      }
    }
  }
}
