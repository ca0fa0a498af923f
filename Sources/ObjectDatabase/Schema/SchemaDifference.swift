// SchemaDifference.swift: how a file's schema differs from the program's, each difference in words.

import Engine

/// One difference between a file's schema and the program's.
struct SchemaDifference {
  /// The requirement for applying a difference, the least first.
  enum Need: Int, Comparable {
    /// Applied at any open.
    case nothing
    /// Applied when the schema version rises.
    case higherVersion
    /// Applied when the schema version rises and there is a migration block.
    case migrationBlock

    static func < (left: Need, right: Need) -> Bool { left.rawValue < right.rawValue }
  }

  /// The change that resolves the difference.
  enum Change {
    case addClass(ClassInfo)
    case setRecord(ClassInfo)
    case addColumn(ColumnSchema)
    case removeColumn(String)
    /// Another type: the values are dropped, and the migration block sets new ones.
    case replaceColumn(ColumnSchema)
    /// The same type, with nullability added or removed: the values are kept.
    case convertColumn(ColumnSchema)
    case addIndex(String)
    case addFullTextIndex(String)
    case removeIndex(String)
  }

  let className: String
  let need: Need
  let change: Change
  let text: String

  /// The differences, in the order of the classes and their properties.
  static func all(
    between file: FileSchema, and infos: [ClassInfo]
  ) -> [SchemaDifference] {
    infos.flatMap { info -> [SchemaDifference] in
      guard let (table, record) = file.classes[info.name] else {
        return [
          SchemaDifference(
            className: info.name, need: .nothing, change: .addClass(info),
            text: "Class '\(info.name)' has been added.")
        ]
      }
      return columns(info, table, keepsOthers: file.isRecorded) + records(info, record)
    }
  }

  private static func records(_ info: ClassInfo, _ record: ClassRecord) -> [SchemaDifference] {
    guard record.nextKey >= 0 else {
      // A table that this layer did not make: it is taken over when the columns fit.
      return [
        SchemaDifference(
          className: info.name, need: .nothing, change: .setRecord(info),
          text: "Class '\(info.name)' has a table that another program made.")
      ]
    }
    let key = info.primaryKey.map { info.properties[$0].columnName }
    var texts: [String] = []
    if record.isEmbedded != info.isEmbedded {
      texts.append(
        "Class '\(info.name)' has been changed from "
          + (info.isEmbedded ? "top-level to embedded." : "embedded to top-level."))
    }
    if record.primaryKey != key {
      let what =
        switch (record.primaryKey, key) {
        case (.some(let old), .some(let new)): "changed from '\(old)' to '\(new)'."
        case (.none, let new): "been added: '\(new ?? "")'."
        case (let old, .none): "been removed: '\(old ?? "")'."
        }
      texts.append("Primary Key for class '\(info.name)' has \(what)")
    }
    return texts.map {
      SchemaDifference(
        className: info.name, need: .migrationBlock, change: .setRecord(info), text: $0)
    }
  }

  /// The differences of a class; with `keepsOthers`, columns without a property belong to other
  /// programs, and are not a difference.
  private static func columns(
    _ info: ClassInfo, _ table: TableSchema, keepsOthers: Bool
  ) -> [SchemaDifference] {
    var found: [SchemaDifference] = []
    for property in info.properties {
      guard let column = property.column else { continue }
      guard let old = table.columns.first(where: { $0.name == column.name }) else {
        found.append(
          SchemaDifference(
            className: info.name, need: .higherVersion, change: .addColumn(column),
            text: "Property '\(info.name).\(property.name)' has been added."))
        continue
      }
      found += changes(info, property, from: old, to: column)
    }
    guard !keepsOthers else { return found }
    for old in table.columns where !info.properties.contains(where: { $0.columnName == old.name }) {
      found.append(
        SchemaDifference(
          className: info.name, need: .migrationBlock, change: .removeColumn(old.name),
          text: "Property '\(info.name).\(old.name)' has been removed."))
    }
    return found
  }

  private static func changes(
    _ info: ClassInfo, _ property: Property, from old: ColumnSchema, to new: ColumnSchema
  ) -> [SchemaDifference] {
    let place = "Property '\(info.name).\(property.name)'"
    func difference(_ need: Need, _ change: Change, _ text: String) -> [SchemaDifference] {
      [SchemaDifference(className: info.name, need: need, change: change, text: text)]
    }
    guard old.type == new.type, old.collection == new.collection, old.target == new.target else {
      let before = Property(old, isPrimaryKey: false).typeText
      return difference(
        .migrationBlock, .replaceColumn(new),
        "\(place) has been changed from '\(before)' to '\(property.typeText)'.")
    }
    guard old.isOptional == new.isOptional else {
      return new.isOptional
        ? difference(
          .higherVersion, .convertColumn(new), "\(place) has been made optional.")
        : difference(.migrationBlock, .convertColumn(new), "\(place) has been made required.")
    }
    // A unique index is added and removed with the primary key.
    guard old.isUnique == new.isUnique, old.indexMode != new.indexMode else { return [] }
    return switch new.indexMode {
    case .general:
      difference(.nothing, .addIndex(new.name), "\(place) has been made indexed.")
    case .fullText:
      difference(
        .nothing, .addFullTextIndex(new.name), "\(place) has been given a full-text index.")
    case .none: difference(.nothing, .removeIndex(new.name), "\(place) has been made unindexed.")
    }
  }
}

extension ColumnSchema {
  /// The index of the column.
  var indexMode: SearchIndexMode {
    isFullText ? .fullText : isIndexed || isUnique ? .general : .none
  }
}

extension WriteTransaction {
  /// Gives a column an index of this kind, or none, in place of the one it has.
  func setIndex(
    _ mode: SearchIndexMode, of column: String, in name: String
  ) throws(EngineError) {
    let had = try schema(of: name).columns.first { $0.name == column }?.indexMode ?? .none
    guard had != mode else { return }
    if had != .none { try removeIndex(from: column, in: name) }
    switch mode {
    case .none: break
    case .general: try addIndex(to: column, in: name)
    case .fullText: try addFullTextIndex(to: column, in: name)
    }
  }
}
