// PlainValues.swift: the persistable types that are values: numbers, text, bytes, dates,
// identifiers. Every integer type is a column of 64 bits; for numbers that the property's type
// cannot hold see UnreadableValues.swift.

import Engine
import FoundationEssentials

extension PlainValue {
  /// The property type, never null.
  public static var _shape: _PropertyShape { _PropertyShape(propertyType) }

  /// Created from the engine's value.
  public static func _make(from value: Value, in core: _RealmCore) -> Self {
    Self(engineValue: value) ?? misfit(value, core)
  }

  /// Created from the engine's value.
  public static func _makeIfFits(from value: Value, in core: _RealmCore) -> Self? {
    Self(engineValue: value)
  }

  /// A value of the type, or a number that is one without rounding.
  public static func _fromAny(_ any: Any?) -> Self? {
    if let own = any as? Self { return own }
    let property = Property(name: "", columnName: "", type: propertyType)
    return DynamicValue.plain(any, property).flatMap { Self(engineValue: $0) }
  }

  /// The engine's value.
  public func _engineValue(in core: _RealmCore) -> Value { engineValue }

  /// Changes a managed property; a plain value adds no objects to the realm.
  public static func _write(_ value: Self, to row: _Row) { row.set(value.engineValue) }

  /// The engine's value.
  public var _plainValue: Value? { engineValue }
}

/// An integer of any width.
protocol IntegerValue: PlainValue, FixedWidthInteger {}

extension IntegerValue {
  static var propertyType: PropertyType { .int }

  /// An integer, with fewer values than the column where it has fewer bits.
  public static var _shape: _PropertyShape {
    var shape = _PropertyShape(.int)
    if bitWidth < Int64.bitWidth { shape.narrow = Self.self }
    return shape
  }

  init?(engineValue: Value) {
    guard case .int(let number) = engineValue else { return nil }
    self.init(exactly: number)
  }

  var engineValue: Value { .int(Int64(self)) }

  /// Zero.
  public static func _default() -> Self { 0 }
}

extension Int: IntegerValue {
  /// Reads a managed property without a detour over the engine's values.
  @inlinable
  public static func _read(_ row: _Row) -> Int { row.integer(Int.self) }
}
extension Int8: IntegerValue {
  /// Reads a managed property without a detour over the engine's values.
  @inlinable
  public static func _read(_ row: _Row) -> Int8 { row.integer(Int8.self) }
}
extension Int16: IntegerValue {
  /// Reads a managed property without a detour over the engine's values.
  @inlinable
  public static func _read(_ row: _Row) -> Int16 { row.integer(Int16.self) }
}
extension Int32: IntegerValue {
  /// Reads a managed property without a detour over the engine's values.
  @inlinable
  public static func _read(_ row: _Row) -> Int32 { row.integer(Int32.self) }
}
extension Int64: IntegerValue {
  /// Reads a managed property without a detour over the engine's values.
  @inlinable
  public static func _read(_ row: _Row) -> Int64 { row.integer(Int64.self) }
}

extension Bool: PlainValue {
  static var propertyType: PropertyType { .bool }

  init?(engineValue: Value) {
    guard case .bool(let isTrue) = engineValue else { return nil }
    self = isTrue
  }

  var engineValue: Value { .bool(self) }

  /// False.
  public static func _default() -> Bool { false }

  /// Reads a managed property without a detour over the engine's values.
  @inlinable
  public static func _read(_ row: _Row) -> Bool { row.access.bool(row.key, row.property) }
}

extension Double: PlainValue {
  static var propertyType: PropertyType { .double }

  init?(engineValue: Value) {
    guard case .double(let number) = engineValue else { return nil }
    self = number
  }

  var engineValue: Value { .double(self) }

  /// Zero.
  public static func _default() -> Double { 0 }

  /// Reads a managed property without a detour over the engine's values.
  @inlinable
  public static func _read(_ row: _Row) -> Double { row.access.double(row.key, row.property) }
}

extension Float: PlainValue {
  static var propertyType: PropertyType { .float }

  init?(engineValue: Value) {
    guard case .float(let number) = engineValue else { return nil }
    self = number
  }

  var engineValue: Value { .float(self) }

  /// Zero.
  public static func _default() -> Float { 0 }
}

extension String: PlainValue {
  static var propertyType: PropertyType { .string }

  init?(engineValue: Value) {
    guard case .string(let text) = engineValue else { return nil }
    self = text
  }

  var engineValue: Value { .string(self) }

  /// Empty.
  public static func _default() -> String { "" }

  /// Reads a managed property without a detour over the engine's values.
  public static func _read(_ row: _Row) -> String {
    row.access.text(row.key, row.property) ?? element(row.value, of: row)
  }
}

extension Data: PlainValue {
  static var propertyType: PropertyType { .data }

  init?(engineValue: Value) {
    guard case .binary(let bytes) = engineValue else { return nil }
    self.init(bytes)
  }

  var engineValue: Value { .binary([UInt8](self)) }

  /// Empty.
  public static func _default() -> Data { Data() }
}

extension Date: PlainValue {
  static var propertyType: PropertyType { .date }

  init?(engineValue: Value) {
    guard case .date(let seconds, let nanoseconds) = engineValue else { return nil }
    self.init(seconds: seconds, nanoseconds: nanoseconds)
  }

  /// The time of the call.
  public static func _default() -> Date { IdentifierSource.now() }
}

extension UUID: PlainValue {
  static var propertyType: PropertyType { .uuid }

  init?(engineValue: Value) {
    guard case .uuid(let id) = engineValue else { return nil }
    self.init(id.bytes)
  }

  /// A new one.
  public static func _default() -> UUID { IdentifierSource.makeUUID() }
}

extension Engine.ObjectId: PlainValue {
  static var propertyType: PropertyType { .objectId }

  init?(engineValue: Value) {
    guard case .objectId(let id) = engineValue else { return nil }
    self = id
  }

  var engineValue: Value { .objectId(self) }

  /// A new one.
  public static func _default() -> Engine.ObjectId { .generate() }
}

extension Engine.Decimal128: PlainValue {
  static var propertyType: PropertyType { .decimal128 }

  init?(engineValue: Value) {
    guard case .decimal128(let number) = engineValue else { return nil }
    self = number
  }

  var engineValue: Value { .decimal128(self) }

  /// Zero, as an integer without exponent.
  public static func _default() -> Engine.Decimal128 { .zero }
}
