// ObjectModel+Schema.swift: the model's classes, the effect of an open on the rows, and the
// content's hash. Like the rest of the model it follows docs/reference/object-database.md.

import Engine

extension ObjectModel {
  /// The columns of a class in a version of the program.
  static func columns(of name: String, version: UInt64) -> [ColumnSchema] {
    switch name {
    case ObjectClasses.address:
      [ColumnSchema(name: "city", type: .string), links("rooms", to: ObjectClasses.room)]
    case ObjectClasses.crate: [primaryKey, ColumnSchema(name: "content", type: .mixed)]
    case ObjectClasses.room:
      [
        ColumnSchema(name: "name", type: .string), ColumnSchema(name: "size", type: .int),
        link("chest", to: ObjectClasses.crate),
      ]
    case ObjectClasses.person:
      [
        primaryKey, ColumnSchema(name: version == 1 ? "name" : "fullName", type: .string),
        ColumnSchema(name: "age", type: .int), link("home", to: ObjectClasses.address),
        links("dogs", to: ObjectClasses.dog),
        ColumnSchema(name: "nicknames", type: .string, collection: .set),
        ColumnSchema(name: "scores", type: .int, collection: .dictionary),
      ]
    default:
      [
        primaryKey, ColumnSchema(name: "name", type: .string),
        ColumnSchema(name: "age", type: .int, isIndexed: true),
        link("owner", to: ObjectClasses.person), version == 1 ? weight : breed,
      ]
    }
  }

  private static var primaryKey: ColumnSchema {
    ColumnSchema(name: "_id", type: .int, isIndexed: true, isUnique: true)
  }
  private static var weight: ColumnSchema {
    ColumnSchema(name: "weight", type: .int, isOptional: true)
  }
  private static var breed: ColumnSchema { ColumnSchema(name: "breed", type: .string) }

  private static func link(_ name: String, to target: String) -> ColumnSchema {
    ColumnSchema(name: name, type: .link, target: target)
  }

  private static func links(_ name: String, to target: String) -> ColumnSchema {
    ColumnSchema(name: name, type: .link, collection: .list, target: target)
  }

  /// The value of a column that was never written.
  static func empty(_ column: ColumnSchema) -> Value {
    switch column.collection {
    case .list: return .list([])
    case .set: return .set([])
    case .dictionary: return .dictionary([])
    case .none: break
    }
    if column.isOptional || column.type == .mixed { return .null }
    return column.type == .string ? .string("") : .int(0)
  }

  private static let names = [
    ObjectClasses.address, ObjectClasses.crate, ObjectClasses.dog, ObjectClasses.person,
    ObjectClasses.room,
  ]

  // MARK: opening

  /// Applies a program's open.
  mutating func open(_ declaration: ObjectDeclaration) {
    guard let version else {
      makeClasses(declaration.schemaVersion, isNew: true)
      return
    }
    guard version < declaration.schemaVersion else { return }
    switch declaration.migration {
    case .none where declaration.deletesIfNeeded:
      makeClasses(declaration.schemaVersion, isNew: false)
    case .none: break
    case .empty: migrate(isFull: false)
    case .full: migrate(isFull: true)
    }
  }

  /// Makes all tables, starting with the object database's own two if they do not exist.
  private mutating func makeClasses(_ version: UInt64, isNew: Bool) {
    if isNew { nextTableID += 2 }
    // The table of collections stays, without its rows.
    classes = classes.filter { $0.key == Self.mixed }
    classes[Self.mixed]?.rows = [:]
    for name in Self.names {
      let schema = TableSchema(name: name, columns: Self.columns(of: name, version: version))
      classes[name] = Table(schema: schema, id: nextTableID)
      nextTableID += 1
    }
    self.version = version
  }

  private mutating func migrate(isFull: Bool) {
    let weights = classes[ObjectClasses.dog].map { table in
      table.rows.mapValues { $0[4] }
    }
    replace("weight", with: Self.breed, of: ObjectClasses.dog)
    version = 2
    guard isFull else {
      let label = ColumnSchema(name: "fullName", type: .string)
      replace("name", with: label, of: ObjectClasses.person)
      return
    }
    let old = classes[ObjectClasses.person]?.schema.columns.firstIndex { $0.name == "name" }
    if let old { classes[ObjectClasses.person]?.schema.columns[old].name = "fullName" }
    for (key, weight) in (weights ?? [:]).sorted(by: { $0.key < $1.key }) {
      var pounds: Int?
      if case .int(let number) = weight { pounds = Int(number) }
      let text = DeclaredMigration.breed(ofWeight: pounds)
      set(.string(text), ObjectClasses.dog, key, "breed")
    }
    let people = classes[ObjectClasses.person].map { $0.rows.sorted { $0.key < $1.key } } ?? []
    for (_, row) in people {
      guard case .int(let id) = row[0] else { continue }
      let number = Int64(DeclaredMigration.newDog(of: Int(id)))
      let key = add(ObjectClasses.dog)
      classes[ObjectClasses.dog]?.keys[number] = key
      set(.int(number), ObjectClasses.dog, key, "_id")
      set(.string("new"), ObjectClasses.dog, key, "name")
    }
  }

  /// Removes a column and appends an empty one.
  private mutating func replace(_ name: String, with column: ColumnSchema, of table: String) {
    guard let index = classes[table]?.schema.columns.firstIndex(where: { $0.name == name }) else {
      return
    }
    classes[table]?.schema.columns.remove(at: index)
    classes[table]?.schema.columns.append(column)
    for key in (classes[table]?.rows ?? [:]).keys {
      classes[table]?.rows[key]?.remove(at: index)
      classes[table]?.rows[key]?.append(Self.empty(column))
    }
  }

  // MARK: the hash

  /// Adds all tables to the hash; the one with sentinel rows comes last.
  func feed(_ hasher: inout ContentHasher) {
    guard let version else { return }
    for name in Self.names + [Self.mixed] {
      guard let table = classes[name] else { continue }
      hasher.beginTable(table.schema)
      for (key, row) in table.rows { hasher.combine(key: key, row) }
    }
    hasher.beginTable(Self.classTable)
    for name in Self.names + [Self.mixed] {
      guard let table = classes[name] else { continue }
      let isEmbedded = [ObjectClasses.address, ObjectClasses.room, Self.mixed].contains(name)
      hasher.combine(
        key: table.id,
        [
          .string(name), isEmbedded ? .null : .string("_id"), .bool(isEmbedded),
          .int(table.nextKey),
        ])
    }
    hasher.beginTable(ObjectClasses.sentinelTable.schema)
    hasher.combine(key: 0, [.int(Int64(version))])
  }

  private static var classTable: TableSchema {
    TableSchema(
      name: "__classes",
      columns: [
        ColumnSchema(name: "name", type: .string, isUnique: true),
        ColumnSchema(name: "primaryKey", type: .string, isOptional: true),
        ColumnSchema(name: "isEmbedded", type: .bool),
        ColumnSchema(name: "nextKey", type: .int),
      ])
  }
}
