// Migration.swift: the data of a migration block: the old version, which never changes, and the
// open transaction, whose tables already have the new columns. Invariant: nothing is durable before
// the block has ended and the transaction is committed.

import Engine

/// An object in a migration, with every property by name.
public typealias MigrationObject = DynamicObject

/// Called with an object in its old and its new form; either is nil when there is none.
public typealias MigrationObjectEnumerateBlock =
  (_ oldObject: MigrationObject?, _ newObject: MigrationObject?) -> Void

/// Changes data from one schema version to the next.
public final class Migration {
  let old: _RealmCore
  let new: _RealmCore
  private let write: WriteTransaction
  private let file: FileSchema
  /// The classes whose objects the block has deleted.
  private var emptied: Set<String> = []

  init(
    _ live: _RealmCore, _ before: Snapshot, _ file: FileSchema, _ infos: [ClassInfo],
    _ write: WriteTransaction
  ) throws(Realm.Error) {
    self.file = file
    self.write = write
    var olds: [String: ClassInfo] = [:]
    for (name, entry) in file.classes {
      olds[name] = ClassInfo(
        entry.table, primaryKey: entry.record.primaryKey, isEmbedded: entry.record.isEmbedded)
    }
    var news = olds
    for info in infos {
      let schema = try translating { () throws(EngineError) in try write.schema(of: info.name) }
      news[info.name] = ClassInfo(
        schema, primaryKey: info.primaryKey.map { info.properties[$0].columnName },
        isEmbedded: info.isEmbedded, own: info)
    }
    old = _RealmCore(frozen: before, of: live, classes: olds)
    new = _RealmCore(migrating: live, write, classes: news)
  }

  /// The classes as the file had them.
  public var oldSchema: Schema { Realm(old).schema }

  /// The classes of the program.
  public var newSchema: Schema { Realm(new).schema }

  /// Calls `block` with each object of a class, in its old and its new form.
  ///
  /// Objects that the block deleted before are left out.
  /// - Parameters:
  ///   - typeName: The class.
  ///   - block: Changes the new object by the old one; deleting the new one is allowed.
  /// - Complexity: O(objects) calls.
  public func enumerateObjects(
    ofType typeName: String, _ block: MigrationObjectEnumerateBlock
  ) {
    let before = emptied.contains(typeName) ? nil : old.access(named: typeName)
    let after = new.access(named: typeName)
    for key in before?.keys ?? [] {
      // One that the block has deleted is not visited again.
      if let after, !after.contains(key) { continue }
      block(
        before?.makeObject(key) as? MigrationObject, after?.makeObject(key) as? MigrationObject)
    }
    let known = Set(before?.keys ?? [])
    for key in after?.keys ?? [] where !known.contains(key) {
      block(nil, after?.makeObject(key) as? MigrationObject)
    }
  }

  /// Adds an object.
  /// - Parameters:
  ///   - typeName: The class.
  ///   - value: Values by property name, or all in the order of the properties.
  /// - Returns: The object.
  @discardableResult
  public func create(_ typeName: String, value: Any = [String: Any]()) -> MigrationObject {
    guard let access = new.access(named: typeName) else {
      Misuse.stop("the new schema has no class \(typeName)")
    }
    // A missing row: the migration has failed, and will be cancelled.
    let key = new.create(access, value, .error) ?? -1
    guard let object = access.makeObject(key) as? MigrationObject else {
      preconditionFailure("the classes of a migration are dynamic")
    }
    return object
  }

  /// Deletes an object.
  public func delete(_ object: MigrationObject) { new.delete(object) }

  /// Deletes all objects of a class.
  /// - Returns: Whether the file had the class.
  @discardableResult
  public func deleteData(forType typeName: String) -> Bool {
    guard let access = new.access(named: typeName) else { return false }
    new.delete(access.keys, access)
    emptied.insert(typeName)
    return file.classes[typeName] != nil
  }

  /// Renames a property, and keeps its values.
  /// - Parameters:
  ///   - typeName: The class.
  ///   - oldName: The name in the file.
  ///   - newName: The name in the program's class; of the same type.
  public func renameProperty(onType typeName: String, from oldName: String, to newName: String) {
    guard let table = file.classes[typeName]?.table,
      let old = table.columns.first(where: { $0.name == oldName }),
      let access = new.access(named: typeName),
      let number = access.info.number(of: newName)
    else {
      new.fail(
        Realm.Error(
          .schemaMismatch,
          "renameProperty: \(typeName).\(oldName) is not in the file, or \(typeName).\(newName) "
            + "not in the program; look at both names"))
      return
    }
    let property = access.info.properties[number]
    let newName = property.columnName
    guard !table.columns.contains(where: { $0.name == newName }),
      old.type == property.type.column, old.collection == property.collection,
      old.target == property.objectClassName, property.isOptional || !old.isOptional
    else {
      new.fail(
        Realm.Error(
          .schemaMismatch,
          "renameProperty: \(typeName).\(oldName) is a "
            + Property(old, isPrimaryKey: false).typeText
            + " and \(newName) a \(property.typeText), or both names are in the file; copy the "
            + "values in enumerateObjects"))
      return
    }
    new.change { write throws(EngineError) in
      guard old.isOptional == property.isOptional else {
        for key in try write.keys(of: typeName) {
          let value = try write.value(in: typeName, key: key, column: oldName) ?? .null
          try write.set(value, in: typeName, key: key, column: newName)
        }
        return
      }
      let wanted = try write.schema(of: typeName).columns.first { $0.name == newName }
      try write.removeColumn(newName, from: typeName)
      try write.renameColumn(oldName, in: typeName, to: newName)
      // The index belongs to the property that the program has.
      guard let wanted else { return }
      try write.setIndex(wanted.indexMode, of: newName, in: typeName)
    }
  }
}
