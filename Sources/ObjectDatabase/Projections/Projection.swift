// Projection.swift: views of objects with some of their properties, under names of their own. A
// projection holds its object and nothing else, so it is as live, frozen or deleted as that.

import Dispatch
import Engine

/// A class with properties of another: derive from `Projection<Person>`, and declare properties
/// with `@Projected(\Person.firstName) var name`.
open class Projection<Root: ObjectBase & RealmCollectionValue>: RealmCollectionValue,
  ProjectionObservable, CustomStringConvertible
{
  /// The object.
  public let rootObject: Root

  /// Makes a projection of an object.
  public required init(projecting object: Root) { rootObject = object }

  /// The realm of a managed object; nil for an unmanaged one.
  public var realm: Realm? { rootObject.realm }
  /// Whether the object was deleted, or its realm invalidated.
  public var isInvalidated: Bool { rootObject.isInvalidated }
  /// Whether the object belongs to a frozen realm.
  public var isFrozen: Bool { rootObject.isFrozen }

  /// The same in another realm on the same database; nil when it is not there.
  public func _moved(to core: _RealmCore) -> Self? {
    rootObject._moved(to: core).map { Self(projecting: $0) }
  }

  /// Whether both are of one class and project the same object.
  public static func == (left: Projection, right: Projection) -> Bool {
    Swift.type(of: left) == Swift.type(of: right)
      && left.rootObject.isSameObject(as: right.rootObject)
  }

  /// Feeds the object.
  public func hash(into hasher: inout Hasher) { hasher.combine(rootObject) }

  /// The projected properties with their values.
  public var description: String {
    let lines = projectedProperties.map { "\t\($0.name) = \($0.value(rootObject));\n" }
    return "\(Swift.type(of: self))<\(Root.self)> {\n\(lines.joined())}"
  }

  // MARK: as an element of results

  /// The class of the rows.
  public static var _fetchedClass: ObjectBase.Type { Root.self }
  /// A link to the object.
  public static var _shape: _PropertyShape { _PropertyShape(.object, target: Root.self) }
  /// A projection of a new object.
  public static func _default() -> Self { Self(projecting: Root._default()) }
  /// A projection of what a key path goes on from.
  public static func _traced() -> Self { Self(projecting: Root._traced()) }

  /// A projection of an object.
  public static func _fromAny(_ any: Any?) -> Self? {
    Root._fromAny(any).map { Self(projecting: $0) }
  }

  /// A projection of the object of a row.
  public static func _make(from value: Value, in core: _RealmCore) -> Self {
    Self(projecting: Root._make(from: value, in: core))
  }

  /// A projection of the object of a row.
  public static func _cast(_ object: ObjectBase) -> Self { Self(projecting: Root._cast(object)) }

  /// The link to the object.
  public func _engineValue(in core: _RealmCore) -> Value { rootObject._engineValue(in: core) }

  /// Nil until it is written: links need rows to lead to.
  public var _plainValue: Value? { nil }
}

/// A projection of objects of a class.
public protocol ProjectionObservable: RealmFetchable, ThreadConfined {
  /// The class of the objects.
  associatedtype Root: ObjectBase & RealmCollectionValue
  /// The object.
  var rootObject: Root { get }
  /// Makes a projection of an object.
  init(projecting object: Root)
}

/// A property of a projection.
struct ProjectedProperty<Root> {
  let name: String
  let keyPath: PartialKeyPath<Root>

  func value(_ object: Root) -> Any { object[keyPath: keyPath] }
}

/// The interface of a wrapper, independent of its value's type.
protocol AnyProjected {
  var anyKeyPath: AnyKeyPath { get }
}

extension ProjectionObservable {
  /// The projected properties, in the order of their declarations.
  var projectedProperties: [ProjectedProperty<Root>] {
    var found: [ProjectedProperty<Root>] = []
    var mirror: Mirror? = Mirror(reflecting: self)
    while let current = mirror {
      let own = current.children.compactMap { child -> ProjectedProperty<Root>? in
        guard let wrapper = child.value as? any AnyProjected, let label = child.label,
          let keyPath = wrapper.anyKeyPath as? PartialKeyPath<Root>
        else { return nil }
        return ProjectedProperty(
          name: label.hasPrefix("_") ? String(label.dropFirst()) : label, keyPath: keyPath)
      }
      found = own + found
      mirror = current.superclassMirror
    }
    return found
  }

  /// The path of the object's properties that a key path of the projection leads to.
  static func rootPath(of keyPath: PartialKeyPath<Self>) -> String {
    let info = Misuse.unthrowingRealm { () throws(Realm.Error) in
      try Discovery.info(for: Root.self)
    }
    let path = Discovery.path(in: info, endsAnywhere: true) { (prototype: Root) in
      _ = Self(projecting: prototype)[keyPath: keyPath]
      return type(of: keyPath).valueType
    }
    guard let path else {
      Misuse.stop("a key path of \(Self.self) leads to something other than projected properties")
    }
    return path.joined(separator: ".")
  }

  /// Calls a block with the projected properties that change, and when the object is deleted.
  /// - Parameters:
  ///   - keyPaths: The properties of the projection to observe; nil for all.
  ///   - queue: A serial queue to call on; nil for the realm's own thread, queue or actor.
  ///   - block: Called with the change.
  /// - Returns: A token; the calls end when it is released.
  public func observe(
    keyPaths: [PartialKeyPath<Self>]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    observe(rootPaths: keyPaths.map { $0.map { Self.rootPath(of: $0) } }, on: queue, block)
  }

  /// Calls a block with the projected properties that change, and when the object is deleted.
  /// - Parameters:
  ///   - keyPaths: The names of properties of the projection.
  ///   - queue: A serial queue to call on; nil for the realm's own thread, queue or actor.
  ///   - block: Called with the change.
  /// - Returns: A token; the calls end when it is released.
  public func observe(
    keyPaths: [String], on queue: DispatchQueue? = nil,
    _ block: @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    let properties = Self.paths(of: projectedProperties)
    let paths = keyPaths.map { name in
      properties.first { $0.property.name == name }?.path.joined(separator: ".") ?? name
    }
    return observe(rootPaths: paths, on: queue, block)
  }

  private static func paths(
    of properties: [ProjectedProperty<Root>]
  ) -> [(property: ProjectedProperty<Root>, path: [String])] {
    let info = Misuse.unthrowingRealm { () throws(Realm.Error) in
      try Discovery.info(for: Root.self)
    }
    return properties.compactMap { property in
      let path = Discovery.path(in: info, endsAnywhere: true) { (prototype: Root) in
        _ = prototype[keyPath: property.keyPath]
        return type(of: property.keyPath).valueType
      }
      return path.map { (property, $0) }
    }
  }

  private func observe(
    rootPaths: [String]?, on queue: DispatchQueue?,
    _ block: @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    let properties = Self.paths(of: projectedProperties)
    let paths = rootPaths ?? properties.map { $0.path.joined(separator: ".") }
    return rootObject.observe(keyPaths: paths, on: queue) { (change: ObjectChange<Root>) in
      switch change {
      case .error(let error): block(.error(error))
      case .deleted: block(.deleted)
      case .change(let object, let changes):
        var projected: [PropertyChange] = []
        for change in changes {
          for (property, path) in properties where path.first == change.name {
            let isWhole = path.count == 1
            projected.append(
              PropertyChange(
                name: property.name, oldValue: isWhole ? change.oldValue : nil,
                newValue: DynamicValue.unwrapped(property.value(object))))
          }
        }
        if !projected.isEmpty { block(.change(Self(projecting: object), projected)) }
      }
    }
  }
}

extension RealmCollection where Element: ProjectionObservable {
  /// The projections of the objects that match a query about the objects.
  public func `where`(_ isIncluded: (Query<Element.Root>) -> Query<Bool>) -> Results<Element> {
    let (words, arguments) = isIncluded(Query([], isCondition: false)).whole
    return Misuse.unthrowingRealm { () throws(Realm.Error) in try found(words, arguments) }
  }

  /// The elements by one projected property.
  public func sorted<Value>(
    by keyPath: KeyPath<Element, Value>, ascending: Bool = true
  ) -> Results<Element> {
    sorted(byKeyPath: Element.rootPath(of: keyPath), ascending: ascending)
  }

  /// The first of all elements that agree in these properties.
  public func distinct<Paths: Sequence>(
    by keyPaths: Paths
  ) -> Results<Element> where Paths.Element == PartialKeyPath<Element> {
    distinct(by: keyPaths.map { Element.rootPath(of: $0) })
  }

  /// The elements in sections, by a projected property, sorted by it.
  public func sectioned<Key: Hashable>(
    by keyPath: KeyPath<Element, Key>, ascending: Bool = true
  ) -> SectionedResults<Key, Element> {
    sectioned(
      by: { $0[keyPath: keyPath] },
      sortDescriptors: [
        SortDescriptor(keyPath: Element.rootPath(of: keyPath), ascending: ascending)
      ])
  }

  /// The elements in sections, by any property.
  public func sectioned<Key: Hashable>(
    by keyPath: KeyPath<Element, Key>, sortDescriptors: [SortDescriptor]
  ) -> SectionedResults<Key, Element> {
    sectioned(by: { $0[keyPath: keyPath] }, sortDescriptors: sortDescriptors)
  }

  /// Calls a block with the current collection, and then with each change.
  /// - Parameters:
  ///   - keyPaths: Properties of the projections whose changes are modifications.
  ///   - queue: A serial queue to call on; nil for the realm's own thread, queue or actor.
  ///   - block: Called with the change.
  /// - Returns: A token; the calls end when it is released.
  public func observe(
    keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
    _ block: @escaping (RealmCollectionChange<Self>) -> Void
  ) -> NotificationToken {
    observe(keyPaths: keyPaths.map { Element.rootPath(of: $0) }, on: queue, block)
  }
}
