// SchemaUpdate+Rows.swift: the effect of a schema change on existing rows: their values where their
// type cannot read zero, and the conditions checked before the commit. Invariants: after a
// migration every embedded object has exactly one owner, and every value of an enumeration is one
// of its cases; otherwise the file is unchanged, and the error names keys.

import Engine

/// The values of existing rows in new columns, where their type cannot read zero or empty.
struct StoredDefaults {
  private var values: [String: [String: Value]] = [:]

  /// None.
  init() {}

  /// Collects those of the classes.
  /// - Throws: `Realm.Error` with code `.schemaMismatch` when a class's default is not readable
  ///   either.
  init(
    _ differences: [SchemaDifference], _ infos: [ClassInfo], _ core: _RealmCore
  ) throws(Realm.Error) {
    for difference in differences {
      let column: ColumnSchema
      switch difference.change {
      case .addColumn(let new), .replaceColumn(let new), .convertColumn(let new): column = new
      default: continue
      }
      guard let info = infos.first(where: { $0.name == difference.className }),
        let number = info.properties.firstIndex(where: { $0.columnName == column.name }),
        let narrow = info.narrow[number], !column.isOptional,
        !info.fits(DynamicValue.zero(column.type), number, core)
      else { continue }
      let value =
        column.collection == .none
        ? info.fields[number].plainValue(of: info.type.init()) : narrow._default()._plainValue
      guard let value, info.fits(value, number, core) else {
        throw Realm.Error(
          .schemaMismatch,
          "\(info.name).\(info.properties[number].name) cannot hold zero or empty, nor its default;"
            + " give it a default that it can hold, or make it optional")
      }
      values[info.name, default: [:]][column.name] = value
    }
  }

  /// The value, where it is not zero or empty.
  func known(_ column: ColumnSchema, in name: String) -> Value? { values[name]?[column.name] }

  /// The value.
  func value(of column: ColumnSchema, in name: String) -> Value {
    known(column, in: name) ?? DynamicValue.zero(column.type)
  }
}

/// The columns whose links lead to a class.
struct OwnerColumns {
  private let target: String
  private let columns: [(table: String, column: String)]

  init(of target: String, _ version: some ReadableVersion) {
    self.target = target
    columns = version.tables.flatMap { table in
      table.columns.filter { $0.type == .link && $0.target == target }.map {
        (table.name, $0.name)
      }
    }
  }

  /// How many links lead to a row.
  func count(_ key: Int64, _ version: some ReadableVersion) throws(EngineError) -> Int {
    var count = 0
    for (table, column) in columns {
      count += try version.backlinkCount(to: key, in: target, from: table, column: column)
    }
    return count
  }
}

/// The embedded objects in columns of the file: they go with their column.
struct OwnedColumns {
  private let file: FileSchema
  private let infos: [ClassInfo]

  init(_ file: FileSchema, _ infos: [ClassInfo]) {
    self.file = file
    self.infos = infos
  }

  /// The class of the embedded objects in a column; nil when there are none, or when they become
  /// independent.
  private func embedded(_ column: String, of name: String) -> ClassInfo? {
    guard let schema = file.classes[name]?.table.columns.first(where: { $0.name == column }),
      let target = schema.target, file.classes[target]?.record.isEmbedded == true
    else { return nil }
    return infos.first { $0.name == target && $0.isEmbedded }
  }

  /// The embedded objects in a column.
  func children(
    in column: String, of name: String, _ write: WriteTransaction
  ) throws(EngineError) -> [(key: Int64, info: ClassInfo)] {
    guard let info = embedded(column, of: name) else { return [] }
    var children: [(key: Int64, info: ClassInfo)] = []
    for key in try write.keys(of: name) {
      let value = try write.value(in: name, key: key, column: column)
      children += (value?.linkedKeys ?? []).map { ($0, info) }
    }
    return children
  }

  /// Those in columns that become others.
  func children(
    of differences: [SchemaDifference], _ write: WriteTransaction
  ) throws(EngineError) -> [(key: Int64, info: ClassInfo)] {
    var children: [(key: Int64, info: ClassInfo)] = []
    for difference in differences {
      guard case .replaceColumn(let column) = difference.change else { continue }
      children += try self.children(in: column.name, of: difference.className, write)
    }
    return children
  }
}

extension SchemaUpdate {
  /// How many keys a message lists.
  private static let keyCountMax = 10

  private static func text(_ keys: [Int64]) -> String {
    keys.prefix(keyCountMax).map { "\($0)" }.joined(separator: ", ")
      + (keys.count > keyCountMax ? ", …" : "")
  }

  /// Checks that every object of the embedded classes among these has exactly one owner.
  /// - Throws: `Realm.Error` with code `.schemaMismatch`, with numbers and keys of the others.
  /// - Complexity: O(embedded objects × log links).
  static func checkOwners(
    _ infos: [ClassInfo], _ write: WriteTransaction
  ) throws(Realm.Error) {
    for info in infos where info.isEmbedded {
      var (total, ownerless, shared) = (0, [Int64](), [Int64]())
      try translating { () throws(EngineError) in
        let owners = OwnerColumns(of: info.name, write)
        for key in try write.keys(of: info.name) {
          total += 1
          let count = try owners.count(key, write)
          if count == 0 { ownerless.append(key) }
          if count > 1 { shared.append(key) }
        }
      }
      guard !ownerless.isEmpty || !shared.isEmpty else { continue }
      throw Realm.Error(
        .schemaMismatch,
        "an embedded object has exactly one owner; of \(total) objects of \(info.name) "
          + "\(shared.count) have several"
          + (shared.isEmpty ? "" : " (keys \(text(shared)))")
          + " and \(ownerless.count) have none"
          + (ownerless.isEmpty ? "" : " (keys \(text(ownerless)))")
          + "; in the migrationBlock set a copy where a second owner has the object, and delete "
          + "those without an owner")
    }
  }

  /// Checks that enumerations and small integers hold only values of their type.
  /// - Throws: `Realm.Error` with code `.schemaMismatch`, with class, property, value and key.
  /// - Complexity: O(objects × such properties).
  static func checkValues(
    _ infos: [ClassInfo], _ core: _RealmCore, _ write: WriteTransaction
  ) throws(Realm.Error) {
    for info in infos {
      for (number, property) in info.properties.enumerated() {
        // An unknown case of an optional enumeration is nil.
        guard let narrow = info.narrow[number],
          !(property.isOptional && _PropertyShape.isNilWhereUnknown(narrow))
        else { continue }
        var (bad, first) = ([Int64](), Value.null)
        try translating { () throws(EngineError) in
          for key in try write.keys(of: info.name) {
            let value = try write.value(in: info.name, key: key, column: property.columnName)
            guard let value, !info.fits(value, number, core) else { continue }
            if bad.isEmpty { first = value }
            bad.append(key)
          }
        }
        guard !bad.isEmpty else { continue }
        throw Realm.Error(
          .schemaMismatch,
          "\(info.name).\(property.name) of \(bad.count) objects (keys \(text(bad))) holds what "
            + "\(narrow) cannot read, first \(DynamicValue.text(of: first)); give them values of "
            + "it in a migrationBlock, or make the property optional")
      }
    }
  }
}
