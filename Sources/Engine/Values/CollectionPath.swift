// CollectionPath.swift: names one collection of one row.

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
