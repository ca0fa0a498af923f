// RealmCore+Classes.swift: which classes a realm knows. With `objectTypes` all are checked when
// it is opened; without, a class joins when it is used first, with all that it leads to.

import Engine
import Synchronization

/// The classes of a realm, and its accesses to their rows.
struct KnownClasses: Sendable {
  var infos: [String: ClassInfo] = [:]
  /// Classes that joined and whose tables the file may lack.
  var missing: [ClassInfo] = []
  /// Classes whose tables the open transaction made.
  private var uncommitted: [ClassInfo] = []
  private var tables: [String: TableCursor] = [:]
  /// The tables of dynamic objects, which are described as in the file at the time of the request.
  private var dynamicTables: [String: WeakTable] = [:]

  func table(_ name: String) -> TableCursor? { tables[name] }

  func dynamicTable(_ name: String) -> TableCursor? { dynamicTables[name]?.table }

  mutating func keep(_ table: TableCursor) { tables[table.info.name] = table }

  mutating func keep(dynamic table: TableCursor) {
    dynamicTables = dynamicTables.filter { $0.value.table != nil }
    dynamicTables[table.info.name] = WeakTable(table: table)
  }

  mutating func invalidate() {
    for table in tables.values { table.invalidate() }
    for known in dynamicTables.values { known.table?.invalidate() }
    tables = [:]
    dynamicTables = [:]
  }

  /// The realm releases its version, and so do its tables.
  func forgetCursors() {
    for table in tables.values { table.forget() }
    for known in dynamicTables.values { known.table?.forget() }
  }

  mutating func madeMissing() {
    uncommitted += missing
    missing = []
  }

  /// Created tables may have been cancelled: the next transaction checks again.
  mutating func forgetUncommitted() {
    missing += uncommitted
    uncommitted = []
  }
}

extension _RealmCore {
  /// The access to the rows of a class.
  func access(to type: ObjectBase.Type) -> _TableAccess {
    if let recent, recent.type == type, !recent.table.isCutOff {
      checkThread()
      return _TableAccess(self, recent.table)
    }
    let info = Misuse.unthrowingRealm { () throws(Realm.Error) in try Discovery.info(for: type) }
    guard !info.isDynamic else { return access(info) }
    let table = table(info)
    // A frozen realm is shared by threads, and caches nothing.
    if !isFrozen { recent = RecentTable(type: type, table: table) }
    return _TableAccess(self, table)
  }

  /// The access to the rows of a class that the realm already knows; nil for others.
  func access(named name: String) -> _TableAccess? {
    guard let info = classes.withLock({ $0.infos[name] }) else { return nil }
    return access(info)
  }

  func access(_ info: ClassInfo) -> _TableAccess {
    if info === MixedCollections.info { return mixedAccess() }
    if info.isDynamic, let access = dynamicAccess(named: info.name) { return access }
    return _TableAccess(self, table(info))
  }

  private func table(_ info: ClassInfo) -> TableCursor {
    if let table = classes.withLock({ $0.table(info.name) }) { return table }
    checkThread()
    if classes.withLock({ $0.infos[info.name] }) == nil { join(info) }
    let known = classes.withLock { $0.infos[info.name] } ?? info
    let table = TableCursor(self, known)
    classes.withLock { $0.keep(table) }
    return table
  }

  /// Takes a class in that is used for the first time.
  private func join(_ info: ClassInfo) {
    Misuse.unthrowingRealm { () throws(Realm.Error) in
      let joining = try ClassSet(reachableFrom: [info])
      let differences = try SchemaUpdate.differences(of: joining.infos, self)
      if configuration.objectTypes != nil, !isFrozen {
        throw Realm.Error(
          .schemaMismatch,
          "class \(info.name) is not among the objectTypes of the configuration; add it")
      }
      let grave = differences.filter { $0.need > .nothing }
      guard grave.isEmpty else { throw SchemaUpdate.migrationNeeded(grave) }
      classes.withLock { classes in
        for info in joining.infos where classes.infos[info.name] == nil {
          classes.infos[info.name] = info
          classes.missing.append(info)
        }
      }
      if let write { try makeMissingTables(write) }
    }
  }

  /// Makes the tables of classes that joined since the last write transaction.
  func makeMissingTables(_ write: WriteTransaction) throws(Realm.Error) {
    let missing = classes.withLock { $0.missing }
    guard !missing.isEmpty else { return }
    try SchemaUpdate.addClasses(missing, write, configuration)
    classes.withLock { $0.madeMissing() }
  }

  /// The class of the embedded objects that a property holds, or nil.
  func embeddedTarget(_ info: ClassInfo, _ property: Int) -> ClassInfo? {
    guard info.properties[property].type == .object,
      let name = info.properties[property].objectClassName,
      let target = classes.withLock({ $0.infos[name] })
        ?? (info.isDynamic ? dynamicAccess(named: name)?.info : nil),
      target.isEmbedded
    else { return nil }
    return target
  }
}

/// The class used last: a loop over one class needs no dictionary lookup.
struct RecentTable {
  let type: ObjectBase.Type
  let table: TableCursor
}

private struct WeakTable: Sendable {
  weak let table: TableCursor?
}

/// Classes with all the classes that their properties lead to, by name ascending.
struct ClassSet {
  let infos: [ClassInfo]

  /// - Throws: `Realm.Error` with code `.unsupportedClass`.
  init(reachableFrom roots: [ClassInfo]) throws(Realm.Error) {
    var found: [String: ClassInfo] = [:]
    var open = roots
    while let info = open.popLast() {
      if let other = found[info.name] {
        guard other.type == info.type else {
          throw Realm.Error(
            .unsupportedClass,
            "two classes are kept as \(info.name): \(String(reflecting: other.type)) and "
              + String(reflecting: info.type))
        }
        continue
      }
      found[info.name] = info
      for case .some(let target) in info.targets { open.append(try Discovery.info(for: target)) }
    }
    infos = found.values.sorted { $0.name < $1.name }
    for info in infos {
      try info.checkTargets { type throws(Realm.Error) in try Discovery.info(for: type) }
    }
  }
}
