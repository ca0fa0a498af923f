// CollectionPath.swift: names one collection of one row, and reads it in a snapshot.

/// A collection: the column of a row that holds it.
public struct CollectionPath: Hashable, Sendable, CustomStringConvertible {
  /// The table.
  public var table: String
  /// The key of the row.
  public var key: Int64
  /// The column.
  public var column: String

  /// Names a collection.
  /// - Parameters:
  ///   - table: The table.
  ///   - key: The key of the row.
  ///   - column: The column, whose collection is not `none`.
  public init(table: String, key: Int64, column: String) {
    self.table = table
    self.key = key
    self.column = column
  }

  /// Table, key and column.
  public var description: String { "\(table)[\(key)].\(column)" }

  /// - Throws: `EngineError` with code `.noSuchColumn`, or `.schemaMismatch` when the column has
  ///   another kind of collection or none.
  func column(in schema: TableSchema, _ kinds: [CollectionKind]) throws(EngineError) -> Int {
    let index = try schema.column(named: column)
    let kind = schema.columns[index].collection
    guard kinds.contains(kind) else {
      throw EngineError(
        code: .schemaMismatch,
        message: "\(self) has collection=\(kind), the call is for "
          + kinds.map { "\($0)" }.joined(separator: " and "))
    }
    return index
  }

  func notFound() -> EngineError {
    EngineError(code: .keyNotFound, message: "no row has key \(key) in \(table)")
  }

  func checkIndex(_ index: Int, count: Int) throws(EngineError) {
    guard index >= 0, index < count else {
      throw EngineError(
        code: .indexOutOfRange, message: "index=\(index) of \(self), which has count=\(count)")
    }
  }
}

extension CollectionKind {
  static let any: [CollectionKind] = [.list, .set, .dictionary]
}

/// Reads of collections, the same for snapshots and write transactions.
extension CollectionContent {
  func value(forKey key: String) throws(EngineError) -> Value? {
    let (index, isThere) = try position(ofKey: key)
    return isThere ? try element(at: index) : nil
  }

  func element(at index: Int, of path: CollectionPath) throws(EngineError) -> Value {
    try path.checkIndex(index, count: count)
    return try element(at: index)
  }
}

extension Snapshot {
  private func content(
    _ path: CollectionPath, _ kinds: [CollectionKind]
  ) throws(EngineError) -> CollectionContent {
    try check()
    let record = try state.group.table(named: path.table)
    let column = try path.column(in: record.schema, kinds)
    guard let (leaf, index) = try tree(record).find(path.key) else { throw path.notFound() }
    return try CollectionContent(
      state.reader, record.shape.columns[column], leaf.strings(column, record.shape), index,
      newest: state.version)
  }

  /// The number of elements of a collection.
  /// - Throws: `EngineError` with code `.keyNotFound`, `.noSuchTable`, `.noSuchColumn`,
  ///   `.schemaMismatch`, `.corrupted` or `.closed`; so do the other reads.
  /// - Complexity: O(log rows).
  public func count(of path: CollectionPath) throws(EngineError) -> Int {
    try reading { () throws(EngineError) in
      try content(path, CollectionKind.any).count
    }
  }

  /// An element of a collection; of a dictionary the value.
  /// - Throws: As `count(of:)`, and `.indexOutOfRange`.
  /// - Complexity: O(log elements).
  public func element(at index: Int, of path: CollectionPath) throws(EngineError) -> Value {
    try reading { () throws(EngineError) in
      try content(path, CollectionKind.any).element(at: index, of: path)
    }
  }

  /// Whether a set has a value.
  /// - Complexity: O(log elements) descents.
  public func contains(_ value: Value, in path: CollectionPath) throws(EngineError) -> Bool {
    try reading { () throws(EngineError) in
      try content(path, [.set]).position(of: value).isThere
    }
  }

  /// What a dictionary has under a key, or nil.
  /// - Complexity: O(log entries) descents.
  public func value(forKey key: String, in path: CollectionPath) throws(EngineError) -> Value? {
    try reading { () throws(EngineError) in
      try content(path, [.dictionary]).value(forKey: key)
    }
  }

  /// Calls `body` with each element, in order; in a dictionary also with its key.
  /// - Throws: What `body` throws, or as `count(of:)`.
  public func forEach(
    in path: CollectionPath, _ body: (String?, Value) throws(EngineError) -> Void
  ) throws(EngineError) {
    try reading { () throws(EngineError) in
      try content(path, CollectionKind.any).forEachElement { key, value throws(EngineError) in
        try state.reader.mapping.checkPages()
        try body(key, value)
      }
    }
  }

  /// One value of a row, or nil when there is no such row.
  /// - Throws: `EngineError` with code `.noSuchTable`, `.noSuchColumn`, `.corrupted` or `.closed`.
  /// - Complexity: O(log rows).
  public func value(
    in table: String, key: Int64, column: String
  ) throws(EngineError) -> Value? {
    try check()
    let record = try state.group.table(named: table)
    let index = try record.schema.column(named: column)
    return try reading { () throws(EngineError) in try tree(record).value(key, index) }
  }

  /// The number by which mixed values name a table.
  /// - Throws: `EngineError` with code `.noSuchTable` or `.closed`.
  public func tableID(of name: String) throws(EngineError) -> UInt32 {
    try check()
    return try state.group.table(named: name).id
  }
}
