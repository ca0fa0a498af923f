// PropertyCollection.swift: the common part of lists, sets and maps as properties: they are
// unmanaged until their owner is added, and afterwards the collection of its row.

import Engine

/// A collection that a property can hold.
public protocol _PropertyCollection: AnyObject, Sequence, _Persistable {
  /// Makes an empty, unmanaged one.
  init()
  /// The collection of a row.
  init(_row: _Row)
  /// The row of a managed one.
  var _row: _Row? { get }
  /// Turns an unmanaged collection into that of a row, which already has its elements.
  func _take(_ row: _Row)
  /// How an element appears in a schema.
  static var _elementShape: _PropertyShape { get }
  /// Which kind of collection it is.
  static var _kind: CollectionKind { get }
  /// Elements created from a value of any type; nil when one does not fit.
  static func _elements(of any: Any?) -> [Element]?
  /// Adds elements.
  func _add(_ elements: [Element])
  /// Takes all elements out.
  func removeAll()
}

extension _PropertyCollection {
  /// The realm; nil for an unmanaged collection.
  public var realm: Realm? { _row.map { Realm($0.core) } }
  /// Whether the owner was deleted, or the realm invalidated.
  public var isInvalidated: Bool { _row?.isInvalidated ?? false }
  /// Whether the realm is frozen.
  public var isFrozen: Bool { _row?.core.isFrozen ?? false }

  // MARK: as a property

  /// A collection of the element's shape.
  public static var _shape: _PropertyShape {
    var shape = _elementShape
    shape.collection = _kind
    return shape
  }

  /// An empty one.
  public static func _default() -> Self { Self() }

  /// The elements of another collection; none for a null.
  public static func _fromAny(_ any: Any?) -> Self? {
    let made = Self()
    guard let given = DynamicValue.unwrapped(any) else { return made }
    guard let elements = _elements(of: given) else { return nil }
    made._add(elements)
    return made
  }

  /// The collection of a row.
  public static func _read(_ row: _Row) -> Self { Self(_row: row) }

  /// Replaces the elements of a row's collection with those of another.
  public static func _write(_ value: Self, to row: _Row) {
    if let own = value._row, own.isSame(as: row) { return }
    let elements = Array(value)
    let collection = Self(_row: row)
    row.core.record { recorder throws(EngineError) in try recorder.willAssign(row.place) }
    if row.count > 0 { collection.removeAll() }
    collection._add(elements)
    row.core.record { recorder throws(EngineError) in try recorder.didAssign(row.place) }
  }

  /// Nil: elements are written after their rows exist.
  public var _plainValue: Value? { nil }

  /// Turns an unmanaged collection into that of a row.
  public func _becomeManaged(_ row: _Row) {
    if _row == nil { _take(row) }
  }

  /// The same in another realm on the same database; nil when it is not there.
  public func _moved(to core: _RealmCore) -> Self? { _row?.moved(to: core).map { Self(_row: $0) } }
}

extension _PropertyCollection where Self: RealmCollection {
  /// For this module.
  public var _elements: _ElementsBox? {
    _row.map { _ElementsBox(elements: Elements(.collection($0))) }
  }
}
