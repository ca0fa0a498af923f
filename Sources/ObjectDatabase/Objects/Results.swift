// Results.swift: the objects of a class, or a view of a collection: lazy and live.
// Invariant: a loop sees the elements that there were at its begin, whatever it changes meanwhile.

import Engine

/// Elements of a realm in an order, always as the realm has them now.
public struct Results<Element: RealmCollectionValue>: RealmCollection {
  let content: Elements

  init(_ content: Elements) { self.content = content }

  /// For this module.
  public var _elements: _ElementsBox? { _ElementsBox(elements: content) }

  /// The realm.
  public var realm: Realm? { Realm(content.core) }
  /// Whether the realm was invalidated, or the owner of what this is a view of was deleted.
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
    case .values(let values): return Element._make(from: values[position], in: content.core)
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
  private let content: Elements.Content
  private let core: _RealmCore
  private let access: _TableAccess?
  private var position = 0
  /// The object handed out last.
  ///
  /// When nobody else refers to it, it stands for the next row, so that
  /// a loop over a million objects makes one.
  private var last: ObjectBase?
  private let reuses: Bool

  init(_ elements: Elements) {
    content = elements.content
    core = elements.core
    access = elements.access
    reuses = elements.access?.info.isNothingButRow ?? false
  }

  /// The next element, or nil.
  public mutating func next() -> Element? {
    switch content {
    case .keys(let keys):
      guard position < keys.count, let access else { return nil }
      let key = keys[position]
      position += 1
      if reuses, let object = reusable() {
        object.rowKey = key
        return Element._cast(object)
      }
      let object = access.makeObject(key)
      last = object
      return Element._cast(object)
    case .values(let values):
      guard position < values.count else { return nil }
      position += 1
      return Element._make(from: values[position - 1], in: core)
    }
  }

  private mutating func reusable() -> ObjectBase? {
    guard isKnownUniquelyReferenced(&last), let last else { return nil }
    // A weak or unowned reference would see another row.
    guard _getWeakRetainCount(last) <= 1, _getUnownedRetainCount(last) <= 1 else { return nil }
    return last
  }
}
