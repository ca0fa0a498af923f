// AnyRealmValue.swift: a value of any type that a property can have, an object included.

import Engine
import FoundationEssentials

/// A value of any of the persistable types.
public enum AnyRealmValue: RealmCollectionValue, CustomStringConvertible {
  /// No value.
  case none
  /// An integer.
  case int(Int)
  /// True or false.
  case bool(Bool)
  /// A 32-bit floating-point number.
  case float(Float)
  /// A 64-bit floating-point number.
  case double(Double)
  /// Text.
  case string(String)
  /// Bytes.
  case data(Data)
  /// A point in time.
  case date(Date)
  /// An object of any class that is not embedded.
  case object(Object)
  /// Twelve bytes.
  case objectId(ObjectId)
  /// A decimal number.
  case decimal128(Decimal128)
  /// Sixteen bytes.
  case uuid(UUID)
  /// Values in an order, which may be collections themselves; a managed one changes in place.
  case list(List<AnyRealmValue>)
  /// Values under keys, which may be collections themselves; a managed one changes in place.
  case dictionary(Map<String, AnyRealmValue>)

  /// A value of any type, with copies of collections; nil when it is none of these.
  init?(any: Any, depth: Int = 0) {
    guard let flat = DynamicValue.flattened(any) else {
      self = .none
      return
    }
    switch flat {
    case let value as AnyRealmValue: self = value.detached(depth: depth)
    case let value as Bool: self = .bool(value)
    case let value as Float: self = .float(value)
    case let value as Double: self = .double(value)
    case let value as String: self = .string(value)
    case let value as Data: self = .data(value)
    case let value as Date: self = .date(value)
    case let value as Object: self = .object(value)
    case let value as ObjectId: self = .objectId(value)
    case let value as Decimal128: self = .decimal128(value)
    case let value as UUID: self = .uuid(value)
    case let value as any BinaryInteger:
      guard let number = Int(exactly: value) else { return nil }
      self = .int(number)
    default: self.init(collection: flat, depth: depth)
    }
  }

  /// The integer, if it is one.
  public var intValue: Int? { if case .int(let value) = self { value } else { nil } }
  /// The truth value, if it is one.
  public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The number, if it is one of 32 bits.
  public var floatValue: Float? { if case .float(let value) = self { value } else { nil } }
  /// The number, if it is one of 64 bits.
  public var doubleValue: Double? { if case .double(let value) = self { value } else { nil } }
  /// The text, if it is one.
  public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
  /// The bytes, if there are any.
  public var dataValue: Data? { if case .data(let value) = self { value } else { nil } }
  /// The point in time, if it is one.
  public var dateValue: Date? { if case .date(let value) = self { value } else { nil } }
  /// The identifier, if it is one.
  public var objectIdValue: ObjectId? { if case .objectId(let value) = self { value } else { nil } }
  /// The number, if it is a decimal one.
  public var decimal128Value: Decimal128? {
    if case .decimal128(let value) = self { value } else { nil }
  }
  /// The identifier, if it is one.
  public var uuidValue: UUID? { if case .uuid(let value) = self { value } else { nil } }

  /// The value itself; nil for none.
  var anyContent: Any? {
    switch self {
    case .object(let object): object
    case .list(let list): list
    case .dictionary(let map): map
    default: _plainValue.flatMap { DynamicValue.scalar($0) }
    }
  }

  /// The object, if it is one of that class.
  public func object<Class: Object>(_ objectType: Class.Type) -> Class? {
    if case .object(let object) = self { object as? Class } else { nil }
  }

  /// The value in words.
  public var description: String {
    switch self {
    case .object(let object): object.classInfo.name
    case .list(let list): list.description
    case .dictionary(let map): map.description
    default: _plainValue.map { DynamicValue.text(of: $0) } ?? "nil"
    }
  }

  // MARK: as a property

  /// A value of any type.
  public static var _shape: _PropertyShape { _PropertyShape(.any) }

  /// No value.
  public static func _default() -> AnyRealmValue { .none }

  /// A value of any type that has a case.
  public static func _fromAny(_ any: Any?) -> AnyRealmValue? { AnyRealmValue(any: any as Any) }

  /// The value, unless it is an object or a collection, which need a row.
  public var _plainValue: Value? {
    switch self {
    case .none: .null
    case .int(let value): .int(Int64(value))
    case .bool(let value): .bool(value)
    case .float(let value): .float(value)
    case .double(let value): .double(value)
    case .string(let value): .string(value)
    case .data(let value): .binary([UInt8](value))
    case .date(let value): value.engineValue
    case .object, .list, .dictionary: nil
    case .objectId(let value): .objectId(value)
    case .decimal128(let value): .decimal128(value)
    case .uuid(let value): value.engineValue
    }
  }

  /// The value, or the link to the object, which is added when it is unmanaged, or to a copy of the
  /// collection.
  public func _engineValue(in core: _RealmCore) -> Value {
    if isCollection { return core.stored(self) }
    guard case .object(let object) = self else { return _plainValue ?? .null }
    let key = core.link(to: object)
    let name = object.classInfo.name
    guard let write = core.write else { return .null }
    return Misuse.unthrowing { () throws(EngineError) in
      .typedLink(table: try write.tableID(of: name), key: key)
    }
  }

  /// Created from the engine's value; a link to a deleted object becomes `none`.
  public static func _make(from value: Value, in core: _RealmCore) -> AnyRealmValue {
    switch value {
    case .null: return .none
    case .int(let value): return .int(Int(value))
    case .bool(let value): return .bool(value)
    case .float(let value): return .float(value)
    case .double(let value): return .double(value)
    case .string(let value): return .string(value)
    case .binary(let value): return .data(Data(value))
    case .date(let seconds, let nanoseconds):
      return .date(Date(seconds: seconds, nanoseconds: nanoseconds))
    case .objectId(let value): return .objectId(value)
    case .decimal128(let value): return .decimal128(value)
    case .uuid(let value): return .uuid(UUID(value.bytes))
    case .typedLink(let table, let key):
      let name = core.tableName(ofID: table)
      if name == MixedCollections.tableName { return core.mixedCollection(key) }
      guard let access = name.flatMap({ core.access(named: $0) }), access.contains(key),
        let object = access.makeObject(key) as? Object
      else { return .none }
      return .object(object)
    case .link, .list, .set, .dictionary: return misfit(value, core)
    }
  }
}

extension _RealmCore {
  /// The table that mixed values know by a number; nil for one that is gone.
  func tableName(ofID id: UInt32) -> String? {
    Misuse.unthrowing { () throws(EngineError) in
      try currentVersion().tableName(ofID: id)
    }
  }
}
