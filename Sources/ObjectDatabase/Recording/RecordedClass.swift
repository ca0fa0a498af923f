// RecordedClass.swift: the classes of a file, for code that records their rows or changes them
// instead of realms.

import Engine

/// The classes of a file, for recorders and for code that applies changes from elsewhere.
package struct RecordedClass: Sendable, Equatable {
  /// Name and columns.
  package let table: TableSchema
  /// The position of the column of the primary key; nil without one.
  package let primaryKey: Int?
  /// Whether its objects are owned by others.
  package let isEmbedded: Bool

  /// All classes, by name ascending.
  /// - Throws: `EngineError` with code `.corrupted`.
  /// - Complexity: O(classes * log(classes)).
  package static func all(_ source: some ReadableVersion) throws(EngineError) -> [RecordedClass] {
    let file = try FileSchema(source)
    return file.classes.values.sorted { $0.table.name < $1.table.name }.map { table, record in
      RecordedClass(
        table: table,
        primaryKey: record.primaryKey.flatMap { name in
          table.columns.firstIndex { $0.name == name }
        },
        isEmbedded: record.isEmbedded)
    }
  }

  /// The values of a new row before any is set.
  package var emptyRow: [Value] { table.columns.map { DynamicValue.empty($0) } }

  /// The value of a column that is not a collection in place of null.
  package static func empty(_ column: ColumnSchema) -> Value { DynamicValue.empty(column) }

  /// The key for the next object of a class.
  /// - Throws: `EngineError`, with code `.corrupted` when none is left.
  package static func nextKey(
    of table: String, _ write: WriteTransaction
  ) throws(EngineError) -> Int64 {
    try FileSchema.nextKey(of: table, write)
  }

  /// Sets the key for the next object of a class.
  package static func setNextKey(
    _ key: Int64, of table: String, _ write: WriteTransaction
  ) throws(EngineError) {
    try FileSchema.setNextKey(key, of: table, write)
  }
}
