// RealmCore+Creating.swift: objects of plain values that come by name, as those of parsed JSON do.
// The values are set in an unmanaged object, which is then added like any other, so that
// consecutive ones wait in a batch (ObjectBatch.swift). Invariant: only values of exactly the
// property's type are set here; for all others `create(_:_:_:depth:)` (ObjectBase+Dynamic.swift)
// decides whether they fit, and nothing was changed before it does.

extension _RealmCore {
  /// Creates an object of values by property name.
  /// - Returns: The object; an unmanaged one when the transaction failed; nil when the class or a
  ///   value is not plain. Nothing was done then.
  func createPlain<Class: Object>(_ type: Class.Type, _ values: [String: Any]) -> Class? {
    guard firstFailure == nil, let info = batchedClass(type) else { return nil }
    let object = type.init()
    // An initializer may have used the realm.
    guard object.tableAccess == nil else { return nil }
    for field in info.fields {
      guard let value = values[field.name] else { continue }
      guard field.place.set(exactly: value, in: object) else { return nil }
    }
    _ = add(object, .error)
    return firstFailure == nil ? object : Class()
  }
}
