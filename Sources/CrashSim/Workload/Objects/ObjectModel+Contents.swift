// ObjectModel+Contents.swift: the collections in mixed values, each a row of the table `__mixed`
// to which the value is a link (docs/reference/object-database.md, "In the file").
// Invariants: exactly one value leads to each row; rows of a new value are added from the inside
// outwards, elements in order, before those of the value that it replaces are removed. A link to a
// dog stays as it is when the dog goes, and reads as null then.

import Engine

extension ObjectModel {
  static let mixed = ObjectClasses.collectionTable
  /// The positions of the table's columns.
  private static let (items, entries, isDictionary) = (0, 1, 2)

  private static let mixedSchema = TableSchema(
    name: mixed,
    columns: [
      ColumnSchema(name: "items", type: .mixed, collection: .list),
      ColumnSchema(name: "entries", type: .mixed, collection: .dictionary),
      ColumnSchema(name: "isDictionary", type: .bool),
    ])

  /// Replaces a content that differs from the existing one.
  mutating func fillContent(_ crate: Int64, _ value: PlannedValue) {
    let old = self.value(ObjectClasses.crate, crate, "content")
    if content(old) == value { return }
    set(store(value), ObjectClasses.crate, crate, "content")
    release(old)
  }

  /// Applies a change that fits the content.
  mutating func edit(_ crate: Int64, _ edit: ContentEdit) {
    let whole = value(ObjectClasses.crate, crate, "content")
    var collection = whole
    let isClearing = edit.change == .clear
    for step in isClearing ? edit.path[...] : edit.path.dropLast() {
      collection = member(of: collection, step) ?? .null
    }
    let new = edit.value.map { store($0) }
    guard let row = self.row(collection), isClearing || !edit.path.isEmpty else {
      guard let new else { return }
      set(new, ObjectClasses.crate, crate, "content")
      release(whole)
      return
    }
    if isClearing {
      let old = [value(Self.mixed, row, "items"), value(Self.mixed, row, "entries")]
      set(.list([]), Self.mixed, row, "items")
      set(.dictionary([]), Self.mixed, row, "entries")
      for value in old { release(value) }
    } else if case .int(let index)? = edit.path.last, let other = edit.otherPlace,
      case .list(var items) = value(Self.mixed, row, "items")
    {
      if case .swap = edit.change {
        items.swapAt(Int(index), Int(other))
      } else {
        items.insert(items.remove(at: Int(index)), at: Int(other))
      }
      set(.list(items), Self.mixed, row, "items")
    } else if let step = edit.path.last {
      change(row, step, new, isInserted: edit.isInsertion)
    }
  }

  /// The row of a collection.
  private func row(_ value: Value) -> Int64? {
    guard case .typedLink(let table, let key) = value, Int64(table) == classes[Self.mixed]?.id
    else { return nil }
    return key
  }

  private mutating func change(
    _ row: Int64, _ step: PlannedValue, _ new: Value?, isInserted: Bool
  ) {
    var old = Value.null
    switch (step, value(Self.mixed, row, "items"), value(Self.mixed, row, "entries")) {
    case (.int(let index), .list(var items), _):
      let place = Int(index)
      if !isInserted { old = items.remove(at: place) }
      if let new { items.insert(new, at: place) }
      set(.list(items), Self.mixed, row, "items")
    case (.string(let key), _, .dictionary(var entries)):
      old = entries.first { $0.key == key }?.value ?? .null
      entries.removeAll { $0.key == key }
      if let new { entries.append(DictionaryEntry(key: key, value: new)) }
      set(Value.dictionary(entries).canonical, Self.mixed, row, "entries")
    default: break
    }
    release(old)
  }

  /// The stored form of a value; for a collection a link to a new row.
  private mutating func store(_ value: PlannedValue) -> Value {
    var row: [Value] = [.list([]), .dictionary([]), .bool(false)]
    switch value {
    case .list(let elements):
      var items: [Value] = []
      for element in elements { items.append(store(element)) }
      row[Self.items] = .list(items)
    case .dictionary(let planned):
      var entries: [DictionaryEntry] = []
      for entry in planned {
        entries.append(DictionaryEntry(key: entry.key, value: store(entry.value)))
      }
      row[Self.entries] = Value.dictionary(entries).canonical
      row[Self.isDictionary] = .bool(true)
    case .link(let id):
      guard let dogs = classes[ObjectClasses.dog], let key = dogs.keys[id] else { return .null }
      return .typedLink(table: UInt32(dogs.id), key: key)
    default: return value.engineValue
    }
    if classes[Self.mixed] == nil {
      classes[Self.mixed] = Table(schema: Self.mixedSchema, id: nextTableID)
      nextTableID += 1
    }
    let key = add(Self.mixed)
    classes[Self.mixed]?.rows[key] = row
    return .typedLink(table: UInt32(classes[Self.mixed]?.id ?? 0), key: key)
  }

  /// Removes the rows that a value leads to, at any depth.
  mutating func release(_ value: Value) {
    switch value {
    case .typedLink:
      guard let key = row(value) else { return }
      for value in classes[Self.mixed]?.rows.removeValue(forKey: key) ?? [] { release(value) }
    case .list(let values): for value in values { release(value) }
    case .dictionary(let entries): for entry in entries { release(entry.value) }
    default: break
    }
  }

  // MARK: reading

  private func member(of collection: Value, _ step: PlannedValue) -> Value? {
    guard let row = row(collection) else { return nil }
    switch (step, value(Self.mixed, row, "items"), value(Self.mixed, row, "entries")) {
    case (.int(let index), .list(let items), _) where items.indices.contains(Int(index)):
      return items[Int(index)]
    case (.string(let key), _, .dictionary(let entries)):
      return entries.first { $0.key == key }?.value
    default: return nil
    }
  }

  /// A stored content in the form of statements.
  private func content(_ value: Value) -> PlannedValue? {
    guard let row = row(value) else { return link(value) ?? PlannedValue(value) }
    guard case .bool(let isDictionary) = self.value(Self.mixed, row, "isDictionary"),
      case .list(let items) = self.value(Self.mixed, row, "items"),
      case .dictionary(let entries) = self.value(Self.mixed, row, "entries")
    else { return nil }
    guard isDictionary else {
      let elements = items.compactMap { content($0) }
      return elements.count == items.count ? .list(elements) : nil
    }
    let planned = entries.compactMap { entry in
      content(entry.value).map { PlannedEntry(key: entry.key, value: $0) }
    }
    return planned.count == entries.count ? .dictionary(sorting: planned) : nil
  }

  /// A link to a dog in the form of statements; nil for other values.
  private func link(_ value: Value) -> PlannedValue? {
    guard case .typedLink(_, let key) = value else { return nil }
    guard case .int(let id) = self.value(ObjectClasses.dog, key, "_id") else { return .null }
    return .link(id)
  }
}

extension ContentEdit {
  /// Whether it makes a list longer.
  package var isInsertion: Bool { if case .insert = change { true } else { false } }

  /// The other place of an element that moves.
  var otherPlace: Int64? {
    switch change {
    case .move(let other), .swap(let other): other
    case .set, .insert, .remove, .clear: nil
    }
  }
}
