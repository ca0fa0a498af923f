// Increment.swift: adds to a property, which differs from setting it: when clients synchronize,
// their additions accumulate, whereas only the latest assignment counts.

extension RealmCollectionValue where Self: ObjectBase {
  /// Adds to an integer property; it wraps around at the ends of 64 bits.
  ///
  /// `object.count += 1` sets the property. Without synchronization both are the same.
  /// - Parameters:
  ///   - property: A persisted property that is not a primary key.
  ///   - amount: The amount to add.
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
