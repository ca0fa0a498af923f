// Realm+Objects.swift: adding, creating and deleting objects. None of these calls throws: a
// violation of the schema is kept, and the commit throws it and cancels the transaction. A call
// outside of a write transaction stops the process.

import Engine

extension Realm {
  /// The treatment of an object whose primary key exists already.
  public enum UpdatePolicy: Sendable {
    /// The transaction fails.
    case error
    /// Sets the differing values of the existing object.
    case modified
    /// Sets all values of the existing object.
    case all
  }

  /// Adds an object, and everything that it leads to.
  /// - Parameters:
  ///   - object: An unmanaged object, which becomes managed; an object of this realm is not
  ///     changed.
  ///   - update: What to do when its primary key exists already.
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
  ///   - update: What to do when the primary key exists already.
  /// - Returns: The managed object; an unmanaged one when the transaction failed, so that the rest
  ///   of the block does no harm.
  @discardableResult
  public func create<Class: Object>(
    _ type: Class.Type, value: Any = [String: Any](), update: UpdatePolicy = .error
  ) -> Class {
    core.checkWritable()
    if update == .error, Swift.type(of: value) == [String: Any].self,
      let values = value as? [String: Any], let object = core.createPlain(type, values)
    {
      return object
    }
    let access = core.access(to: type)
    guard let key = core.create(access, value, update) else { return Class() }
    return Class._cast(access.makeObject(key))
  }

  /// Creates many objects, each with values set by a block.
  ///
  /// ```swift
  /// try realm.write {
  ///   realm.create(Dog.self, count: 1_000_000) { dog, index in
  ///     dog.name = "Rex \(index)"
  ///   }
  /// }
  /// ```
  /// It is like `realm.add(object)` for each of them, without an object for each: the block gets a
  /// reset, unmanaged object, which is reused for the next row after the block returns. An object
  /// that the program keeps a reference to becomes managed, like one that was added, and the next
  /// row gets another one. Where objects are more than plain values (links, collections,
  /// `AnyRealmValue`, stored properties that are not persisted) each row gets its own object.
  /// - Parameters:
  ///   - type: The class.
  ///   - count: How many objects.
  ///   - update: What to do when an object's primary key exists already.
  ///   - fill: Sets the values of object number 0, 1, 2, … Properties that it does not set have
  ///     their default value. It may use the realm, but not end the transaction.
  /// - Throws: What `fill` throws. Then the earlier objects are in the transaction, and the current
  ///   one is not: code that catches the error inside of the transaction continues with them, and
  ///   an error that leaves `write` discards them.
  @inlinable
  public func create<Class: Object>(
    _ type: Class.Type, count: Int, update: UpdatePolicy = .error,
    _ fill: (Class, Int) throws -> Void
  ) rethrows {
    let maker = maker(type, update)
    for index in 0..<count { try maker.make(type) { object in try fill(object, index) } }
  }

  /// Creates an object from each value of a sequence.
  ///
  /// ```swift
  /// try realm.write {
  ///   realm.create(Dog.self, from: names) { dog, name in dog.name = name }
  /// }
  /// ```
  /// - Parameters:
  ///   - type: The class.
  ///   - values: The values of the objects.
  ///   - update: What to do when an object's primary key exists already.
  ///   - fill: Sets the values of an object; see `create(_:count:update:_:)`.
  /// - Throws: What `fill` throws, as in `create(_:count:update:_:)`.
  @inlinable
  public func create<Class: Object, Values: Sequence>(
    _ type: Class.Type, from values: Values, update: UpdatePolicy = .error,
    _ fill: (Class, Values.Element) throws -> Void
  ) rethrows {
    let maker = maker(type, update)
    for value in values { try maker.make(type) { object in try fill(object, value) } }
  }

  @usableFromInline
  func maker(_ type: ObjectBase.Type, _ update: UpdatePolicy) -> ObjectMaker {
    ObjectMaker(core, type, update)
  }

  /// Deletes an object, and the embedded ones that it owns; links to it become nil.
  public func delete(_ object: ObjectBase) { core.delete(object) }

  /// Deletes objects.
  public func delete<Objects: Sequence>(_ objects: Objects) where Objects.Element: ObjectBase {
    for object in Array(objects) where !object.isInvalidated { core.delete(object) }
  }

  /// Deletes the objects that a map holds.
  public func delete<Key, Element: ObjectBase>(_ map: Map<Key, Element?>) {
    delete(map.values.compactMap { $0 })
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
