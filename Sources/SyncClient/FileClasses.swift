// FileClasses.swift: the classes of a file in one version or transaction, and the targets of
// columns: used to find the owners of embedded objects, and the links to deleted ones. Invariant:
// cached as long as the tables do not change.

import Engine
import ObjectDatabase
import SyncCore

/// A column whose links lead to a class.
package struct LinkColumn: Sendable {
  package let table: String
  package let column: String
  package let position: Int
  package let kind: CollectionKind
}

/// A class of a file.
package final class FileClass: Sendable {
  package let name: SyncText
  package let table: TableSchema
  package let primaryKey: Int?
  package let isEmbedded: Bool
  /// The values of a new row before any is set.
  package let emptyRow: [Value]
  /// The name of each column.
  package let names: [SyncText]
  /// Where links lead to its objects.
  package let linkers: [LinkColumn]

  fileprivate init(_ described: RecordedClass, _ linkers: [LinkColumn]) {
    self.linkers = linkers
    table = described.table
    name = SyncText(table.name)
    primaryKey = described.primaryKey
    emptyRow = described.emptyRow
    isEmbedded = described.isEmbedded
    names = table.columns.map { SyncText($0.name) }
  }

  /// The position of a column.
  /// - Throws: `EngineError` with code `.noSuchColumn`.
  package func position(of column: String) throws(EngineError) -> Int {
    guard let position = table.columns.firstIndex(where: { $0.name == column }) else {
      throw EngineError(
        code: .noSuchColumn, message: "table \(table.name) has no column \"\(column)\"")
    }
    return position
  }
}

/// The classes of a file.
package final class FileClasses: Sendable {
  private let tables: [TableSchema]
  private let classes: [String: FileClass]

  /// Reads them.
  /// - Throws: `EngineError` with code `.corrupted`.
  package init(_ source: some ReadableVersion) throws(EngineError) {
    tables = source.tables
    let all = try RecordedClass.all(source)
    var linkers: [String: [LinkColumn]] = [:]
    for described in all {
      for (position, column) in described.table.columns.enumerated() {
        guard let target = column.target else { continue }
        linkers[target, default: []].append(
          LinkColumn(
            table: described.table.name, column: column.name, position: position,
            kind: column.collection))
      }
    }
    var classes: [String: FileClass] = [:]
    for described in all {
      classes[described.table.name] = FileClass(described, linkers[described.table.name] ?? [])
    }
    self.classes = classes
  }

  /// Whether a version has the same tables.
  package func fit(_ source: some ReadableVersion) -> Bool { tables == source.tables }

  /// By name ascending.
  package var all: [FileClass] { classes.values.sorted { $0.name < $1.name } }

  /// A class.
  /// - Throws: `EngineError` with code `.noSuchTable`.
  package func named(_ name: String) throws(EngineError) -> FileClass {
    guard let found = classes[name] else {
      throw EngineError(code: .noSuchTable, message: "the file has no class \(name)")
    }
    return found
  }

  /// A class that synchronization names; nil when the file has none.
  package func named(_ name: SyncText) -> FileClass? { classes[name.description] }
}
