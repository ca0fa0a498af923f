// Increment.swift: adding to a property, which is more than setting it: where clients synchronize,
// what several of them added counts together, and of what they set the latest only.

extension RealmCollectionValue where Self: ObjectBase {
  /// Adds to an integer property; it wraps around at the ends of 64 bits.
  ///
  /// `object.count += 1` sets the property. Where nobody synchronizes, both are the same.
  /// - Parameters:
  ///   - property: A persisted property that is not a primary key.
  ///   - amount: What to add.
  public func increment(_ property: ReferenceWritableKeyPath<Self, Int>, by amount: Int = 1) {
    guard let access = tableAccess else {
      self[keyPath: property] &+= amount
      return
    }
    let name = Self.name(of: property)
    guard let number = access.info.number(of: name) else {
      Misuse.stop("class \(access.name) has no property \"\(name)\"")
    }
    access.checkAssignable(number)
    access.increment(rowKey, number, by: Int64(amount))
  }
}
