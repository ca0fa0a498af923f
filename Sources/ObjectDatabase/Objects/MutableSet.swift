// MutableSet.swift: distinct elements; for a managed object in the order of the file: by type, then
// by value, decimals by their bytes, links by key. Invariant: elements are distinct by value, as in
// `distinct()`: 5 and 5.0 in a set of mixed values, -0 and 0, 1.0 and 1.00, and two NaNs are one
// element, managed or not; the first one inserted is kept.

import Engine

/// Distinct elements.
public final class MutableSet<Element: RealmCollectionValue>: RealmCollection {
  /// In insertion order; sets of unmanaged objects are small.
  private var unmanaged: [Element] = []
  /// For this module.
  public private(set) var _row: _Row?

  /// Makes an empty, unmanaged set.
  public init() {}

  /// For this module.
  public init(_row: _Row) { self._row = _row }

  /// For this module.
  public func _take(_ row: _Row) {
    _row = row
    unmanaged = []
  }

  /// The number of elements.
  public var count: Int { _row?.count ?? unmanaged.count }

  /// The element at a position; one out of bounds stops the process.
  public subscript(position: Int) -> Element {
    guard let row = _row else {
      if position >= unmanaged.count, Discovery.isTracing { return Element._traced() }
      return unmanaged[position]
    }
    return Element.element(row.element(at: position), of: row)
  }

  /// A loop over the present elements.
  public func makeIterator() -> AnyIterator<Element> {
    guard let row = _row else { return AnyIterator(unmanaged.makeIterator()) }
    return AnyIterator(RealmIterator(Elements(.collection(row))))
  }

  /// Whether a value is in the set.
  /// - Complexity: O(log elements) in a managed set.
  public func contains(_ object: Element) -> Bool {
    guard let row = _row else { return unmanaged.contains { Self.isSame($0, object) } }
    guard let value = Self.value(object, in: row) else { return false }
    return row.contains(value)
  }

  /// Whether two elements are one to a set.
  private static func isSame(_ left: Element, _ right: Element) -> Bool {
    if left == right { return true }
    switch Element._shape.type {
    case .float, .double, .decimal128, .any:
      guard let left = left._plainValue, let right = right._plainValue else { return false }
      return Value.orderByValue(left, right) == 0
    default: return false
    }
  }

  /// The engine's value for an element, without adding an object; nil for an unmanaged one.
  private static func value(_ element: Element, in row: _Row) -> Value? {
    if let plain = element._plainValue { return plain }
    if let object = element as? ObjectBase {
      guard let access = object.tableAccess, access.core.store === row.core.store else {
        return nil
      }
      return .link(object.rowKey)
    }
    return row.core.write == nil ? nil : element._engineValue(in: row.core)
  }

  /// Adds a value; an unmanaged object is added to the realm.
  public func insert(_ object: Element) {
    if let value = object as? AnyRealmValue, value.isCollection {
      Misuse.stop("a set of AnyRealmValue holds no lists and dictionaries; use a list")
    }
    guard let row = _row else {
      if !contains(object) { unmanaged.append(object) }
      return
    }
    row.core.checkWritable()
    _ = row.insert(object._engineValue(in: row.core))
  }

  /// Adds values.
  public func insert<Objects: Sequence>(objectsIn objects: Objects)
  where Objects.Element == Element {
    for object in Array(objects) { insert(object) }
  }

  /// Takes a value out, if it is there.
  public func remove(_ object: Element) {
    guard let row = _row else {
      unmanaged.removeAll { Self.isSame($0, object) }
      return
    }
    row.core.checkWritable()
    if let value = Self.value(object, in: row) { row.remove(value) }
  }

  /// Takes all values out.
  public func removeAll() {
    guard let row = _row else {
      unmanaged = []
      return
    }
    row.removeAll()
  }

  // MARK: sets of sets

  /// Adds the values of another set.
  public func formUnion(_ other: MutableSet) { insert(objectsIn: other) }

  /// Removes the elements of another set.
  public func subtract(_ other: MutableSet) {
    for element in Array(other) { remove(element) }
  }

  /// Removes the elements that are not in another set.
  public func formIntersection(_ other: MutableSet) {
    for element in Array(self) where !other.contains(element) { remove(element) }
  }

  /// Whether another set has every value.
  public func isSubset(of possibleSuperset: MutableSet) -> Bool {
    allSatisfy { possibleSuperset.contains($0) }
  }

  /// Whether the sets have a value in common.
  public func intersects(_ otherSet: MutableSet) -> Bool { contains { otherSet.contains($0) } }
}

extension MutableSet: _PropertyCollection {
  /// For this module.
  public static var _elementShape: _PropertyShape { Element._shape }
  /// A set.
  public static var _kind: CollectionKind { .set }

  /// The elements of a sequence; nil when one does not fit.
  public static func _elements(of any: Any?) -> [Element]? { Element.elements(of: any) }

  /// Adds values.
  public func _add(_ elements: [Element]) { insert(objectsIn: elements) }
}
