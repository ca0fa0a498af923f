// SchemaUpdate+Apply.swift: applies the differences to the engine's tables. The rows are checked
// afterwards in SchemaUpdate+Rows.swift. Order: tables first, without their columns, so that links
// in a cycle have target tables; then columns; then, after a migration block, removals; unique
// indexes last, since the block may be what makes the values of a new primary key distinct.

import Engine

extension SchemaUpdate {
  /// Applies everything but removals and primary keys.
  static func apply(
    _ differences: [SchemaDifference], _ infos: [ClassInfo], _ write: WriteTransaction,
    _ defaults: StoredDefaults
  ) throws(EngineError) {
    var added: [ClassInfo] = []
    for difference in differences {
      guard case .addClass(let info) = difference.change else { continue }
      try write.createTable(TableSchema(name: info.name, columns: []))
      added.append(info)
    }
    for info in added {
      for property in info.properties {
        guard var column = property.column else { continue }
        column.isUnique = false
        column.isIndexed = property.isIndexed
        try write.addColumn(column, to: info.name)
      }
    }
    for difference in differences { try apply(difference, write, defaults) }
  }

  private static func apply(
    _ difference: SchemaDifference, _ write: WriteTransaction, _ defaults: StoredDefaults
  ) throws(EngineError) {
    let name = difference.className
    switch difference.change {
    case .addClass, .removeColumn, .setRecord: break
    case .addColumn(var column):
      column.isUnique = false
      try write.addColumn(column, to: name)
      try fill(column, of: name, write, defaults)
    case .replaceColumn(var column):
      column.isUnique = false
      try write.removeColumn(column.name, from: name)
      try write.addColumn(column, to: name)
      try fill(column, of: name, write, defaults)
    case .convertColumn(let column):
      try convert(column, of: name, write, defaults.value(of: column, in: name))
    case .addIndex(let column): try write.setIndex(.general, of: column, in: name)
    case .addFullTextIndex(let column): try write.setIndex(.fullText, of: column, in: name)
    case .removeIndex(let column): try write.setIndex(.none, of: column, in: name)
    }
  }

  /// Sets existing rows to a value that their type can read, where that is not zero or empty.
  private static func fill(
    _ column: ColumnSchema, of name: String, _ write: WriteTransaction, _ defaults: StoredDefaults
  ) throws(EngineError) {
    guard column.collection == .none, let value = defaults.known(column, in: name) else { return }
    for key in try write.keys(of: name) {
      try write.set(value, in: name, key: key, column: column.name)
    }
  }

  private static let convertedSuffix = " converted"

  /// Makes a column nullable or required; nulls become `zero`.
  private static func convert(
    _ column: ColumnSchema, of name: String, _ write: WriteTransaction, _ zero: Value
  ) throws(EngineError) {
    var new = column
    new.name = String(column.name.prefix(200)) + convertedSuffix
    new.isUnique = false
    try write.addColumn(new, to: name)
    for key in try write.keys(of: name) {
      guard let value = try write.value(in: name, key: key, column: column.name) else { continue }
      let kept = column.isOptional ? value : DynamicValue.replacingNulls(in: value, by: zero)
      try write.set(kept, in: name, key: key, column: new.name)
    }
    try write.removeColumn(column.name, from: name)
    try write.renameColumn(new.name, in: name, to: column.name)
  }

  /// Removes the columns of removed properties, with the embedded objects in them, unless a
  /// migration renamed them.
  static func removeColumns(
    _ differences: [SchemaDifference], _ owned: OwnedColumns, _ core: _RealmCore,
    _ write: WriteTransaction
  ) throws(EngineError) {
    for difference in differences {
      guard case .removeColumn(let column) = difference.change else { continue }
      let schema = try write.schema(of: difference.className)
      guard schema.columns.contains(where: { $0.name == column }) else { continue }
      let children = try owned.children(in: column, of: difference.className, write)
      try write.removeColumn(column, from: difference.className)
      for (key, info) in children { try core.release(key, of: info, write) }
    }
  }

  /// Makes primary keys unique and writes the record of each class.
  /// - Throws: `EngineError` with code `.duplicateValue` when two objects have one primary key.
  static func finish(_ infos: [ClassInfo], _ write: WriteTransaction) throws(EngineError) {
    for info in infos {
      let key = info.primaryKey.map { info.properties[$0].columnName }
      for column in try write.schema(of: info.name).columns {
        if column.isUnique, column.name != key {
          try write.removeIndex(from: column.name, in: info.name)
          let wanted = info.properties.first { $0.columnName == column.name }?.column
          try write.setIndex(wanted?.indexMode ?? .none, of: column.name, in: info.name)
        }
        if column.name == key, !column.isUnique {
          if column.isFullText { try write.removeIndex(from: column.name, in: info.name) }
          try write.addIndex(to: column.name, in: info.name, isUnique: true)
        }
      }
      try FileSchema.setClass(
        info.name, primaryKey: key, isEmbedded: info.isEmbedded, write)
    }
  }
}
