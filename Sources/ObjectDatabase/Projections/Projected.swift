// Projected.swift: the property wrapper of projections, and collections of one property of the
// objects in a list: `\Person.friends.projectTo.firstName`.

import Dispatch
import Engine

/// A property of a projection: what a key path of its object leads to.
@propertyWrapper
public struct Projected<Root: ObjectBase & RealmCollectionValue, Value> {
  private let keyPath: KeyPath<Root, Value>

  /// A property of the object, or anything that a key path from the object leads to.
  public init(_ projectedKeyPath: KeyPath<Root, Value>) { keyPath = projectedKeyPath }

  /// Only projections have projected properties.
  @available(*, unavailable, message: "@Projected belongs into a class derived from Projection")
  public var wrappedValue: Value {
    get { preconditionFailure("only projections have projected properties") }
    // swift-format-ignore: UseExplicitNilCheckInConditions
    set { preconditionFailure("only projections have projected properties: \(newValue)") }
  }

  /// Reads or changes the property of the object.
  ///
  /// A change through a key path that is not writable, as one with `?`, stops the process.
  public static subscript<Owner: Projection<Root>>(
    _enclosingInstance owner: Owner,
    wrapped wrapped: ReferenceWritableKeyPath<Owner, Value>,
    storage storage: ReferenceWritableKeyPath<Owner, Self>
  ) -> Value {
    get { owner.rootObject[keyPath: owner[keyPath: storage].keyPath] }
    set {
      guard
        let writable = owner[keyPath: storage].keyPath as? ReferenceWritableKeyPath<Root, Value>
      else {
        Misuse.stop("a property of \(Owner.self) is read-only, because its key path is")
      }
      owner.rootObject[keyPath: writable] = newValue
    }
  }
}

extension Projected: AnyProjected {
  var anyKeyPath: AnyKeyPath { keyPath }
}

extension RealmCollection where Element: ObjectBase {
  /// One property of all objects, as in `friends.projectTo.firstName`.
  public var projectTo: CollectionElementMapper<Self> { CollectionElementMapper(base: self) }
}

/// What `projectTo` gives: the next name is a property of the objects.
@dynamicMemberLookup
public struct CollectionElementMapper<Base: RealmCollection> where Base.Element: ObjectBase {
  let base: Base

  /// A property of all objects.
  public subscript<Value: RealmCollectionValue>(
    dynamicMember member: KeyPath<Base.Element, Value>
  ) -> ProjectedCollection<Value> {
    ProjectedCollection(MappedCollection(base, member))
  }
}

/// One property of all objects of a collection, as live as that.
public struct ProjectedCollection<Element: RealmCollectionValue>: RandomAccessCollection,
  CustomStringConvertible, ThreadConfined, Equatable
{
  private let base: AnyMappedCollection<Element>

  init(_ base: AnyMappedCollection<Element>) { self.base = base }

  /// Zero.
  public var startIndex: Int { 0 }
  /// The count.
  public var endIndex: Int { base.count }
  /// The number of elements.
  public var count: Int { base.count }
  /// The value at a position; one out of bounds stops the process.
  public subscript(position: Int) -> Element { base.element(at: position) }

  /// The realm; nil for an unmanaged collection.
  public var realm: Realm? { base.realm }
  /// Whether the owner was deleted, or the realm invalidated.
  public var isInvalidated: Bool { base.isInvalidated }
  /// Whether the realm is frozen.
  public var isFrozen: Bool { base.isFrozen }

  /// The same in another realm on the same database; nil when it is not there.
  public func _moved(to core: _RealmCore) -> ProjectedCollection? {
    base.moved(to: core).map { ProjectedCollection($0) }
  }

  /// Whether both have the same values.
  public static func == (left: ProjectedCollection, right: ProjectedCollection) -> Bool {
    left.elementsEqual(right)
  }

  /// The values.
  public var description: String { "ProjectedCollection<\(Element.self)> \(Array(self))" }

  /// The position of the first object that matches a query, or nil.
  public func index(matching predicateFormat: String, _ arguments: Any?...) -> Int? {
    base.index(matching: predicateFormat, arguments)
  }

  /// Calls a block with the current collection, and then with each change.
  /// - Parameters:
  ///   - queue: A serial queue to call on; nil for the realm's own thread, queue or actor.
  ///   - block: Called with the change.
  /// - Returns: A token; the calls end when it is released.
  public func observe(
    on queue: DispatchQueue? = nil,
    _ block: @escaping (RealmCollectionChange<ProjectedCollection<Element>>) -> Void
  ) -> NotificationToken {
    base.observe(on: queue, block)
  }

  /// Calls a block with the current collection, and then with each change.
  /// - Parameters:
  ///   - keyPaths: Properties of the objects whose changes are modifications.
  ///   - queue: A serial queue to call on; nil for the realm's own thread, queue or actor.
  ///   - block: Called with the change.
  /// - Returns: A token; the calls end when it is released.
  public func observe(
    keyPaths: [String]?, on queue: DispatchQueue? = nil,
    _ block: @escaping (RealmCollectionChange<ProjectedCollection<Element>>) -> Void
  ) -> NotificationToken {
    base.observe(keyPaths, on: queue, block)
  }
}

/// A projected collection of objects of any class.
class AnyMappedCollection<Element: RealmCollectionValue> {
  var count: Int { 0 }
  var realm: Realm? { nil }
  var isInvalidated: Bool { false }
  var isFrozen: Bool { false }
  func element(at position: Int) -> Element { Misuse.stop("no collection has no elements") }
  func moved(to core: _RealmCore) -> AnyMappedCollection? { nil }
  func index(matching text: String, _ arguments: [Any?]) -> Int? { nil }

  func observe(
    on queue: DispatchQueue?,
    _ block: @escaping (RealmCollectionChange<ProjectedCollection<Element>>) -> Void
  ) -> NotificationToken {
    observe(nil, on: queue, block)
  }

  func observe(
    _ keyPaths: [String]?, on queue: DispatchQueue?,
    _ block: @escaping (RealmCollectionChange<ProjectedCollection<Element>>) -> Void
  ) -> NotificationToken {
    Misuse.stop("no collection is observed")
  }
}

private final class MappedCollection<Base: RealmCollection, Value: RealmCollectionValue>:
  AnyMappedCollection<Value>
where Base.Element: ObjectBase {
  private let base: Base
  private let member: KeyPath<Base.Element, Value>

  init(_ base: Base, _ member: KeyPath<Base.Element, Value>) {
    self.base = base
    self.member = member
  }

  override var count: Int { base.count }
  override var realm: Realm? { base.realm }
  override var isInvalidated: Bool { base.isInvalidated }
  override var isFrozen: Bool { base.isFrozen }
  override func element(at position: Int) -> Value { base[position][keyPath: member] }

  override func moved(to core: _RealmCore) -> AnyMappedCollection<Value>? {
    base._moved(to: core).map { MappedCollection($0, member) }
  }

  override func index(matching text: String, _ arguments: [Any?]) -> Int? {
    base.firstIndex(matching: text, arguments)
  }

  /// A modification is one of the property.
  override func observe(
    on queue: DispatchQueue?,
    _ block: @escaping (RealmCollectionChange<ProjectedCollection<Value>>) -> Void
  ) -> NotificationToken {
    observe([base.name(of: member)], on: queue, block)
  }

  override func observe(
    _ keyPaths: [String]?, on queue: DispatchQueue?,
    _ block: @escaping (RealmCollectionChange<ProjectedCollection<Value>>) -> Void
  ) -> NotificationToken {
    let member = member
    return base.observe(keyPaths: keyPaths, on: queue) { change in
      switch change {
      case .initial(let base): block(.initial(ProjectedCollection(MappedCollection(base, member))))
      case .update(let base, let deletions, let insertions, let modifications):
        block(
          .update(
            ProjectedCollection(MappedCollection(base, member)), deletions: deletions,
            insertions: insertions, modifications: modifications))
      case .error(let error): block(.error(error))
      }
    }
  }
}
