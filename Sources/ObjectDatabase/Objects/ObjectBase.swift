// ObjectBase.swift [U]: objects, unmanaged or managed. A managed one holds its table and key, and
// reads its realm's current version. Invariant: `tableAccess` and `rowKey` are set once, when the
// object is added or made for a row; for an object without other references, RealmIterator and
// ObjectMaker set them for each row.

import Engine

/// The base of Object and EmbeddedObject; not to be derived from directly.
open class ObjectBase: RealmCollectionValue, CustomStringConvertible {
  // Neither is ever changed while it is read, so exclusivity need not be checked at each access.
  @safe @exclusivity(unchecked) @usableFromInline final var tableAccess: _TableAccess?
  @safe @exclusivity(unchecked) @usableFromInline final var rowKey: Int64 = 0

  /// The access of a managed object, not retained: it exists as long as the object.
  @inlinable @inline(__always)
  final var borrowedAccess: Unmanaged<_TableAccess>? {
    // Safety: for callers that hold the object during the use.
    unsafe tableAccess.map { unsafe Unmanaged.passUnretained($0) }
  }

  /// The key of an unmanaged object reused for another row (ObjectMaker.swift): its unset
  /// properties lack the default values of the class.
  static let incompleteKey = Int64.min

  /// Sets the default values in an object that lacks them.
  @usableFromInline
  final func completeValues() {
    guard rowKey == Self.incompleteKey, tableAccess == nil else { return }
    rowKey = 0
    let fresh = Swift.type(of: self).init()
    for field in classInfo.fields where !field.place.isSet(in: self) {
      field.place.copy(to: self, from: fresh)
    }
  }

  /// Makes an unmanaged object, every property at its default.
  public required init() {}

  /// Makes an unmanaged object of values.
  ///
  /// Values of names that the class does not have are ignored. A value that does not fit stops the
  /// process; `realm.create(_:value:)` makes the transaction fail instead.
  /// - Parameter value: Values by property name, or all in the order of the properties, or an
  ///   object with properties of the same names: the new one then leads to the same objects, and
  ///   has copies of its embedded objects and collections.
  public convenience init(value: Any) {
    self.init()
    take(value)
  }

  fileprivate final func take(_ value: Any) {
    let info = classInfo
    guard let given = GivenValues(DynamicValue.unwrapped(value) ?? value, info) else {
      Misuse.stop(GivenValues.problem(value, info))
    }
    for (number, property) in info.properties.enumerated() {
      guard let value = given[property.name] else { continue }
      guard info.fields[number].set(value, of: self) else {
        let text = String(describing: DynamicValue.flattened(value) ?? "nil").prefix(60)
        Misuse.stop("\(info.name).\(property.words) cannot hold \(text)")
      }
    }
  }

  /// The name under which the class is stored.
  public class func className() -> String {
    if let name = _realmObjectName() { return name }
    let full = String(describing: self)
    return full
  }

  /// Whether the class is one of a realm without `objectTypes`; one that is not joins such a realm
  /// when it is used first.
  open class func shouldIncludeInDefaultSchema() -> Bool { true }

  /// Another name for the class in the file; nil for its own.
  open class func _realmObjectName() -> String? { nil }

  /// The name of the property that is the primary key, where no wrapper says it; nil for none.
  open class func primaryKey() -> String? { nil }

  /// The names of properties with a search index, beside those whose wrappers say it.
  open class func indexedProperties() -> [String] { [] }

  /// Names in the file for properties that have others there, by the names in the class.
  open class func propertiesMapping() -> [String: String] { [:] }

  /// The realm of a managed object; nil for an unmanaged one.
  public final var realm: Realm? { tableAccess.map { Realm($0.core) } }

  /// Whether the object was deleted, or its realm invalidated.
  public final var isInvalidated: Bool {
    guard let access = tableAccess else { return false }
    return access.isInvalidated || !access.contains(rowKey)
  }

  /// Whether the object belongs to a frozen realm.
  public final var isFrozen: Bool { tableAccess?.core.isFrozen ?? false }

  /// The class and its properties.
  public final var objectSchema: ObjectSchema { ObjectSchema(classInfo) }

  /// The class and its properties, without an object; nil for a class that no realm can keep.
  public class func sharedSchema() -> ObjectSchema? {
    (try? Discovery.info(for: self)).map { ObjectSchema($0) }
  }

  final var classInfo: ClassInfo {
    if let tableAccess { return tableAccess.info }
    return Misuse.unthrowingRealm { () throws(Realm.Error) in
      try Discovery.info(for: Swift.type(of: self))
    }
  }

  /// Whether both are the same row of the same realm, or the same unmanaged object.
  public final func isSameObject(as other: ObjectBase?) -> Bool {
    guard let other else { return false }
    guard let access = tableAccess, let otherAccess = other.tableAccess else {
      return self === other
    }
    return rowKey == other.rowKey && access.info.name == otherAccess.info.name
      && access.core.isSameContent(as: otherAccess.core)
  }

  /// Whether both are the same row of the same realm, or the same unmanaged object.
  public static func == (left: ObjectBase, right: ObjectBase) -> Bool {
    left.isSameObject(as: right)
  }

  /// Feeds the row, or the identity of an unmanaged object; it changes when the object is added.
  public final func hash(into hasher: inout Hasher) {
    if let tableAccess {
      hasher.combine(tableAccess.info.name)
      hasher.combine(rowKey)
    } else {
      hasher.combine(ObjectIdentifier(self))
    }
  }

  /// Whether both are the same object, as `==` has it; false for anything but an object.
  public final func isEqual(_ object: Any?) -> Bool {
    (object as? ObjectBase).map { isSameObject(as: $0) } ?? false
  }

  /// The number that equal objects have in common.
  public final var hash: Int { hashValue }

  /// Class and properties with their values, those of linked objects included, to a depth of five.
  public var description: String { Description.text(of: self, depth: Description.depthMax) }

  // MARK: as an element

  /// A link to the class.
  public static var _shape: _PropertyShape { _PropertyShape(.object, target: self) }

  /// Nil until it is written: links need rows to lead to.
  public final var _plainValue: Value? { nil }
}

/// What `Realm.objects` finds: objects, and projections of them.
public protocol RealmFetchable: RealmCollectionValue {
  /// The class of the rows.
  static var _fetchedClass: ObjectBase.Type { get }
}

extension ObjectBase: RealmFetchable {
  /// The class itself.
  public static var _fetchedClass: ObjectBase.Type { self }
}

extension _Persistable where Self: ObjectBase {
  /// A new unmanaged object.
  public static func _default() -> Self { Self() }

  /// A prototype, which notes what the key path goes on to.
  public static func _traced() -> Self { Discovery.tracer(of: Self.self) as? Self ?? Self() }

  /// An object of the class, or a new one of values.
  public static func _fromAny(_ any: Any?) -> Self? {
    guard let any = DynamicValue.unwrapped(any) else { return nil }
    // A managed embedded object has its owner already.
    if let own = any as? Self, !(own is EmbeddedObject && own.tableAccess != nil) { return own }
    guard any is [String: Any?] || any is [Any?] || any is ObjectBase else { return nil }
    let made = Self()
    made.take(any)
    return made
  }
}

extension RealmCollectionValue where Self: ObjectBase {
  /// The object of a row.
  public static func _make(from value: Value, in core: _RealmCore) -> Self {
    guard case .link(let key) = value else { return misfit(value, core) }
    let access = core.access(to: Self.self)
    return access.makeObject(key) as? Self ?? misfit(value, core)
  }

  /// The link to the object, which is added when it is unmanaged.
  public func _engineValue(in core: _RealmCore) -> Value { .link(core.link(to: self)) }

  /// The object itself.
  public static func _cast(_ object: ObjectBase) -> Self {
    guard let own = object as? Self else {
      Misuse.stop("an object of \(object.classInfo.name) is not of type \(Self.self)")
    }
    return own
  }
}

/// An independent object: its own row, with or without a primary key.
open class Object: ObjectBase {}

/// An object that belongs to exactly one other and is deleted with it.
open class EmbeddedObject: ObjectBase {}

/// An object whose class is known only from the file, as in migrations.
@dynamicMemberLookup
public final class DynamicObject: Object {
  /// A property by its name in the class: `object.name` for `object["name"]`.
  public subscript(dynamicMember member: String) -> Any? {
    get { value(forKey: member) }
    set { setValue(newValue, forKey: member) }
  }
}

/// A class whose objects are `Identifiable`, or a projection: by its own `id` when it has one,
/// otherwise by the object itself.
public protocol ObjectKeyIdentifiable: Identifiable {}

extension ObjectKeyIdentifiable where Self: ObjectBase {
  /// The same for all instances of one object in this process; it changes when the object is added.
  public var id: UInt64 { UInt64(bitPattern: Int64(hashValue)) }
}

extension ObjectKeyIdentifiable where Self: ProjectionObservable {
  /// The same for all projections of one object.
  public var id: UInt64 { UInt64(bitPattern: Int64(hashValue)) }
}
