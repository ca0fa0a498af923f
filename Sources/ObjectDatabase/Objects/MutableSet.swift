// MutableSet.swift: distinct elements; of a managed object sorted by value, of links by key.

import Engine

/// Distinct elements.
public final class MutableSet<Element: RealmCollectionValue>: RealmCollection {
  /// In the order in which they came; sets of unmanaged objects are small.
  private var unmanaged: [Element] = []
  private var row: _Row?
  var managedRow: _Row? { row }

  /// Makes an empty, unmanaged set.
  public init() {}

  init(_ row: _Row) { self.row = row }

  /// For this module.
  public var _elements: _ElementsBox? {
    row.map { _ElementsBox(elements: Elements(.collection($0))) }
  }

  /// The realm; nil for an unmanaged set.
  public var realm: Realm? { row.map { Realm($0.core) } }
  /// Whether the owner was deleted, or the realm invalidated.
  public var isInvalidated: Bool { row?.isInvalidated ?? false }
  /// Whether the realm is frozen.
  public var isFrozen: Bool { row?.core.isFrozen ?? false }
  /// The number of elements.
  public var count: Int { row?.count ?? unmanaged.count }

  /// The element at a position; one out of bounds stops the process.
  public subscript(position: Int) -> Element {
    guard let row else { return unmanaged[position] }
    return Element._make(from: row.element(at: position), in: row.core)
  }

  /// A loop over the present elements.
  public func makeIterator() -> AnyIterator<Element> {
    guard let row else { return AnyIterator(unmanaged.makeIterator()) }
    return AnyIterator(RealmIterator(Elements(.collection(row))))
  }

  /// Whether a value is in the set.
  /// - Complexity: O(log elements) in a managed set.
  public func contains(_ object: Element) -> Bool {
    guard let row else { return unmanaged.contains(object) }
    guard let value = Self.value(object, in: row) else { return false }
    return row.contains(value)
  }

  /// What the engine holds for an element, without adding an object; nil for an unmanaged one.
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
    guard let row else {
      if !unmanaged.contains(object) { unmanaged.append(object) }
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
    guard let row else {
      unmanaged.removeAll { $0 == object }
      return
    }
    row.core.checkWritable()
    if let value = Self.value(object, in: row) { row.remove(value) }
  }

  /// Takes all values out.
  public func removeAll() {
    guard let row else {
      unmanaged = []
      return
    }
    row.removeAll()
  }

  // MARK: sets of sets

  /// Adds the values of another set.
  public func formUnion(_ other: MutableSet) { insert(objectsIn: other) }

  /// Takes out what another set has.
  public func subtract(_ other: MutableSet) {
    for element in Array(other) { remove(element) }
  }

  /// Takes out what another set has not.
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

extension MutableSet: _Persistable {
  /// A set of the element's shape.
  public static var _shape: _PropertyShape {
    var shape = Element._shape
    shape.collection = .set
    return shape
  }

  /// An empty one.
  public static func _default() -> MutableSet { MutableSet() }

  /// The elements of a sequence.
  public static func _fromAny(_ any: Any?) -> MutableSet? {
    if let own = any as? MutableSet { return own }
    guard let elements = Element.elements(of: DynamicValue.unwrapped(any) ?? [Element]()) else {
      return nil
    }
    let made = MutableSet()
    made.insert(objectsIn: elements)
    return made
  }

  /// The set of a row.
  public static func _read(_ row: _Row) -> MutableSet { MutableSet(row) }

  /// Puts the values of another set in the place of a row's.
  public static func _write(_ value: MutableSet, to row: _Row) {
    if let own = value.row, own.isSame(as: row) { return }
    let elements = Array(value)
    let set = MutableSet(row)
    if row.count > 0 { set.removeAll() }
    set.insert(objectsIn: elements)
  }

  /// Nil: elements are written once their rows are there.
  public var _plainValue: Value? { nil }

  /// An unmanaged set became the set of a row.
  public func _becomeManaged(_ row: _Row) {
    guard self.row == nil else { return }
    self.row = row
    unmanaged = []
  }
}
