// Persistable.swift [U]: the requirements of a property's type: its shape in a schema, its default
// value, and how it is read from a row and written to one. Invariants: a value created from an
// engine value converts back to the same engine value; an engine value that the type cannot hold is
// reported by UnreadableValues.swift, and never read as another one.

import Engine

/// One property of one managed object.
public struct _Row {
  @usableFromInline let access: _TableAccess
  @usableFromInline let key: Int64
  /// The position in the class, not in the table.
  @usableFromInline let property: Int

  @inlinable
  init(access: _TableAccess, key: Int64, property: Int) {
    self.access = access
    self.key = key
    self.property = property
  }

  /// The number of an integer property; zero for one that the type cannot hold, once it is
  /// reported.
  @inlinable
  func integer<Number: FixedWidthInteger>(_ type: Number.Type) -> Number {
    let number = access.int(key, property)
    guard let exact = Number(exactly: number) else {
      misfit(number, type)
      return 0
    }
    return exact
  }

  @usableFromInline
  func misfit(_ number: Int64, _ type: Any.Type) { core.misfit(.int(number), type, self) }

  var core: _RealmCore { access.core }

  /// Class and property in words.
  var name: String { "\(access.name).\(access.info.properties[property].name)" }

  var value: Value { access.value(key, property) }

  func set(_ value: Value) { access.set(value, key, property) }

  /// Whether it is the same property of the same object.
  func isSame(as other: _Row) -> Bool {
    key == other.key && property == other.property && access.core === other.access.core
      && access.name == other.access.name
  }

  /// The same property of another realm on the same database; nil when the row is not there.
  func moved(to core: _RealmCore) -> _Row? {
    let access = core.access(self.access.info)
    guard access.contains(key) else { return nil }
    return _Row(access: access, key: key, property: property)
  }
}

/// How a type appears in a schema.
public struct _PropertyShape: @unchecked Sendable {
  // Safety: metatypes and enumerations only.
  var type: PropertyType
  var isOptional = false
  var collection = CollectionKind.none
  /// The class that links lead to.
  var target: ObjectBase.Type?
  /// The type of the value or element, where it has fewer values than the column: an enumeration,
  /// an integer of fewer bits.
  var narrow: (any RealmCollectionValue.Type)?
  /// Whether it is a value stored as an object: a link that is null then stands for a default.
  var isStoredAsObject = false

  init(
    _ type: PropertyType, isOptional: Bool = false, collection: CollectionKind = .none,
    target: ObjectBase.Type? = nil
  ) {
    self.type = type
    self.isOptional = isOptional
    self.collection = collection
    self.target = target
  }
}

extension _PropertyShape {
  /// Whether an optional property is nil for a stored value that its type has none for.
  var isNilWhereUnknown: Bool { narrow.map { Self.isNilWhereUnknown($0) } ?? false }

  static func isNilWhereUnknown(_ narrow: any RealmCollectionValue.Type) -> Bool {
    narrow is any PersistableEnum.Type || narrow is any FailableCustomPersistable.Type
  }
}

/// A type that a persisted property can have.
public protocol _Persistable {
  /// The type that values are stored as: the type itself, but for enumerations and custom types.
  associatedtype PersistedType: _Persistable = Self
  /// How the type appears in a schema.
  static var _shape: _PropertyShape { get }
  /// The value of a property that was never set.
  static func _default() -> Self
  /// Reads a managed property.
  static func _read(_ row: _Row) -> Self
  /// Changes a managed property.
  static func _write(_ value: Self, to row: _Row)
  /// The value for a new row; nil when it needs other rows first and is written afterwards.
  var _plainValue: Value? { get }
  /// An unmanaged property of this value became a managed one.
  func _becomeManaged(_ row: _Row)
  /// Created from a value of any type; nil when it does not fit.
  static func _fromAny(_ any: Any?) -> Self?
  /// What a key path goes on from.
  static func _traced() -> Self
}

extension _Persistable {
  /// Does nothing for plain values.
  public func _becomeManaged(_ row: _Row) {}
  /// The default: a key path ends at a value.
  public static func _traced() -> Self { _default() }
}

/// A type that lists, sets, maps and results can have as elements.
public protocol RealmCollectionValue: Hashable, _Persistable
where PersistedType: RealmCollectionValue {
  /// Creates an element from the engine's value.
  static func _make(from value: Value, in core: _RealmCore) -> Self
  /// The same; nil for a value that the type cannot hold.
  static func _makeIfFits(from value: Value, in core: _RealmCore) -> Self?
  /// The engine's value; adds unmanaged objects to the realm.
  func _engineValue(in core: _RealmCore) -> Value
  /// The element that an object of the element's class is.
  static func _cast(_ object: ObjectBase) -> Self
}

extension RealmCollectionValue {
  /// Reads a managed property.
  public static func _read(_ row: _Row) -> Self {
    let value = row.value
    return _makeIfFits(from: value, in: row.core) ?? misfit(value, row.core, row)
  }

  /// Most types can hold every value of their column.
  public static func _makeIfFits(from value: Value, in core: _RealmCore) -> Self? {
    _make(from: value, in: core)
  }

  /// Changes a managed property.
  public static func _write(_ value: Self, to row: _Row) {
    row.access.checkWritable()
    row.set(value._engineValue(in: row.core))
  }

  /// Only classes are objects.
  public static func _cast(_ object: ObjectBase) -> Self {
    Misuse.stop("an object of \(object.classInfo.name) is not of type \(Self.self)")
  }

  /// The elements of a sequence that only the running program knows; nil when one does not fit.
  static func elements(of any: Any?) -> [Self]? {
    guard let sequence = any as? any Sequence else { return nil }
    var elements: [Self] = []
    for case let item as Any? in sequence {
      guard let element = _fromAny(item) else { return nil }
      elements.append(element)
    }
    return elements
  }

  /// The element of a collection that the engine holds as a value.
  static func element(_ value: Value, of row: _Row) -> Self {
    if row.access.info.isDynamic, case .link(let key) = value, let target = row.elementAccess {
      return _cast(target.makeObject(key))
    }
    return _makeIfFits(from: value, in: row.core) ?? misfit(value, row.core, row)
  }

  /// The type's default, in place of a value that it cannot hold, after reporting that.
  static func misfit(_ value: Value, _ core: _RealmCore, _ row: _Row? = nil) -> Self {
    core.misfit(value, Self.self, row)
    return _default()
  }
}

/// A type whose values the engine stores directly.
protocol PlainValue: RealmCollectionValue {
  static var propertyType: PropertyType { get }
  init?(engineValue: Value)
  var engineValue: Value { get }
}

/// An enumeration whose raw values are stored; `@Persisted var state: State`.
///
/// The default value of a property is the first case.
public protocol PersistableEnum: RealmCollectionValue, RawRepresentable, CaseIterable
where RawValue: RealmCollectionValue, PersistedType == RawValue {}

extension PersistableEnum {
  /// The shape of the raw value.
  public static var _shape: _PropertyShape {
    var shape = RawValue._shape
    shape.narrow = Self.self
    return shape
  }

  /// The first case.
  public static func _default() -> Self {
    guard let first = allCases.first else {
      Misuse.stop("\(Self.self) has no case, so no property of that type can have a value")
    }
    return first
  }

  /// A case, or the case of a raw value.
  public static func _fromAny(_ any: Any?) -> Self? {
    if let own = any as? Self { return own }
    return RawValue._fromAny(any).flatMap { Self(rawValue: $0) }
  }

  /// The case of a raw value; the first one for a value without a case, after reporting that.
  public static func _make(from value: Value, in core: _RealmCore) -> Self {
    _makeIfFits(from: value, in: core) ?? misfit(value, core)
  }

  /// The case of a raw value.
  public static func _makeIfFits(from value: Value, in core: _RealmCore) -> Self? {
    RawValue._makeIfFits(from: value, in: core).flatMap { Self(rawValue: $0) }
  }

  /// The raw value.
  public func _engineValue(in core: _RealmCore) -> Value { rawValue._engineValue(in: core) }

  /// The raw value.
  public var _plainValue: Value? { rawValue._plainValue }
}

extension PersistableEnum where RawValue: Comparable {
  /// Whether the raw value is less.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  /// Whether the raw value is less or equal.
  public static func <= (left: Self, right: Self) -> Bool { left.rawValue <= right.rawValue }
  /// Whether the raw value is greater.
  public static func > (left: Self, right: Self) -> Bool { left.rawValue > right.rawValue }
  /// Whether the raw value is greater or equal.
  public static func >= (left: Self, right: Self) -> Bool { left.rawValue >= right.rawValue }
}

/// A custom type that is stored as another, persistable one.
public protocol CustomPersistable: RealmCollectionValue {
  /// The type stored in the file.
  override associatedtype PersistedType
  /// Creates the value from the stored one.
  init(persistedValue: PersistedType)
  /// The value stored in the file.
  var persistableValue: PersistedType { get }
}

extension CustomPersistable {
  /// The shape of the stored type.
  public static var _shape: _PropertyShape { PersistedType._shapeOfStored }

  /// A value of the type, or one created from a stored value.
  public static func _fromAny(_ any: Any?) -> Self? {
    if let own = any as? Self { return own }
    return PersistedType._fromAny(any).map { Self(persistedValue: $0) }
  }

  /// Created from the default of the stored type.
  public static func _default() -> Self { Self(persistedValue: ._default()) }

  /// Created from the stored value.
  public static func _make(from value: Value, in core: _RealmCore) -> Self {
    if case .null = value, _shape.isStoredAsObject { return _default() }
    return Self(persistedValue: ._make(from: value, in: core))
  }

  /// Created from the stored value; nil when that does not fit the stored type.
  public static func _makeIfFits(from value: Value, in core: _RealmCore) -> Self? {
    if case .null = value, _shape.isStoredAsObject { return _default() }
    return PersistedType._makeIfFits(from: value, in: core).map { Self(persistedValue: $0) }
  }

  /// The stored value.
  public func _engineValue(in core: _RealmCore) -> Value {
    persistableValue._engineValue(in: core)
  }

  /// The stored value.
  public var _plainValue: Value? { persistableValue._plainValue }
}

/// A custom type that is stored as another, and not made of every value of that.
///
/// A stored value that makes none is nil in an optional property, and an error in any other.
public protocol FailableCustomPersistable: RealmCollectionValue {
  /// The type stored in the file.
  override associatedtype PersistedType
  /// Creates the value from the stored one, if that is possible.
  init?(persistedValue: PersistedType)
  /// The value stored in the file.
  var persistableValue: PersistedType { get }
}

extension FailableCustomPersistable {
  /// The shape of the stored type.
  public static var _shape: _PropertyShape {
    var shape = PersistedType._shapeOfStored
    shape.narrow = Self.self
    return shape
  }

  /// A value of the type, or one created from a stored value.
  public static func _fromAny(_ any: Any?) -> Self? {
    if let own = any as? Self { return own }
    return PersistedType._fromAny(any).flatMap { Self(persistedValue: $0) }
  }

  /// Created from the default of the stored type, which must be possible.
  public static func _default() -> Self {
    guard let made = Self(persistedValue: ._default()) else {
      Misuse.stop(
        "\(Self.self) is not made of the default of \(PersistedType.self); give the property a "
          + "value, or make it optional")
    }
    return made
  }

  /// Created from the stored value; the default after reporting one that makes none.
  public static func _make(from value: Value, in core: _RealmCore) -> Self {
    _makeIfFits(from: value, in: core) ?? misfit(value, core)
  }

  /// Created from the stored value; nil when that is not possible.
  public static func _makeIfFits(from value: Value, in core: _RealmCore) -> Self? {
    if case .null = value, _shape.isStoredAsObject { return _default() }
    return PersistedType._makeIfFits(from: value, in: core).flatMap { Self(persistedValue: $0) }
  }

  /// The stored value.
  public func _engineValue(in core: _RealmCore) -> Value {
    persistableValue._engineValue(in: core)
  }

  /// The stored value.
  public var _plainValue: Value? { persistableValue._plainValue }
}

extension RealmCollectionValue {
  /// The shape of a custom type that is stored as this one.
  fileprivate static var _shapeOfStored: _PropertyShape {
    var shape = _shape
    if shape.type == .object, shape.target is EmbeddedObject.Type { shape.isStoredAsObject = true }
    return shape
  }
}

extension Optional: _Persistable where Wrapped: RealmCollectionValue {
  /// Optional as well.
  public typealias PersistedType = Wrapped.PersistedType?

  /// The wrapped shape, which can be null.
  public static var _shape: _PropertyShape {
    var shape = Wrapped._shape
    shape.isOptional = true
    return shape
  }

  /// Nil.
  public static func _default() -> Wrapped? { nil }
  /// What a key path through `?` or `!` goes on from.
  public static func _traced() -> Wrapped? { .some(Wrapped._traced()) }

  /// Nil for nil.
  public static func _fromAny(_ any: Any?) -> Wrapped?? {
    guard let any = DynamicValue.unwrapped(any) else { return .some(nil) }
    return Wrapped._fromAny(any).map { .some($0) }
  }

  /// The wrapped value, or null.
  public var _plainValue: Value? {
    switch self {
    case .none: .null
    case .some(let wrapped): wrapped._plainValue
    }
  }
}

extension Optional: RealmCollectionValue where Wrapped: RealmCollectionValue {
  /// Nil for null, and for a raw value that is not a case of an enumeration.
  public static func _make(from value: Value, in core: _RealmCore) -> Wrapped? {
    _makeIfFits(from: value, in: core) ?? misfit(value, core)
  }

  /// Nil for null, and for a raw value that is not a case of an enumeration.
  public static func _makeIfFits(from value: Value, in core: _RealmCore) -> Wrapped?? {
    if case .null = value { return .some(nil) }
    if let made = Wrapped._makeIfFits(from: value, in: core) { return .some(made) }
    return Wrapped._shape.isNilWhereUnknown ? .some(nil) : nil
  }

  /// The wrapped element.
  public static func _cast(_ object: ObjectBase) -> Wrapped? { Wrapped._cast(object) }

  /// Null for nil.
  public func _engineValue(in core: _RealmCore) -> Value {
    self?._engineValue(in: core) ?? .null
  }
}
