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
  /// A value that does not fit the class stops the process; `realm.create(_:value:)` makes the
  /// transaction fail instead.
  /// - Parameter value: Values by property name, or all in the order of the properties.
  public convenience init(value: Any) {
    self.init()
    take(value)
  }

  fileprivate final func take(_ value: Any) {
    let properties = classInfo.properties
    var given: [(name: String, value: Any?)] = []
    switch value {
    case let values as [String: Any?]:
      given = values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    case let values as [Any?] where values.count <= properties.count:
      given = zip(properties, values).map { ($0.name, $1) }
    default:
      Misuse.stop(
        "an object of \(classInfo.name) is made of a dictionary or of an array of at most "
          + "\(properties.count) values, not of \(Swift.type(of: value))")
    }
    for (name, value) in given {
      guard let number = classInfo.number(of: name) else {
        Misuse.stop("class \(classInfo.name) has no property \"\(name)\"")
      }
      guard classInfo.fields[number].set(value, of: self) else {
        let text = String(describing: DynamicValue.flattened(value) ?? "nil").prefix(60)
        Misuse.stop("\(classInfo.name).\(properties[number]) cannot hold \(text)")
      }
    }
  }

  /// The name under which the class is stored.
  public class func className() -> String {
    if let name = _realmObjectName() { return name }
    let full = String(describing: self)
    return full
  }

  /// Another name for the class in the file; nil for its own.
  open class func _realmObjectName() -> String? { nil }

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

  /// Class and properties with their values; of linked objects only the class.
  public var description: String {
    guard !isInvalidated else { return "\(classInfo.name) [invalidated]" }
    let lines = classInfo.properties.enumerated().map { number, property in
      "  \(property.name) = \(DynamicValue.text(of: self, number));"
    }
    return "\(classInfo.name) {\n" + lines.joined(separator: "\n") + "\n}"
  }

  // MARK: as an element

  /// A link to the class.
  public static var _shape: _PropertyShape { _PropertyShape(.object, target: self) }

  /// Nil until it is written: links need rows to lead to.
  public final var _plainValue: Value? { nil }
}

extension _Persistable where Self: ObjectBase {
  /// A new unmanaged object.
  public static func _default() -> Self { Self() }

  /// An object of the class, or a new one of values.
  public static func _fromAny(_ any: Any?) -> Self? {
    guard let any = DynamicValue.unwrapped(any) else { return nil }
    if let own = any as? Self { return own }
    guard any is [String: Any?] || any is [Any?] else { return nil }
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
public final class DynamicObject: Object {}

/// A class whose objects are `Identifiable`: by the class's own `id` when it has one, otherwise by
/// the object itself.
public protocol ObjectKeyIdentifiable: Identifiable {}

extension ObjectKeyIdentifiable where Self: ObjectBase {
  /// The same for all instances of one object in this process; it changes when the object is added.
  public var id: UInt64 { UInt64(bitPattern: Int64(hashValue)) }
}
