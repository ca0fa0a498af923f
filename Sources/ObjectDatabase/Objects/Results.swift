// Results.swift [U]: the objects of a class, or a view of a collection: lazy and live. Invariant: a
// loop sees the elements present at its start, even if it changes the collection.

import Engine

/// Ordered elements of a realm, always up to date.
public struct Results<Element: RealmCollectionValue>: RealmCollection {
  let content: Elements

  init(_ content: Elements) { self.content = content }

  /// For this module.
  public var _elements: _ElementsBox? { _ElementsBox(elements: content) }

  /// The realm.
  public var realm: Realm? { Realm(content.core) }
  /// Whether the realm was invalidated, or the owner of the underlying collection was deleted.
  public var isInvalidated: Bool { content.isInvalidated }
  /// Whether the realm is frozen.
  public var isFrozen: Bool { content.core.isFrozen }

  /// The number of elements.
  /// - Complexity: O(1) for all objects of a class, else O(elements) after each change.
  public var count: Int { content.count }

  /// The element at a position; one out of bounds stops the process.
  public subscript(position: Int) -> Element { element(of: content.content, at: position) }

  private func element(of found: Elements.Content, at position: Int) -> Element {
    guard position >= 0, position < found.count else {
      Misuse.stop("index \(position) of results is out of bounds; the count is \(found.count)")
    }
    switch found {
    case .keys(let keys):
      guard let access = content.access else { preconditionFailure("keys are a class's") }
      return Element._cast(access.makeObject(keys[position]))
    case .values(let values): return content.made(Element.self, of: values[position])
    }
  }

  /// The first element, or nil.
  /// - Complexity: O(log objects) for all objects of a class.
  public var first: Element? {
    if content.steps.isEmpty, case .table(let access) = content.origin {
      return access.firstKey.map { Element._cast(access.makeObject($0)) }
    }
    let found = content.content
    return found.count == 0 ? nil : element(of: found, at: 0)
  }

  /// The last element, or nil.
  public var last: Element? {
    let found = content.content
    return found.count == 0 ? nil : element(of: found, at: found.count - 1)
  }

  /// A loop over the present elements.
  public func makeIterator() -> RealmIterator<Element> { RealmIterator(content) }
}

/// A loop over the elements that there were when it began.
public struct RealmIterator<Element: RealmCollectionValue>: IteratorProtocol {
  @usableFromInline let keys: [Int64]
  private let values: [Value]
  private let elements: Elements
  private let access: _TableAccess?
  @usableFromInline var position = 0
  /// The object returned last.
  ///
  /// If it has no other references, it is reused for the next row, so that a loop over a million
  /// objects makes one.
  @usableFromInline var last: ObjectBase?
  @usableFromInline let reuse = ObjectReuse()
  /// Whether objects are reused: they hold nothing besides their row, and have exactly the
  /// element's class.
  private let reuses: Bool

  init(_ elements: Elements) {
    switch elements.content {
    case .keys(let found): (keys, values) = (found, [])
    case .values(let found): (keys, values) = ([], found)
    }
    self.elements = elements
    access = elements.access
    reuses = access.map { $0.info.isNothingButRow && $0.info.type == Element.self } ?? false
  }

  /// The next element, or nil.
  @inlinable
  public mutating func next() -> Element? {
    guard position < keys.count, let again = unsafe reuse.retained(&last) else {
      return nextMade()
    }
    let object = unsafe again.takeRetainedValue()
    object.rowKey = keys[position]
    position += 1
    // Safety: `last` is set to objects of the element's class only, by `nextMade`.
    return unsafe unsafeBitCast(object, to: Element.self)
  }

  /// The next element as a new object, or a value.
  @usableFromInline
  mutating func nextMade() -> Element? {
    guard let access else {
      guard position < values.count else { return nil }
      position += 1
      return elements.made(Element.self, of: values[position - 1])
    }
    guard position < keys.count else { return nil }
    let object = access.makeObject(keys[position])
    position += 1
    if reuses { last = object }
    return Element._cast(object)
  }
}
