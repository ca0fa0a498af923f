// ObjectMaker.swift [U]: objects of one class that a closure fills in, one after the other. Nobody
// sees a row's object behind the closure but who kept it, so one object stands for all rows: it is
// filled in, its values go into the batch of its class, and it is as new for the next row.
// Invariants: whoever gets `object` gets it unmanaged and as new; one that anybody else refers to,
// and one of a class whose objects are more than their rows, is added as any other object is, and
// never stands for another row.
// As new: no property is set. The values that the class gives a new object are those of another new
// object, made when a row needs one: `init()` may give each object another value.

import Engine

/// Makes objects of one class.
@usableFromInline
@safe final class ObjectMaker {
  /// The object of the row that is being made.
  @safe @exclusivity(unchecked) private var object: ObjectBase?
  /// The same without a count: it stays until `add`.
  @safe @exclusivity(unchecked) @usableFromInline private(set) var borrowed: Unmanaged<ObjectBase>
  private let core: _RealmCore
  private let type: ObjectBase.Type
  private let policy: Realm.UpdatePolicy
  /// Whether an object is nothing but its row, and the row all that it adds.
  private let reuses: Bool
  private let places: [PersistedField.Place]
  /// The properties that a new object has a value for.
  private let defaults: [PersistedField.Place]
  /// What the key of an object without values is.
  private let newKey: Int64

  init(_ core: _RealmCore, _ type: ObjectBase.Type, _ policy: Realm.UpdatePolicy) {
    core.checkWritable()
    let info = core.access(to: type).info
    let object = type.init()
    self.core = core
    self.type = type
    self.policy = policy
    self.object = object
    unsafe borrowed = .passUnretained(object)
    reuses = info.type == type && info.isNothingButRow && info.isPlain
    places = info.fields.map(\.place)
    defaults = reuses ? places.filter { $0.isSet(in: object) } : []
    newKey = defaults.isEmpty ? 0 : ObjectBase.incompleteKey
  }

  /// Makes the next object.
  /// - Parameters:
  ///   - type: The class that the maker is for.
  ///   - fill: Gives the object its values.
  /// - Throws: What `fill` throws; the object is not added then.
  @inlinable @inline(__always)
  func make<Class: Object>(_ type: Class.Type, _ fill: (Class) throws -> Void) rethrows {
    // Safety: the maker keeps its object until `add`, and made it of the class or one derived from
    // it.
    try unsafe borrowed._withUnsafeGuaranteedRef { object in
      try fill(unsafe unsafeDowncast(object, to: Class.self))
    }
    add()
  }

  /// Adds the object, and goes on to the next row.
  @usableFromInline
  func add() {
    if reuses, ObjectReuse.isSeenHereOnly(&object) {
      // Safety: `object` is not changed before this is over.
      unsafe borrowed._withUnsafeGuaranteedRef { addAndClear($0) }
      return
    }
    unsafe borrowed._withUnsafeGuaranteedRef { addAlone($0) }
    let next = type.init()
    object = next
    unsafe borrowed = .passUnretained(next)
  }

  /// Adds an object that nobody else refers to; it is as new then.
  @inline(__always)
  private func addAndClear(_ object: ObjectBase) {
    if object.rowKey == ObjectBase.incompleteKey { complete(object) }
    if object.tableAccess != nil || !core.takeRow(of: object, type, policy) {
      addAloneAndClear(object)
    }
    object.rowKey = newKey
  }

  @inline(never)
  private func addAloneAndClear(_ object: ObjectBase) {
    addAlone(object)
    object.tableAccess = nil
    for place in places { place.clear(object) }
  }

  /// Adds an object as any other.
  private func addAlone(_ object: ObjectBase) {
    if object.tableAccess == nil {
      _ = core.add(object, policy)
    } else {
      // The closure added it.
      _ = core.link(to: object)
    }
  }

  /// Gives an object the values of a new one for properties that were not set.
  private func complete(_ object: ObjectBase) {
    object.rowKey = 0
    guard defaults.contains(where: { !$0.isSet(in: object) }) else { return }
    let fresh = type.init()
    for place in defaults where !place.isSet(in: object) { place.copy(to: object, from: fresh) }
  }
}
