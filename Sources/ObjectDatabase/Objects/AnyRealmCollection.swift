// AnyRealmCollection.swift: a collection of objects or values of any kind: results, a list, a set
// or what links to an object. Invariant: it is the collection that it was made of, as live as
// that.

import Engine

/// A collection whose kind is hidden.
public struct AnyRealmCollection<Element: RealmCollectionValue>: RealmCollection {
  private let base: AnyCollectionBase<Element>

  /// Hides the kind of a collection.
  public init<Base: RealmCollection>(_ base: Base) where Base.Element == Element {
    self.base = CollectionBase(base)
  }

  private init(_ base: AnyCollectionBase<Element>) { self.base = base }

  /// For this module.
  public var _elements: _ElementsBox? { base.elements }
  /// The realm; nil for an unmanaged collection.
  public var realm: Realm? { base.realm }
  /// Whether the owner was deleted, or the realm invalidated.
  public var isInvalidated: Bool { base.isInvalidated }
  /// Whether the realm is frozen.
  public var isFrozen: Bool { base.isFrozen }
  /// The number of elements.
  public var count: Int { base.count }

  /// The element at a position; one out of bounds stops the process.
  public subscript(position: Int) -> Element { base.element(at: position) }

  /// A loop over the present elements.
  public func makeIterator() -> AnyIterator<Element> { base.makeIterator() }

  /// The same in another realm on the same database; nil when it is not there.
  public func _moved(to core: _RealmCore) -> AnyRealmCollection? {
    base.moved(to: core).map { AnyRealmCollection($0) }
  }
}

/// A collection of any kind, for `AnyRealmCollection`.
private class AnyCollectionBase<Element: RealmCollectionValue> {
  var elements: _ElementsBox? { nil }
  var realm: Realm? { nil }
  var isInvalidated: Bool { false }
  var isFrozen: Bool { false }
  var count: Int { 0 }
  func element(at position: Int) -> Element { Misuse.stop("no collection has no elements") }
  func makeIterator() -> AnyIterator<Element> { AnyIterator { nil } }
  func moved(to core: _RealmCore) -> AnyCollectionBase? { nil }
}

private final class CollectionBase<Base: RealmCollection>: AnyCollectionBase<Base.Element> {
  private let base: Base

  init(_ base: Base) { self.base = base }

  override var elements: _ElementsBox? { base._elements }
  override var realm: Realm? { base.realm }
  override var isInvalidated: Bool { base.isInvalidated }
  override var isFrozen: Bool { base.isFrozen }
  override var count: Int { base.count }
  override func element(at position: Int) -> Base.Element { base[position] }
  override func makeIterator() -> AnyIterator<Base.Element> { AnyIterator(base.makeIterator()) }

  override func moved(to core: _RealmCore) -> AnyCollectionBase<Base.Element>? {
    base._moved(to: core).map { CollectionBase($0) }
  }
}
