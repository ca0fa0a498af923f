// Persisted.swift [U]: the property wrapper. In an unmanaged object it holds the value; in a
// managed one its content is unused, and every read goes to the row. Only the class's prototype
// knows which property a wrapper belongs to: it is an object made during discovery, whose wrappers
// hold marks with the property's number. A key path to the wrapper, which the compiler passes with
// each access, leads to the mark; so objects hold no names or numbers, and making a managed object
// costs only its allocation. The accessors are compiled into the caller's module, where the
// property's type is known and the key path is an offset in the object (decisions/0751); the row
// access that they call is not.

import Engine

/// The content of a wrapper.
@usableFromInline
enum PersistedStorage<Value: _Persistable> {
  /// Never set; the type's default is created at the first read.
  case unset
  case value(Value)
  /// In a prototype; or in a managed object, `MarkReference.managed`.
  case mark(MarkReference)
}

/// How objects are found by a property.
public enum SearchIndexMode: Sendable {
  /// By looking at every object.
  case none
  /// By its value.
  case general
  /// By the words of its text, with `TEXT`.
  case fullText
}

/// A property stored in the database.
@propertyWrapper
public struct Persisted<Value: _Persistable> {
  @usableFromInline var storage: PersistedStorage<Value>

  @inlinable @inline(__always)
  init(_ storage: PersistedStorage<Value>) { self.storage = storage }

  @inlinable
  init(
    declared storage: PersistedStorage<Value>, indexed: SearchIndexMode = .none,
    isPrimaryKey: Bool = false, originProperty: String? = nil
  ) {
    guard Discovery.isActive else {
      self.storage = storage
      return
    }
    self.storage = Self.marked(
      indexed: indexed, isPrimaryKey: isPrimaryKey, originProperty: originProperty)
  }

  @usableFromInline
  static func marked(
    indexed: SearchIndexMode, isPrimaryKey: Bool, originProperty: String?
  ) -> PersistedStorage<Value> {
    let mark = PropertyMark(Value._shape)
    mark.index = indexed
    mark.isPrimaryKey = isPrimaryKey
    mark.originProperty = originProperty
    return .mark(MarkReference(mark))
  }

  /// A property with its type's default value.
  @inlinable
  public init() { self.init(declared: .unset) }

  /// A property with a default value.
  @inlinable
  public init(wrappedValue: Value) { self.init(declared: .value(wrappedValue)) }

  /// A property with or without a search index.
  @inlinable
  public init(indexed: Bool) {
    self.init(declared: .unset, indexed: indexed ? .general : .none)
  }

  /// A property with a default value, with or without a search index.
  @inlinable
  public init(wrappedValue: Value, indexed: Bool) {
    self.init(declared: .value(wrappedValue), indexed: indexed ? .general : .none)
  }

  /// A property with an index of this kind.
  @inlinable
  public init(indexed: SearchIndexMode) { self.init(declared: .unset, indexed: indexed) }

  /// A property with a default value and an index of this kind.
  @inlinable
  public init(wrappedValue: Value, indexed: SearchIndexMode) {
    self.init(declared: .value(wrappedValue), indexed: indexed)
  }

  /// A property that is the primary key, or is not.
  @inlinable
  public init(primaryKey: Bool) { self.init(declared: .unset, isPrimaryKey: primaryKey) }

  /// A property with a default value that is the primary key, or is not.
  @inlinable
  public init(wrappedValue: Value, primaryKey: Bool) {
    self.init(declared: .value(wrappedValue), isPrimaryKey: primaryKey)
  }

  /// The objects that link here through a property of theirs.
  public init<Origin: ObjectBase>(originProperty: String) where Value == LinkingObjects<Origin> {
    self.init(declared: .unset, originProperty: originProperty)
  }

  /// Only classes have persisted properties.
  @available(*, unavailable, message: "@Persisted belongs into a class derived from Object")
  public var wrappedValue: Value {
    get { preconditionFailure("only classes have persisted properties") }
    // swift-format-ignore: UseExplicitNilCheckInConditions
    set { preconditionFailure("only classes have persisted properties: \(newValue)") }
  }

  /// Reads or changes the property of an object.
  public static subscript<Owner: ObjectBase>(
    _enclosingInstance owner: Owner,
    wrapped wrapped: ReferenceWritableKeyPath<Owner, Value>,
    storage storage: ReferenceWritableKeyPath<Owner, Self>
  ) -> Value {
    // Inlined always: where the key path is written down it is a place in the object; anywhere else
    // the runtime walks it, which costs as much as a lookup.
    @inlinable @inline(__always) get {
      if let access = unsafe owner.borrowedAccess {
        // Safety: the owner keeps its access, and is retained until the value is read.
        return withExtendedLifetime(owner) {
          unsafe access._withUnsafeGuaranteedRef { access in
            let number = propertyNumber(access, storage)
            return Value._read(_Row(access: access, key: owner.rowKey, property: number))
          }
        }
      }
      switch owner[keyPath: storage].storage {
      case .value(let value): return value
      case .unset:
        owner.completeValues()
        if case .value(let value) = owner[keyPath: storage].storage { return value }
        let value = Value._default()
        owner[keyPath: storage].storage = .value(value)
        return value
      case .mark(let mark):
        return Discovery.value(of: mark.mark)
      }
    }
    @inlinable @inline(__always) set {
      if let access = unsafe owner.borrowedAccess {
        // Safety: the owner keeps its access, and is retained until the value is written.
        return withExtendedLifetime(owner) {
          unsafe access._withUnsafeGuaranteedRef { access in
            access.assign(newValue, owner.rowKey, propertyNumber(access, storage))
          }
        }
      }
      switch owner[keyPath: storage].storage {
      // A prototype keeps its marks, even if an initializer sets values.
      case .mark: return
      // Without an old value nothing has to be released; releasing would make the compiler retain
      // the owner.
      case .unset:
        unsafe withUnsafeMutablePointer(to: &owner[keyPath: storage].storage) { place in
          // Safety: `unset` holds nothing that has to be freed.
          unsafe place.initialize(to: .value(newValue))
        }
      case .value: owner[keyPath: storage] = Self(.value(newValue))
      }
    }
  }

  @inlinable
  @inline(__always)
  static func propertyNumber<Owner: ObjectBase>(
    _ access: _TableAccess, _ storage: ReferenceWritableKeyPath<Owner, Self>
  ) -> Int {
    // Safety: the prototype has the object's own class, which is Owner or derived from it.
    let prototype = unsafe unsafeDowncast(access.prototype, to: Owner.self)
    guard case .mark(let mark) = prototype[keyPath: storage].storage else {
      preconditionFailure("the wrappers of a prototype hold marks")
    }
    return mark.number
  }
}

/// The interface of a wrapper for discovery and adding, independent of its type.
protocol PersistedProperty {
  var mark: PropertyMark? { get }
  /// The value for a new row; nil when it is written after all rows exist.
  var plainValue: Value? { get }
  /// The value of an unmanaged property, or the default.
  var anyValue: Any { get }
  /// Writes the value to a row; an unset collection empties the row's, if that has one already.
  func write(to row: _Row, isUpdate: Bool)
  /// The wrapper at a place in an object; so do the others.
  static func copy(at place: UnsafeMutableRawPointer) -> any PersistedProperty
  static func plainValue(at place: UnsafeMutableRawPointer) -> PlainEngineValue?
  static func set(_ any: Any?, at place: UnsafeMutableRawPointer) -> Bool
  static func isSet(at place: UnsafeMutableRawPointer) -> Bool
  static func clear(at place: UnsafeMutableRawPointer)
  /// Stores the type's default where nothing was set.
  static func materialize(at place: UnsafeMutableRawPointer)
  /// The value of a row's property.
  static func read(_ row: _Row) -> Any
  /// Drops the value that an object had before it became managed.
  static func becomeManaged(at place: UnsafeMutableRawPointer)
  static func copy(to place: UnsafeMutableRawPointer, from other: UnsafeMutableRawPointer)
}

/// The engine's value; within `Persisted` the name is the property's type.
typealias PlainEngineValue = Engine.Value

extension Persisted: PersistedProperty {
  var mark: PropertyMark? {
    guard case .mark(let mark) = storage else { return nil }
    return mark.mark
  }

  private var current: Value? {
    guard case .value(let value) = storage else { return nil }
    return value
  }

  var plainValue: Engine.Value? {
    if let current { return current._plainValue }
    return Value._default()._plainValue
  }

  var anyValue: Any { current ?? Value._default() }

  func write(to row: _Row, isUpdate: Bool) {
    guard let current else {
      if isUpdate, Value._shape.collection != .none { row.removeAll() }
      return
    }
    Value._write(current, to: row)
    current._becomeManaged(row)
  }
}
