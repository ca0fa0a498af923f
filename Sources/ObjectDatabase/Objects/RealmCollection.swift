// RealmCollection.swift: the common part of lists, sets, linking objects and results. Invariant: a
// collection derived from a live one is live, and is evaluated when used.

import Engine

/// A collection of a realm.
public protocol RealmCollection: RandomAccessCollection, CustomStringConvertible
where Element: RealmCollectionValue, Index == Int {
  /// The realm; nil for an unmanaged collection.
  var realm: Realm? { get }
  /// Whether the owner was deleted, or the realm invalidated.
  var isInvalidated: Bool { get }
  /// Whether the collection belongs to a frozen realm.
  var isFrozen: Bool { get }
  /// The elements of a managed collection.
  var _elements: _ElementsBox? { get }
}

/// The elements of a managed collection, for collections of this module.
public struct _ElementsBox {
  let elements: Elements
}

extension RealmCollection {
  /// Zero.
  public var startIndex: Int { 0 }
  /// The count.
  public var endIndex: Int { count }

  var elements: Elements {
    guard let box = _elements else {
      Misuse.stop("an unmanaged collection is not sorted, filtered or summed up; add it first")
    }
    return box.elements
  }

  /// The position of an element, or nil.
  public func index(of element: Element) -> Int? { firstIndex(of: element) }

  /// The elements in words, at most a hundred of them.
  public var description: String {
    let shown = prefix(100).enumerated().map { "  [\($0)] \($1)" }
    let rest = count > 100 ? ["  … \(count - 100) more"] : []
    return "\(Swift.type(of: self)) (\n" + (shown + rest).joined(separator: "\n") + "\n)"
  }

  // MARK: sorting

  /// The elements by one property.
  /// - Parameters:
  ///   - keyPath: The property, or one reached through links: `owner.name`.
  ///   - ascending: Whether small values come first.
  /// - Returns: The results.
  public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Element> {
    sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
  }

  /// The elements by several properties, the first one first.
  public func sorted<Descriptors: Sequence>(
    by sortDescriptors: Descriptors
  ) -> Results<Element> where Descriptors.Element == SortDescriptor {
    Results(elements.adding(.sorted(Array(sortDescriptors))))
  }

  /// The values in their order.
  public func sorted(ascending: Bool = true) -> Results<Element> {
    Results(elements.adding(.sorted([SortDescriptor(keyPath: "self", ascending: ascending)])))
  }

  /// The first of all objects that agree in these properties.
  public func distinct<Paths: Sequence>(
    by keyPaths: Paths
  ) -> Results<Element> where Paths.Element == String {
    Results(elements.adding(.distinct(Array(keyPaths))))
  }

  /// Each value once.
  public func distinct() -> Results<Element> { Results(elements.adding(.distinct([]))) }

  // MARK: properties of all elements

  /// A property of every object.
  public func value(forKey key: String) -> [Any?] {
    let (keys, access) = objectKeys(elements)
    return keys.map { access.makeObject($0).value(forKey: key) }
  }

  /// Changes a property of every object.
  public func setValue(_ value: Any?, forKey key: String) {
    let (keys, access) = objectKeys(elements)
    guard let number = access.info.number(of: key) else {
      Misuse.stop("class \(access.name) has no property \"\(key)\"")
    }
    access.checkAssignable(number)
    let property = access.info.properties[number]
    // A plain value is the same for every row, and need not read it.
    if !property.isCollection, property.type != .object, property.type != .any,
      let plain = access.core.plain(value, access, number)
    {
      for row in keys where access.contains(row) { access.set(plain, row, number) }
      return
    }
    for row in keys where access.contains(row) {
      access.core.set(value, row, access, number, depth: 0)
    }
  }

  private func objectKeys(_ elements: Elements) -> ([Int64], _TableAccess) {
    guard case .keys(let keys) = elements.content, let access = elements.access else {
      Misuse.stop("only objects have properties; these elements are \(Element.self)")
    }
    return (keys, access)
  }
}

extension RealmCollection where Element: ObjectBase {
  /// The elements by one property.
  public func sorted<Value>(
    by keyPath: KeyPath<Element, Value>, ascending: Bool = true
  ) -> Results<Element> {
    sorted(byKeyPath: name(of: keyPath), ascending: ascending)
  }

  /// The name of the property that a key path leads to.
  func name<Value>(of keyPath: KeyPath<Element, Value>) -> String {
    let info = Misuse.unthrowingRealm { () throws(Realm.Error) in
      try Discovery.info(for: Element.self)
    }
    guard let name = Discovery.name(of: keyPath, in: info) else {
      Misuse.stop(
        "a key path of \(info.name) leads to no persisted property of its own; name the path as a "
          + "string")
    }
    return name
  }

  /// The smallest value of a property.
  public func min<Value: MinMaxType>(of keyPath: KeyPath<Element, Value>) -> Value? {
    min(ofProperty: name(of: keyPath))
  }

  /// The greatest value of a property.
  public func max<Value: MinMaxType>(of keyPath: KeyPath<Element, Value>) -> Value? {
    max(ofProperty: name(of: keyPath))
  }

  /// The sum of a property.
  public func sum<Value: AddableType>(of keyPath: KeyPath<Element, Value>) -> Value {
    sum(ofProperty: name(of: keyPath))
  }

  /// The average of a property; nil without values.
  public func average<Value: AddableType>(of keyPath: KeyPath<Element, Value>) -> Double? {
    average(ofProperty: name(of: keyPath))
  }
}
