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

  /// Makes many objects, each with the values that a block gives it.
  ///
  /// ```swift
  /// try realm.write {
  ///   realm.create(Dog.self, count: 1_000_000) { dog, index in
  ///     dog.name = "Rex \(index)"
  ///   }
  /// }
  /// ```
  /// It is `realm.add(object)` for each of them, without an object for each: the block gets one
  /// that is as new, unmanaged, and stands for the next row when the block returns. An object that
  /// the program keeps a reference to is managed from then on, as one that was added, and the next
  /// row gets another. Where objects are more than plain values (links, collections,
  /// `AnyRealmValue`, stored properties that are not persisted) each row gets an object of its own.
  /// - Parameters:
  ///   - type: The class.
  ///   - count: How many objects.
  ///   - update: What happens when an object's primary key is there already.
  ///   - fill: Gives object number 0, 1, 2, … its values. What it does not set has the value that
  ///     the class gives a new object. It may use the realm, but not end the transaction.
  /// - Throws: What `fill` throws. The objects before the one that it was called for are in the
  ///   transaction then, and that one is not: whoever catches the error inside of the transaction
  ///   goes on with them, and an error that leaves `write` takes them along.
  @inlinable
  public func create<Class: Object>(
    _ type: Class.Type, count: Int, update: UpdatePolicy = .error,
    _ fill: (Class, Int) throws -> Void
  ) rethrows {
    let maker = maker(type, update)
    for index in 0..<count { try maker.make(type) { object in try fill(object, index) } }
  }

  /// Makes an object of each value of a sequence.
  ///
  /// ```swift
  /// try realm.write {
  ///   realm.create(Dog.self, from: names) { dog, name in dog.name = name }
  /// }
  /// ```
  /// - Parameters:
  ///   - type: The class.
  ///   - values: What the objects are made of.
  ///   - update: What happens when an object's primary key is there already.
  ///   - fill: Gives an object its values; see `create(_:count:update:_:)`.
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
