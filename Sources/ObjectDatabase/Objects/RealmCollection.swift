// RealmCollection.swift: the common part of lists, sets, linking objects and results. Invariant: a
// collection derived from a live one is live, and is evaluated when used.

import Engine

/// A collection of a realm.
///
/// Two are equal if they are unmanaged and have equal elements, or if they read the same version of
/// the same realm and are the collection of one property, or results with the same elements.
public protocol RealmCollection: RandomAccessCollection, CustomStringConvertible, Equatable,
  ThreadConfined
where Element: RealmCollectionValue, Index == Int {
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
    let own = (self as? any _PropertyCollection).map { ObjectIdentifier($0) }
    let identity =
      own ?? _elements.map { ObjectIdentifier($0.elements) } ?? ObjectIdentifier(Self.self)
    return Description.text(of: self, identity: UInt(bitPattern: identity))
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
    Results(elements.sorted(by: Array(sortDescriptors)))
  }

  /// The values in their order.
  public func sorted(ascending: Bool = true) -> Results<Element> {
    Results(elements.adding(.sorted([SortDescriptor(keyPath: "self", ascending: ascending)])))
  }

  /// The first of all objects that agree in these properties.
  public func distinct<Paths: Sequence>(
    by keyPaths: Paths
  ) -> Results<Element> where Paths.Element == String {
    Results(elements.distinct(by: Array(keyPaths)))
  }

  /// Each value once.
  public func distinct() -> Results<Element> { Results(elements.adding(.distinct([]))) }

  // MARK: properties of all elements

  /// A property of every object; `self` is the elements themselves.
  public func value(forKey key: String) -> [Any?] {
    if key == "self" { return map { $0 as Any? } }
    guard let box = _elements else { return objects.map { $0.value(forKey: key) } }
    let (keys, access) = objectKeys(box.elements)
    return keys.map { access.makeObject($0).value(forKey: key) }
  }

  /// A property of every object, or of objects reached through links: `owner.name`.
  public func value(forKeyPath keyPath: String) -> [Any?] {
    guard keyPath.contains(".") else { return value(forKey: keyPath) }
    return objects.map { $0.value(forKeyPath: keyPath) }
  }

  /// For this module.
  func _anyValue(forKeyPath keyPath: String) -> Any? { value(forKeyPath: keyPath) as [Any?] }

  /// The elements, which must be objects.
  private var objects: [ObjectBase] {
    map { element in
      guard let object = DynamicValue.unwrapped(element) as? ObjectBase else {
        Misuse.stop("only objects have properties; these elements are \(Element.self)")
      }
      return object
    }
  }

  /// Changes a property of every object; `self` is every element of a list or set of values.
  public func setValue(_ value: Any?, forKey key: String) {
    if key == "self", let collection = self as? any ReplaceableElements {
      collection.replaceAll(with: value)
      return
    }
    guard let box = _elements else {
      for object in objects { object.setValue(value, forKey: key) }
      return
    }
    let (keys, access) = objectKeys(box.elements)
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

extension Elements {
  /// The elements in an order; one of a property that is not there stops the process.
  func sorted(by descriptors: [SortDescriptor]) -> Elements {
    if let access { for descriptor in descriptors { _ = PathReader(descriptor.keyPath, access) } }
    return adding(.sorted(descriptors))
  }

  /// The elements that differ in some properties; one that is not there stops the process.
  func distinct(by keyPaths: [String]) -> Elements {
    if let access { for keyPath in keyPaths { _ = PathReader(keyPath, access) } }
    return adding(.distinct(keyPaths))
  }

  /// Whether both have the same elements of the same version.
  func isSame(as other: Elements) -> Bool {
    if self === other { return true }
    guard core.isSameContent(as: other.core), !isInvalidated, !other.isInvalidated,
      access?.name == other.access?.name
    else { return false }
    if steps.isEmpty, other.steps.isEmpty, case .collection(let row) = origin,
      case .collection(let otherRow) = other.origin
    {
      return row.isSameProperty(as: otherRow)
    }
    return switch (content, other.content) {
    case (.keys(let keys), .keys(let otherKeys)): keys == otherKeys
    case (.values(let values), .values(let otherValues)): values == otherValues
    default: false
    }
  }
}

extension _Row {
  /// Whether it is the same property of the same object of the same version.
  func isSameProperty(as other: _Row) -> Bool {
    key == other.key && property == other.property && access.name == other.access.name
      && core.isSameContent(as: other.core)
  }
}

extension RealmCollection {
  /// Whether both are the same collection, or unmanaged with equal elements.
  public static func == (left: Self, right: Self) -> Bool {
    switch (left._elements?.elements, right._elements?.elements) {
    case (.some(let left), .some(let right)): left.isSame(as: right)
    case (.none, .none): left.elementsEqual(right)
    default: false
    }
  }
}

extension RealmCollection where Element: ObjectBase {
  /// The elements by one property.
  public func sorted<Value>(
    by keyPath: KeyPath<Element, Value>, ascending: Bool = true
  ) -> Results<Element> {
    sorted(byKeyPath: name(of: keyPath), ascending: ascending)
  }

  /// The first of all objects that agree in these properties.
  public func distinct<Paths: Sequence>(
    by keyPaths: Paths
  ) -> Results<Element> where Paths.Element == PartialKeyPath<Element> {
    distinct(by: keyPaths.map { name(of: $0) })
  }

  /// The name of the property that a key path leads to, with those of the links on the way.
  func name(of keyPath: PartialKeyPath<Element>) -> String {
    let info = Misuse.unthrowingRealm { () throws(Realm.Error) in
      try Discovery.info(for: Element.self)
    }
    guard let path = Discovery.path(of: keyPath, in: info) else {
      Misuse.stop("a key path of \(info.name) leads to something other than persisted properties")
    }
    return path.joined(separator: ".")
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

  /// The average of a property in its own type; nil without values.
  @_disfavoredOverload
  public func average<Value: AddableType>(of keyPath: KeyPath<Element, Value>) -> Value? {
    average(ofProperty: name(of: keyPath))
  }
}
