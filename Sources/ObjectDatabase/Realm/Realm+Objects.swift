// Realm+Objects.swift: adding, creating and deleting objects. None of these calls throws: what
// breaks a rule of the schema is kept, and the commit throws it, with nothing of the transaction
// left behind. A call outside of a write transaction stops the process.

import Engine

extension Realm {
  /// What happens to an object whose primary key is there already.
  public enum UpdatePolicy: Sendable {
    /// The transaction fails.
    case error
    /// The object that is there gets the values that differ.
    case modified
    /// The object that is there gets all values.
    case all
  }

  /// Adds an object, and everything that it leads to.
  /// - Parameters:
  ///   - object: An unmanaged object, which becomes managed; one of this realm stays as it is.
  ///   - update: What happens when its primary key is there already.
  public func add(_ object: Object, update: UpdatePolicy = .error) {
    core.checkWritable()
    if object.tableAccess != nil {
      _ = core.link(to: object)
      return
    }
    if core.addToOpenBatch(object, update) { return }
    _ = core.add(object, update)
  }

  /// Adds objects, and everything that they lead to.
  public func add<Objects: Sequence>(
    _ objects: Objects, update: UpdatePolicy = .error
  ) where Objects.Element: Object {
    for object in objects { add(object, update: update) }
  }

  /// Makes an object of values.
  /// - Parameters:
  ///   - type: The class.
  ///   - value: Values by property name, or all in the order of the properties, or an object.
  ///   - update: What happens when the primary key is there already.
  /// - Returns: The managed object; an unmanaged one when the transaction failed, so that what
  ///   follows in the block does no harm.
  @discardableResult
  public func create<Class: Object>(
    _ type: Class.Type, value: Any = [String: Any](), update: UpdatePolicy = .error
  ) -> Class {
    core.checkWritable()
    let access = core.access(to: type)
    guard let key = core.create(access, value, update) else { return Class() }
    return Class._cast(access.makeObject(key))
  }

  /// Deletes an object, and the embedded ones that it owns; links to it become nil.
  public func delete(_ object: ObjectBase) { core.delete(object) }

  /// Deletes objects.
  public func delete<Objects: Sequence>(_ objects: Objects) where Objects.Element: ObjectBase {
    for object in Array(objects) where !object.isInvalidated { core.delete(object) }
  }

  /// Deletes all objects of results.
  public func delete<Element: ObjectBase>(_ objects: Results<Element>) {
    core.checkWritable()
    guard objects.content.core === core else {
      Misuse.stop("objects can be deleted in their own realm only")
    }
    guard case .keys(let keys) = objects.content.content, let access = objects.content.access else {
      return
    }
    core.delete(keys, access)
  }

  /// Deletes all objects of all classes.
  public func deleteAll() { core.deleteAll() }
}
