// ObjectModel.swift: the required content of a realm's file, row for row: the tables specified in
// docs/reference/object-database.md ("In the file"), kept in ordinary dictionaries.
// Invariants: it is written from that document, and shares no code with the object database; row
// keys come from the next key of the class and are never reused; an embedded row has exactly one
// link, from its owner, and is deleted with it.

import Engine

/// The rows of a realm over Faultline's classes.
struct ObjectModel: Sendable, Hashable {
  /// A table and its rows.
  struct Table: Sendable, Hashable {
    var schema: TableSchema
    var rows: [Int64: [Value]] = [:]
    /// Row keys by primary key.
    var keys: [Int64: Int64] = [:]
    var nextKey: Int64 = 0
    /// The engine's number for the table.
    var id: Int64
  }

  /// The file's schema version; nil for a file without tables.
  var version: UInt64?
  /// The classes by name.
  var classes: [String: Table] = [:]
  /// The number for the next table.
  var nextTableID: Int64 = 1

  // MARK: rows

  /// A row's value; null when the class has no such column.
  func value(_ name: String, _ key: Int64, _ column: String) -> Value {
    guard let table = classes[name], let row = table.rows[key],
      let index = table.schema.columns.firstIndex(where: { $0.name == column })
    else { return .null }
    return row[index]
  }

  /// Changes a row's value; a column that the class does not have is ignored.
  mutating func set(_ value: Value, _ name: String, _ key: Int64, _ column: String) {
    guard
      let index = classes[name]?.schema.columns.firstIndex(where: { $0.name == column })
    else { return }
    classes[name]?.rows[key]?[index] = value
  }

  /// Adds a row with empty values.
  /// - Returns: Its key.
  mutating func add(_ name: String) -> Int64 {
    guard var table = classes[name] else { return -1 }
    let key = table.nextKey
    table.nextKey += 1
    table.rows[key] = table.schema.columns.map { Self.empty($0) }
    classes[name] = table
    return key
  }

  /// Removes a row, the rows that it owns, and all links to it.
  mutating func remove(_ name: String, _ key: Int64) {
    release(value(name, key, "content"))
    if case .link(let home) = value(name, key, "home") { removeHome(home) }
    guard let row = classes[name]?.rows.removeValue(forKey: key) else { return }
    if case .int(let id) = row.first, classes[name]?.keys[id] == key {
      classes[name]?.keys[id] = nil
    }
    forgetLinks(to: key, in: name)
  }

  private mutating func removeHome(_ home: Int64) {
    if case .list(let rooms) = value(ObjectClasses.address, home, "rooms") {
      for case .link(let room) in rooms { classes[ObjectClasses.room]?.rows[room] = nil }
    }
    classes[ObjectClasses.address]?.rows[home] = nil
  }

  private mutating func forgetLinks(to key: Int64, in target: String) {
    for name in classes.keys.sorted() {
      guard let table = classes[name] else { continue }
      for (index, column) in table.schema.columns.enumerated() where column.target == target {
        for row in table.rows.keys.sorted() {
          switch table.rows[row]?[index] {
          case .link(key): classes[name]?.rows[row]?[index] = .null
          case .list(let links) where links.contains(.link(key)):
            classes[name]?.rows[row]?[index] = .list(links.filter { $0 != .link(key) })
          default: break
          }
        }
      }
    }
  }

  // MARK: statements

  /// Applies a valid statement.
  mutating func apply(_ mutation: Mutation) {
    guard let table = classes[mutation.table] else { return }
    let known = table.keys[mutation.key]
    guard mutation.kind != .delete else {
      if let known { remove(mutation.table, known) }
      return
    }
    let key = known ?? add(mutation.table)
    if known == nil {
      classes[mutation.table]?.keys[mutation.key] = key
      set(.int(mutation.key), mutation.table, key, "_id")
    }
    if let edit = mutation.edit {
      self.edit(key, edit)
      return
    }
    let columns = ObjectClasses.tables.first { $0.name == mutation.table }?.columns ?? []
    for (column, value) in zip(columns, mutation.values) {
      fill(mutation.table, key, column, value)
    }
  }

  private mutating func fill(
    _ name: String, _ key: Int64, _ column: ColumnDeclaration, _ value: PlannedValue
  ) {
    switch column.objects {
    case nil:
      let isLabel = name == ObjectClasses.person && column.name == "name" && version == 2
      guard case .link(let id) = value else {
        set(value.engineValue, name, key, isLabel ? "fullName" : column.name)
        return
      }
      let target = classes[column.target ?? ""]?.keys[id]
      set(target.map { .link($0) } ?? .null, name, key, column.name)
    case .home: fillHome(key, value)
    case .content: fillContent(key, value)
    case .dogs:
      let keys = classes[ObjectClasses.dog]?.keys ?? [:]
      let links = value.elements.compactMap { $0.number.flatMap { keys[$0] }.map(Value.link) }
      set(.list(links), name, key, column.name)
    case .nicknames:
      set(.set(value.elements.map(\.engineValue)), name, key, column.name)
    case .scores:
      let entries = value.elements.compactMap { entry -> DictionaryEntry? in
        guard entry.elements.count == 2, case .string(let key) = entry.elements[0] else {
          return nil
        }
        return DictionaryEntry(key: key, value: entry.elements[1].engineValue)
      }
      set(.dictionary(entries), name, key, column.name)
    }
  }

  /// Replaces a home that differs from the existing one.
  private mutating func fillHome(_ person: Int64, _ value: PlannedValue) {
    let old = self.value(ObjectClasses.person, person, "home")
    if home(old) == value { return }
    if case .link(let key) = old { removeHome(key) }
    guard value.elements.count == 2 else {
      set(.null, ObjectClasses.person, person, "home")
      return
    }
    let key = add(ObjectClasses.address)
    set(.link(key), ObjectClasses.person, person, "home")
    set(value.elements[0].engineValue, ObjectClasses.address, key, "city")
    var rooms: [Value] = []
    for room in value.elements[1].elements where room.elements.count == 3 {
      let number = add(ObjectClasses.room)
      set(room.elements[0].engineValue, ObjectClasses.room, number, "name")
      set(room.elements[1].engineValue, ObjectClasses.room, number, "size")
      let chest = room.elements[2].number.flatMap { classes[ObjectClasses.crate]?.keys[$0] }
      set(chest.map { .link($0) } ?? .null, ObjectClasses.room, number, "chest")
      rooms.append(.link(number))
    }
    set(.list(rooms), ObjectClasses.address, key, "rooms")
  }

  /// A home in the form of statements.
  private func home(_ link: Value) -> PlannedValue? {
    guard case .link(let key) = link else { return .null }
    guard case .list(let links) = value(ObjectClasses.address, key, "rooms"),
      let city = PlannedValue(value(ObjectClasses.address, key, "city"))
    else { return nil }
    var rooms: [PlannedValue] = []
    for case .link(let room) in links {
      guard let name = PlannedValue(value(ObjectClasses.room, room, "name")),
        let size = PlannedValue(value(ObjectClasses.room, room, "size"))
      else { return nil }
      rooms.append(.list([name, size, crate(value(ObjectClasses.room, room, "chest"))]))
    }
    return .list([city, .list(rooms)])
  }

  /// A link to a crate in the form of statements.
  private func crate(_ value: Value) -> PlannedValue {
    guard case .link(let key) = value,
      case .int(let id) = self.value(ObjectClasses.crate, key, "_id")
    else { return .null }
    return .link(id)
  }
}

extension PlannedValue {
  /// The elements of a list; empty for anything else.
  package var elements: [PlannedValue] {
    if case .list(let elements) = self { elements } else { [] }
  }
  /// The number of an int or a link.
  package var number: Int64? {
    switch self {
    case .int(let number), .link(let number): number
    default: nil
    }
  }
}
