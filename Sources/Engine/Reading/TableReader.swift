// TableReader.swift: a table of a snapshot, read in place: no array of values, no allocation per
// row. Columns are looked up once, rows by key or by a scan (TableReader+Scan.swift). Invariants:
// the reader keeps its snapshot, so its mapping, alive; positions and columns carry the number of
// the reader that made them, and numbers are never reused, so that a position is never used with
// another mapping. In an encrypted file a position's view is valid only in the call that made it:
// its row is found again by its key, so no reader keeps plaintext in memory.

import Synchronization

/// A Swift type that a column's values have.
public protocol ColumnElement: Sendable {
  /// The types of columns that can be read as this type.
  static var columnTypes: [ColumnType] { get }
}

extension Int64: ColumnElement {
  /// Integers, and links as the keys of their targets.
  public static var columnTypes: [ColumnType] { [.int, .link] }
}

extension Bool: ColumnElement {
  /// True or false.
  public static var columnTypes: [ColumnType] { [.bool] }
}

extension Double: ColumnElement {
  /// 64-bit floating-point numbers.
  public static var columnTypes: [ColumnType] { [.double] }
}

extension Float: ColumnElement {
  /// 32-bit floating-point numbers.
  public static var columnTypes: [ColumnType] { [.float] }
}

extension String: ColumnElement {
  /// Text.
  public static var columnTypes: [ColumnType] { [.string] }
}

/// A column of a table, looked up by its reader.
public struct TableColumn<Element: ColumnElement>: Sendable {
  let index: Int
  fileprivate let reader: UInt64
}

/// The place of a row in a snapshot; valid for the reader that found it.
public struct RowPosition: Sendable {
  fileprivate let leaf: LeafView
  fileprivate let index: Int
  fileprivate let reader: UInt64
  /// That of the leaf's sector in an encrypted file, which may evict the leaf.
  fileprivate let mark: UInt32
  /// The row's key.
  public let key: Int64
}

private let readersMade = Atomic<UInt64>(0)

/// A table of a snapshot, read in place.
///
/// It holds its snapshot. After the snapshot's release every call throws `.closed`; as with the
/// snapshot, no thread may be reading during the release. Any thread may use it.
public final class TableReader: Sendable {
  let snapshot: Snapshot
  let tree: BPlusTree
  let isSealed: Bool
  let schema: TableSchema
  let number: UInt64
  /// The number of rows.
  public let rowCount: Int

  init(_ snapshot: Snapshot, _ table: TableRecord, _ tree: BPlusTree) {
    self.snapshot = snapshot
    self.tree = tree
    isSealed = tree.reader.cipher != nil
    schema = table.schema
    rowCount = Int(clamping: table.rowCount)
    number = readersMade.add(1, ordering: .relaxed).newValue
  }

  /// Looks up a column.
  /// - Parameters:
  ///   - name: The column's name.
  ///   - type: The type of its values: `Int64`, `Bool`, `Double`, `Float` or `String`.
  /// - Returns: The column, good for this reader.
  /// - Throws: `EngineError` with code `.noSuchColumn`, or `.schemaMismatch` when it has another
  ///   type or is a collection.
  /// - Complexity: O(columns).
  public func column<Element>(
    _ name: String, of type: Element.Type
  ) throws(EngineError) -> TableColumn<Element> {
    guard let index = schema.columns.firstIndex(where: { $0.name == name }) else {
      throw EngineError(
        code: .noSuchColumn,
        message: "table \(schema.name) has no column \"\(name)\"; it has "
          + schema.columns.map(\.name).joined(separator: ", "))
    }
    let column = schema.columns[index]
    guard Element.columnTypes.contains(column.type), column.collection == .none else {
      let collection = column.collection == .none ? "" : " (\(column.collection))"
      throw EngineError(
        code: .schemaMismatch,
        message: "\(name) of \(schema.name) is a column of type \(column.type)\(collection), "
          + "which is not read as \(Element.self)")
    }
    return TableColumn(index: index, reader: number)
  }

  /// A column of another reader would be another table's, or another version's.
  @inline(__always)
  func check<Element>(_ column: TableColumn<Element>) throws(EngineError) {
    precondition(column.reader == number, "a column belongs to the reader that looked it up")
    try snapshot.check()
  }

  /// Calls `body` with the leaf of a row, and the row's index in it.
  @inline(__always)
  func reading<Element, Result>(
    _ position: RowPosition, _ column: TableColumn<Element>,
    _ body: (LeafView, Int) throws(EngineError) -> Result
  ) throws(EngineError) -> Result {
    precondition(position.reader == number, "a position belongs to the reader that found it")
    try check(column)
    return try tree.reader.reading { _ throws(EngineError) in
      if !isSealed || tree.reader.holds(position.leaf.node, position.mark) {
        return try body(position.leaf, position.index)
      }
      guard let (leaf, index) = try tree.find(position.key) else {
        throw .corrupted("the row of key \(position.key) no longer exists")
      }
      return try body(leaf, index)
    }
  }

  @inline(__always)
  func position(_ leaf: LeafView, _ index: Int, key: Int64) -> RowPosition {
    RowPosition(
      leaf: leaf, index: index, reader: number,
      mark: isSealed ? tree.reader.mark(of: leaf.node) : 0, key: key)
  }

  /// Finds a row by its key.
  /// - Returns: The row's place, or nil when no row has the key.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(log rows).
  public func find(_ key: Int64) throws(EngineError) -> RowPosition? {
    try snapshot.check()
    return try tree.reader.reading { _ throws(EngineError) in
      guard let (leaf, index) = try tree.find(key) else { return nil }
      leaf.arrays.prefetch(row: index)
      return position(leaf, index, key: key)
    }
  }

  /// Whether a row has no value in a column.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(1).
  public func isNull<Element>(
    at position: RowPosition, _ column: TableColumn<Element>
  ) throws(EngineError) -> Bool {
    try reading(position, column) { leaf, row throws(EngineError) in
      try leaf.nulls(column.index, tree.shape)[row] != 0
    }
  }

  /// An integer; unspecified where there is no value.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(1).
  public func int(
    at position: RowPosition, _ column: TableColumn<Int64>
  ) throws(EngineError) -> Int64 {
    try reading(position, column) { leaf, row throws(EngineError) in
      try leaf.integers(column.index, tree.shape)[row]
    }
  }

  /// Whether a row's value is true; unspecified where there is no value.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(1).
  public func bool(
    at position: RowPosition, _ column: TableColumn<Bool>
  ) throws(EngineError) -> Bool {
    try reading(position, column) { leaf, row throws(EngineError) in
      try leaf.bools(column.index, tree.shape)[row] != 0
    }
  }

  /// A 64-bit floating-point number; unspecified where there is no value.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(1).
  public func double(
    at position: RowPosition, _ column: TableColumn<Double>
  ) throws(EngineError) -> Double {
    try reading(position, column) { leaf, row throws(EngineError) in
      try Double.numbers(of: column.index, in: leaf, tree.shape)[row]
    }
  }

  /// A 32-bit floating-point number; unspecified where there is no value.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(1).
  public func float(
    at position: RowPosition, _ column: TableColumn<Float>
  ) throws(EngineError) -> Float {
    try reading(position, column) { leaf, row throws(EngineError) in
      try Float.numbers(of: column.index, in: leaf, tree.shape)[row]
    }
  }

  /// A text; unspecified where there is no value.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(bytes).
  public func string(
    at position: RowPosition, _ column: TableColumn<String>
  ) throws(EngineError) -> String {
    try reading(position, column) { leaf, row throws(EngineError) in
      guard let string = try bytes(leaf, row, column).string else {
        throw .corrupted("string \(row) is not UTF-8", at: leaf.node.ref)
      }
      return string
    }
  }

  @inline(__always)
  func bytes(
    _ leaf: LeafView, _ row: Int, _ column: TableColumn<String>
  ) throws(EngineError) -> RawBytes {
    let strings = try leaf.strings(column.index, tree.shape)
    return try tree.reader.stringBytes(strings, row, newest: tree.newest)
  }
}

extension Snapshot {
  /// Opens a table of this snapshot for reading in place.
  /// - Parameter table: The name of the table.
  /// - Returns: The reader; it holds the snapshot.
  /// - Throws: `EngineError` with code `.noSuchTable` or `.closed`.
  /// - Complexity: O(1).
  public func reader(for table: String) throws(EngineError) -> TableReader {
    try check()
    let record = try state.group.table(named: table)
    return TableReader(self, record, tree(record))
  }
}
