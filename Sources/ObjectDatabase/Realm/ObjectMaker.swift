// ObjectMaker.swift [U]: creates objects of one class that a closure fills in, one after the other.
// After the closure returns, a row's object is visible only if the closure kept it, so one object
// is reused for all rows: it is filled in, its values go to the batch of its class, and it is reset
// for the next row. Invariants: the closure always gets `object` unmanaged and reset; an object
// that has other references, or whose class has more state than its row, is added like any other
// object, and never reused. Reset: no property is set. Default values come from another new object,
// made when a row needs one: `init()` may set different values for each object.

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
  /// Whether objects have no state besides their row, and add only that row.
  private let reuses: Bool
  private let reuse = ObjectReuse()
  private let places: [PersistedField.Place]
  /// The properties that a new object has a value for.
  private let defaults: [PersistedField.Place]
  /// The key of an object without values.
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
  ///   - fill: Sets the object's values.
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

  /// Adds the object, and continues with the next row.
  @usableFromInline
  func add() {
    if reuses, reuse.isSeenHereOnly(&object) {
      // Safety: `object` is not changed before this is over.
      unsafe borrowed._withUnsafeGuaranteedRef { addAndClear($0) }
      return
    }
    unsafe borrowed._withUnsafeGuaranteedRef { addAlone($0) }
    let next = type.init()
    object = next
    unsafe borrowed = .passUnretained(next)
  }

  /// Adds an object without other references, and resets it.
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

  /// Sets the default values of an object's unset properties.
  private func complete(_ object: ObjectBase) {
    object.rowKey = 0
    guard defaults.contains(where: { !$0.isSet(in: object) }) else { return }
    let fresh = type.init()
    for place in defaults where !place.isSet(in: object) { place.copy(to: object, from: fresh) }
  }
}
