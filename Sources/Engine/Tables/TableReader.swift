// TableReader.swift: a table of a snapshot, read in place: no array of values, no allocation per
// row. Columns are looked up once, rows by key or by a scan (TableReader+Scan.swift).
// Invariants: the reader keeps its snapshot, so its mapping, alive; positions and columns carry the
// number of the reader that made them, and numbers are never given twice, so that a position is
// never used with another mapping.

import Synchronization

/// A Swift type that a column's values have.
public protocol ColumnElement: Sendable {
  /// The types of columns that can be read as this type.
  static var columnTypes: [ColumnType] { get }
}

extension Int64: ColumnElement {
  /// Integers, and links as the keys of what they lead to.
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

/// The place of a row in a snapshot; good for the reader that found it.
public struct RowPosition: Sendable {
  let leaf: LeafView
  let index: Int
  fileprivate let reader: UInt64

  /// The row's key.
  public var key: Int64 { leaf.keys[index] }
}

private let readersMade = Atomic<UInt64>(0)

/// A table of a snapshot, read in place.
///
/// It holds its snapshot. After the snapshot's release every call throws `.closed`; as with the
/// snapshot, no thread may be reading during the release. Any thread may use it.
public final class TableReader: Sendable {
  let snapshot: Snapshot
  let tree: BPlusTree
  private let schema: TableSchema
  private let number: UInt64
  /// Keeps what positions and columns lead to readable, in an encrypted file.
  private let hold: ReadHold?
  /// The number of rows.
  public let rowCount: Int

  init(_ snapshot: Snapshot, _ table: TableRecord, _ tree: BPlusTree) {
    self.snapshot = snapshot
    self.tree = tree
    hold = tree.reader.holdReading()
    schema = table.schema
    rowCount = Int(clamping: table.rowCount)
    number = readersMade.add(1, ordering: .relaxed).newValue
  }

  /// Looks a column up.
  /// - Parameters:
  ///   - name: The column's name.
  ///   - type: What its values are read as: `Int64`, `Bool`, `Double`, `Float` or `String`.
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

  @inline(__always)
  private func check<Element>(
    _ position: RowPosition, _ column: TableColumn<Element>
  ) throws(EngineError) {
    precondition(position.reader == number, "a position belongs to the reader that found it")
    try check(column)
  }

  @inline(__always)
  func position(_ leaf: LeafView, _ index: Int) -> RowPosition {
    RowPosition(leaf: leaf, index: index, reader: number)
  }

  /// Finds a row by its key.
  /// - Returns: The row's place, or nil when no row has the key.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(log rows).
  public func find(_ key: Int64) throws(EngineError) -> RowPosition? {
    try snapshot.check()
    guard let (leaf, index) = try tree.find(key) else { return nil }
    return position(leaf, index)
  }

  /// Whether a row has no value in a column.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(1).
  public func isNull<Element>(
    at position: RowPosition, _ column: TableColumn<Element>
  ) throws(EngineError) -> Bool {
    try check(position, column)
    return try position.leaf.nulls(column.index, tree.shape)[position.index] != 0
  }

  /// An integer; any where there is no value.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(1).
  public func int(
    at position: RowPosition, _ column: TableColumn<Int64>
  ) throws(EngineError) -> Int64 {
    try check(position, column)
    return try position.leaf.integers(column.index, tree.shape)[position.index]
  }

  /// Whether a row's value is true; either where there is no value.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(1).
  public func bool(
    at position: RowPosition, _ column: TableColumn<Bool>
  ) throws(EngineError) -> Bool {
    try check(position, column)
    return try position.leaf.bools(column.index, tree.shape)[position.index] != 0
  }

  /// A 64-bit floating-point number; any where there is no value.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(1).
  public func double(
    at position: RowPosition, _ column: TableColumn<Double>
  ) throws(EngineError) -> Double {
    try check(position, column)
    return try position.leaf.doubles(column.index, tree.shape)[position.index]
  }

  /// A 32-bit floating-point number; any where there is no value.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(1).
  public func float(
    at position: RowPosition, _ column: TableColumn<Float>
  ) throws(EngineError) -> Float {
    try check(position, column)
    return try position.leaf.floats(column.index, tree.shape)[position.index]
  }

  /// A text; any where there is no value.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(bytes).
  public func string(
    at position: RowPosition, _ column: TableColumn<String>
  ) throws(EngineError) -> String {
    guard let string = try bytes(at: position, column).string else {
      throw .corrupted("string \(position.index) is not UTF-8", at: position.leaf.node.ref)
    }
    return string
  }

  func bytes(
    at position: RowPosition, _ column: TableColumn<String>
  ) throws(EngineError) -> RawBytes {
    try check(position, column)
    let strings = try position.leaf.strings(column.index, tree.shape)
    return try tree.reader.stringBytes(strings, position.index, newest: tree.newest)
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
