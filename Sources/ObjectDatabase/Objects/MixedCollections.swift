// MixedCollections.swift: lists and dictionaries in mixed values. Each is a row of a table of this
// layer, to which the value is a link (docs/reference/object-database.md, "In the file"), so that a
// change of one element is a change of one collection, and links in them are links of the engine.
// Invariants: a row belongs to one value, and is deleted in the transaction in which that value
// goes; nesting is bounded when values come in, and no recursion follows the links of a file.

import Engine
import Query

enum MixedCollections {
  static let tableName = ClassInfo.reservedPrefix + "mixed"
  /// The positions of the columns.
  static let (items, entries, isDictionary) = (0, 1, 2)
  static let schema = TableSchema(
    name: tableName,
    columns: [
      ColumnSchema(name: "items", type: .mixed, collection: .list),
      ColumnSchema(name: "entries", type: .mixed, collection: .dictionary),
      ColumnSchema(name: "isDictionary", type: .bool),
    ])
  static let info = ClassInfo(schema, primaryKey: nil, isEmbedded: true)
  static let queried = MixedCollectionTable(
    name: tableName, items: schema.columns[items].name, entries: schema.columns[entries].name,
    isDictionary: schema.columns[isDictionary].name)
  /// Collections nested deeper than this are rejected: they come from untrusted sources, and a list
  /// may contain itself.
  static let depthMax = 100

  /// Whether a file has any collections in mixed values, or had some.
  static func are(in write: WriteTransaction) -> Bool { write.hasTable(tableName) }

  /// The rows that values lead to.
  static func keys(in values: [Value], _ table: UInt32) -> [Int64] {
    values.flatMap { value -> [Int64] in
      switch value {
      case .typedLink(table, let key): [key]
      case .list(let values), .set(let values): keys(in: values, table)
      case .dictionary(let entries): keys(in: entries.map(\.value), table)
      default: []
      }
    }
  }

  /// Deletes the rows that values lead to, at any depth.
  ///
  /// In a forged file a collection may contain itself: deleted rows are skipped, so this ends.
  static func release(_ values: [Value], _ write: WriteTransaction) throws(EngineError) {
    guard are(in: write) else { return }
    let table = try write.tableID(of: tableName)
    var open = keys(in: values, table)
    while let key = open.popLast() {
      guard let row = try write.row(in: tableName, key: key) else { continue }
      open += keys(in: row, table)
      try write.delete(from: tableName, key: key)
    }
  }

  /// Deletes the rows that no value leads to any more, after columns or tables were removed.
  /// - Complexity: O(mixed values and collections).
  static func sweep(_ write: WriteTransaction) throws(EngineError) {
    guard are(in: write) else { return }
    let table = try write.tableID(of: tableName)
    var open: [Int64] = []
    for other in write.tables where other.name != tableName {
      for column in other.columns where column.type == .mixed {
        for key in try write.keys(of: other.name) {
          let value = try write.value(in: other.name, key: key, column: column.name)
          open += keys(in: [value ?? .null], table)
        }
      }
    }
    var used: Set<Int64> = []
    while let key = open.popLast() {
      guard used.insert(key).inserted, let row = try write.row(in: tableName, key: key) else {
        continue
      }
      open += keys(in: row, table)
    }
    for key in try write.keys(of: tableName) where !used.contains(key) {
      try write.delete(from: tableName, key: key)
    }
  }
}

extension _RealmCore {
  /// The rows of collections.
  func mixedAccess() -> _TableAccess {
    if let table = classes.withLock({ $0.table(MixedCollections.tableName) }) {
      return _TableAccess(self, table)
    }
    checkThread()
    let table = TableCursor(self, MixedCollections.info)
    classes.withLock { $0.keep(table) }
    return _TableAccess(self, table)
  }

  /// The collection of a row; none where the row is gone.
  func mixedCollection(_ key: Int64) -> AnyRealmValue {
    let access = mixedAccess()
    guard access.contains(key),
      case .bool(let isDictionary) = access.value(key, MixedCollections.isDictionary)
    else { return .none }
    return isDictionary
      ? .dictionary(
        Map(_row: _Row(access: access, key: key, property: MixedCollections.entries)))
      : .list(List(_row: _Row(access: access, key: key, property: MixedCollections.items)))
  }

  /// The engine's value for a mixed one; for a collection the link to a new row with a copy of it.
  func stored(_ value: AnyRealmValue, depth: Int = 0) -> Value {
    switch value {
    case .list(let list):
      guard isStorable(depth) else { return .null }
      let items = Array(list).map { stored($0, depth: depth + 1) }
      return storeCollection([.list(items), .dictionary([]), .bool(false)])
    case .dictionary(let map):
      guard isStorable(depth) else { return .null }
      let entries = map.asKeyValueSequence().map {
        DictionaryEntry(key: $0.key, value: stored($0.value, depth: depth + 1))
      }
      return storeCollection([.list([]), .dictionary(entries), .bool(true)])
    default: return value._engineValue(in: self)
    }
  }

  private func isStorable(_ depth: Int) -> Bool {
    checkWritable()
    guard recorder == nil else {
      fail(
        Realm.Error(
          .invalidValue,
          "a synchronized realm has no lists and dictionaries in AnyRealmValue; use a List or a "
            + "Map of AnyRealmValue"))
      return false
    }
    guard depth < MixedCollections.depthMax else {
      fail(
        Realm.Error(
          .invalidValue,
          "collections in an AnyRealmValue are nested deeper than \(MixedCollections.depthMax)"))
      return false
    }
    return firstFailure == nil
  }

  private func storeCollection(_ row: [Value]) -> Value {
    var link = Value.null
    change { write throws(EngineError) in
      let name = MixedCollections.tableName
      if !write.hasTable(name) {
        try FileSchema.prepare(write)
        try write.createTable(MixedCollections.schema)
        try FileSchema.setClass(name, primaryKey: nil, isEmbedded: true, write)
      }
      let key = try nextKey(of: name, write)
      try write.insert(into: name, key: key, row)
      link = .typedLink(table: try write.tableID(of: name), key: key)
    }
    return link
  }
}

extension _Row {
  /// Whether the values of the property are of any type.
  var isMixed: Bool { access.info.properties[property].type == .any }
}

extension AnyRealmValue {
  /// Makes a list of values.
  public static func fromArray(_ array: [AnyRealmValue]) -> AnyRealmValue {
    let list = List<AnyRealmValue>()
    list.append(objectsIn: array)
    return .list(list)
  }

  /// Makes a dictionary of values.
  public static func fromDictionary(_ dictionary: [String: AnyRealmValue]) -> AnyRealmValue {
    let map = Map<String, AnyRealmValue>()
    for (key, value) in dictionary { map[key] = value }
    return .dictionary(map)
  }

  /// The list, if it is one; changing it changes the value.
  public var listValue: List<AnyRealmValue>? {
    if case .list(let list) = self { list } else { nil }
  }

  /// The dictionary, if it is one; changing it changes the value.
  public var dictionaryValue: Map<String, AnyRealmValue>? {
    if case .dictionary(let map) = self { map } else { nil }
  }

  /// The value with unmanaged copies of its collections.
  func detached(depth: Int = 0) -> AnyRealmValue {
    guard depth < MixedCollections.depthMax else {
      Misuse.stop(
        "collections in an AnyRealmValue are nested deeper than \(MixedCollections.depthMax)")
    }
    switch self {
    case .list(let list): return .fromArray(list.map { $0.detached(depth: depth + 1) })
    case .dictionary(let map):
      let copy = Map<String, AnyRealmValue>()
      for entry in map { copy[entry.key] = entry.value.detached(depth: depth + 1) }
      return .dictionary(copy)
    default: return self
    }
  }

  /// The collection that a value of any type is; nil when it is none, or an element does not fit.
  init?(collection any: Any, depth: Int) {
    guard depth < MixedCollections.depthMax else { return nil }
    if let entries = any as? [String: Any?] ?? (any as? any MapEntries)?.anyEntries {
      let map = Map<String, AnyRealmValue>()
      for (key, item) in entries {
        guard let value = AnyRealmValue(any: item as Any, depth: depth + 1) else { return nil }
        map[key] = value
      }
      self = .dictionary(map)
      return
    }
    guard any is any ListOfValues || any is [Any?], let sequence = any as? any Sequence else {
      return nil
    }
    let list = List<AnyRealmValue>()
    for case let item as Any? in sequence {
      guard let value = AnyRealmValue(any: item as Any, depth: depth + 1) else { return nil }
      list.append(value)
    }
    self = .list(list)
  }

  /// Whether it is a list or a dictionary.
  var isCollection: Bool { listValue != nil || dictionaryValue != nil }
}

/// A list of any elements.
protocol ListOfValues {}

extension List: ListOfValues {}

extension AnyRealmValue {
  /// Whether both have one type and are equal; collections as `List` and `Map` compare them.
  public static func == (left: AnyRealmValue, right: AnyRealmValue) -> Bool {
    switch (left, right) {
    case (.none, .none): true
    case (.int(let left), .int(let right)): left == right
    case (.bool(let left), .bool(let right)): left == right
    case (.float(let left), .float(let right)): left == right
    case (.double(let left), .double(let right)): left == right
    case (.string(let left), .string(let right)): left == right
    case (.data(let left), .data(let right)): left == right
    case (.date(let left), .date(let right)): left == right
    case (.object(let left), .object(let right)): left == right
    case (.objectId(let left), .objectId(let right)): left == right
    case (.decimal128(let left), .decimal128(let right)): left == right
    case (.uuid(let left), .uuid(let right)): left == right
    case (.list(let left), .list(let right)): left == right
    case (.dictionary(let left), .dictionary(let right)): left == right
    default: false
    }
  }

  /// Hashes the value; of a collection, which can change, only that it is one.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .none: hasher.combine(0)
    case .int(let value): hasher.combine(value)
    case .bool(let value): hasher.combine(value)
    case .float(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value)
    case .string(let value): hasher.combine(value)
    case .data(let value): hasher.combine(value)
    case .date(let value): hasher.combine(value)
    case .object(let value): hasher.combine(value)
    case .objectId(let value): hasher.combine(value)
    case .decimal128(let value): hasher.combine(value)
    case .uuid(let value): hasher.combine(value)
    case .list: hasher.combine(1)
    case .dictionary: hasher.combine(2)
    }
  }
}
