// NotificationRound.swift: two versions of a realm and their differences, shared by all observers
// that advance from one to the other. Invariant: both versions are held while the round exists,
// which is for one delivery.

import Engine

/// A step from one version to a later one.
final class NotificationRound {
  let older: Snapshot
  let newer: Snapshot
  let changes: DatabaseChanges
  /// The realm as the two versions have it, never to change.
  let olderCore: _RealmCore
  let newerCore: _RealmCore
  private let tables: [String: TableChanges]
  /// Names that lead to other tables than before.
  private let remade: Set<String>
  private var reached: [Reach: Set<Int64>] = [:]
  private var closures: [String: Set<String>] = [:]
  private var indexes: [String: (changes: IndexChanges, index: KeyIndex)] = [:]
  private let owners: MixedOwners
  private var foundNested: NestedChanges?

  private struct Reach: Hashable {
    let name: String
    let hops: Int
  }

  /// - Complexity: O(changed leaves × height), as `Snapshot.changes(since:)`.
  init(
    _ live: _RealmCore, from older: Snapshot, to newer: Snapshot, _ owners: MixedOwners
  ) throws(EngineError) {
    self.older = older
    self.newer = newer
    self.owners = owners
    changes = try newer.changes(since: older)
    try owners.follow(changes, newer)
    let infos = live.classes.withLock { $0.infos }
    olderCore = _RealmCore(frozen: older, of: live, classes: infos)
    newerCore = _RealmCore(frozen: newer, of: live, classes: infos)
    var tables: [String: TableChanges] = [:]
    var remade: Set<String> = []
    for table in changes.tables {
      if !table.isRemoved { tables[table.name] = table }
      if table.isRemoved || table.isAdded { remade.insert(table.name) }
      if let former = table.formerName { remade.formUnion([former, table.name]) }
    }
    self.tables = tables
    self.remade = remade
  }

  /// The changes of the table of a class; nil without changes.
  func changes(of info: ClassInfo) -> TableChanges? { tables[info.name] }

  /// The changes of an object that both versions have; nil without changes.
  /// - Complexity: O(log changes).
  func modification(of key: Int64, _ info: ClassInfo) -> RowModification? {
    guard let rows = changes(of: info)?.modifications else { return nil }
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if rows[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low < rows.count && rows[low].key == key ? rows[low] : nil
  }

  /// Whether the name of a class leads to another table than before, or to none.
  func isRemade(_ info: ClassInfo) -> Bool { remade.contains(info.name) }

  /// Whether anything changed in one of some tables.
  func touches(_ names: Set<String>) -> Bool {
    changes.tables.contains { names.contains($0.name) || names.contains($0.formerName ?? $0.name) }
  }

  /// The changed positions among all rows of a class, and the current keys.
  /// - Complexity: O(changes × log rows + rows / chunk).
  func advance(_ index: KeyIndex, of info: ClassInfo) -> (changes: IndexChanges, index: KeyIndex) {
    if let known = indexes[info.name] { return known }
    guard let table = changes(of: info) else { return (IndexChanges(), index) }
    var found = IndexChanges()
    var advanced = index
    found.deletions = table.deletions.compactMap { index.position(of: $0) }
    advanced.apply(deletions: table.deletions, insertions: table.insertions)
    found.insertions = table.insertions.compactMap { advanced.position(of: $0) }
    indexes[info.name] = (found, advanced)
    return (found, advanced)
  }

  // MARK: collections in mixed values

  /// The changes within collections in mixed values.
  /// - Complexity: O(changed collections × depth), once for each round; and once for the realm what
  ///   `MixedOwners` says.
  func nested() throws(EngineError) -> NestedChanges {
    if let foundNested { return foundNested }
    var nested = NestedChanges()
    let name = MixedCollections.tableName
    var open = tables[name]?.modifications.map(\.key) ?? []
    if !open.isEmpty { nested.table = try newer.tableID(of: name) }
    while let key = open.popLast() {
      guard nested.collections.insert(key).inserted,
        let owner = try owners.owner(of: key, newer)
      else { continue }
      if owner.table == name {
        open.append(owner.key)
      } else {
        nested.rows[owner.table, default: [:]][owner.column, default: []].insert(owner.key)
      }
    }
    foundNested = nested
    return nested
  }

  /// Whether a mixed value is a collection.
  func isCollection(_ value: Value) throws(EngineError) -> Bool {
    guard case .typedLink(let table, _) = value, newer.hasTable(MixedCollections.tableName) else {
      return false
    }
    return table == (try newer.tableID(of: MixedCollections.tableName))
  }

  // MARK: links

  private func info(_ name: String?) -> ClassInfo? {
    name.flatMap { name in newerCore.classes.withLock { $0.infos[name] } }
  }

  /// The classes reachable from objects of a class, through any number of links, with the class
  /// itself; nil when a property can lead to any class.
  func closure(of info: ClassInfo) -> Set<String> {
    if let known = closures[info.name] { return known }
    var found: Set<String> = [info.name]
    var open = [info]
    while let next = open.popLast() {
      for property in next.properties {
        if property.type == .any {
          found.formUnion(newerCore.classes.withLock { $0.infos }.keys)
          found.insert(MixedCollections.tableName)
          continue
        }
        guard let target = self.info(property.objectClassName) else { continue }
        if found.insert(target.name).inserted { open.append(target) }
      }
    }
    closures[info.name] = found
    return found
  }

  /// How many links a change is seen through, as RealmSwift documents it.
  static let hopsMax = 4

  /// The objects of a class that changed, or from which at most four links lead to one that did.
  ///
  /// Objects that are new may be among them.
  /// - Complexity: O(changed rows + links to them).
  func modified(_ info: ClassInfo) throws(EngineError) -> Set<Int64> {
    guard touches(closure(of: info)) else { return [] }
    return try reach(info, hops: Self.hopsMax)
  }

  private func reach(_ info: ClassInfo, hops: Int) throws(EngineError) -> Set<Int64> {
    let id = Reach(name: info.name, hops: hops)
    if let known = reached[id] { return known }
    var rows = Set(changes(of: info)?.modifications.map(\.key) ?? [])
    rows.formUnion(try nested().objects(of: info))
    for (number, property) in info.properties.enumerated()
    where hops > 0 && property.type == .object {
      guard let target = self.info(property.objectClassName) else { continue }
      let below = try reach(target, hops: hops - 1)
      rows.formUnion(try sources(of: below, target, from: info, number))
    }
    reached[id] = rows
    return rows
  }

  /// The objects of a class that link to some of another through a property.
  private func sources(
    of rows: Set<Int64>, _ target: ClassInfo, from info: ClassInfo, _ property: Int
  ) throws(EngineError) -> [Int64] {
    let column = info.properties[property].columnName
    guard !rows.isEmpty, newer.hasTable(target.name), newer.hasTable(info.name),
      try newer.schema(of: info.name).columns.contains(where: { $0.name == column })
    else { return [] }
    var found: [Int64] = []
    for row in rows.sorted() {
      found += try newer.backlinks(to: row, in: target.name, from: info.name, column: column)
        .map(\.key)
    }
    return found
  }

  /// The objects of a class for which one of some paths leads to another value than before.
  func modified(_ info: ClassInfo, along paths: KeyPathFilter) throws(EngineError) -> Set<Int64> {
    var rows: Set<Int64> = []
    for path in paths.paths { rows.formUnion(try modified(path[...])) }
    return rows
  }

  private func modified(
    _ path: ArraySlice<KeyPathFilter.Step>
  ) throws(EngineError) -> Set<Int64> {
    guard let step = path.first else { return [] }
    let property = step.info.properties[step.property]
    let below = try modified(path.dropFirst())
    guard property.type == .linkingObjects else {
      var rows = try changedRows(step.info, property.columnName)
      guard let target = info(property.objectClassName) else { return rows }
      rows.formUnion(try sources(of: below, target, from: step.info, step.property))
      return rows
    }
    guard let origin = info(property.objectClassName),
      let number = origin.number(of: property.linkOriginPropertyName ?? "")
    else { return [] }
    let column = origin.properties[number].columnName
    let relinked = try changedRows(origin, column)
    let table = changes(of: origin)
    let before = relinked.union(table?.deletions ?? [])
    let after = relinked.union(table?.insertions ?? []).union(below)
    return Set(try targets(of: before, origin, number, olderCore))
      .union(try targets(of: after, origin, number, newerCore))
  }

  private func changedRows(_ info: ClassInfo, _ column: String) throws(EngineError) -> Set<Int64> {
    Set(changes(of: info)?.modifications.filter { $0.changes(column) }.map(\.key) ?? [])
      .union(try nested().rows[info.name]?[column] ?? [])
  }

  private func targets(
    of rows: Set<Int64>, _ info: ClassInfo, _ property: Int, _ core: _RealmCore
  ) throws(EngineError) -> [Int64] {
    let access = core.access(info)
    var found: [Int64] = []
    for row in rows.sorted() where access.contains(row) {
      found += try access.readValue(row, property).linkedKeys
    }
    return found
  }
}
