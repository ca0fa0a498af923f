// DynamicValue.swift: values whose type is known only at run time: by property name, in
// dictionaries given to `create(value:)`, in migrations, in bulk changes. Invariant: an integer is
// never rounded; a value that does not fit a property is an error that names class, property and
// value.

import Engine
import FoundationEssentials

enum DynamicValue {
  /// The value of a column that was never set.
  static func empty(_ column: ColumnSchema) -> Value {
    switch column.collection {
    case .list: return .list([])
    case .set: return .set([])
    case .dictionary: return .dictionary([])
    case .none: return column.isOptional ? .null : zero(column.type)
    }
  }

  /// A value, with a replacement for null.
  static func replacingNulls(in value: Value, by zero: Value) -> Value {
    switch value {
    case .null: zero
    case .list(let values): .list(values.map { $0 == .null ? zero : $0 })
    case .set(let values): .set(values.map { $0 == .null ? zero : $0 })
    case .dictionary(let entries):
      .dictionary(
        entries.map {
          DictionaryEntry(key: $0.key, value: $0.value == .null ? zero : $0.value)
        })
    default: value
    }
  }

  /// The value of a required column of a type that was never set.
  static func zero(_ type: ColumnType) -> Value {
    switch type {
    case .decimal128: .decimal128(Decimal128._default())
    case .link: .null
    default: type.zero
    }
  }

  // MARK: text

  /// A value that stands for itself, in the program's types; nil for null, links and collections.
  static func scalar(_ value: Value) -> Any? {
    switch value {
    case .int(let number): Int(number)
    case .string(let text): text
    case .bool(let isTrue): isTrue
    case .float(let number): number
    case .double(let number): number
    case .binary(let bytes): Data(bytes)
    case .date(let seconds, let nanoseconds): Date(seconds: seconds, nanoseconds: nanoseconds)
    case .objectId(let id): id
    case .uuid(let id): UUID(id.bytes)
    case .decimal128(let number): number
    case .null, .link, .typedLink, .list, .set, .dictionary: nil
    }
  }

  /// A value as messages have it.
  static func text(of value: Value) -> String {
    switch value {
    case .null: "nil"
    case .int(let number): "\(number)"
    case .string(let text): "\"\(text.count > 60 ? text.prefix(40) + "…" : text[...])\""
    case .bool(let isTrue): "\(isTrue)"
    case .float(let number): "\(number)"
    case .double(let number): "\(number)"
    case .binary(let bytes): "\(bytes.count) bytes"
    case .date(let seconds, let nanoseconds):
      "\(Date(seconds: seconds, nanoseconds: nanoseconds))"
    case .objectId(let id): "\(id)"
    case .uuid(let id): "\(UUID(id.bytes))"
    case .decimal128(let number): "\(number)"
    case .link(let key): "object \(key)"
    case .typedLink(_, let key): "object \(key)"
    case .list(let values), .set(let values): "\(values.count) elements"
    case .dictionary(let entries): "\(entries.count) entries"
    }
  }

  // MARK: any

  /// A value in the program's types; links as objects.
  static func any(
    _ value: Value, _ property: Property, _ core: _RealmCore, isDynamic: Bool = false
  ) -> Any? {
    switch value {
    case .link(let key):
      guard let name = property.objectClassName else { return nil }
      let dynamic = isDynamic ? core.dynamicAccess(named: name) : nil
      return (dynamic ?? core.access(named: name))?.makeObject(key)
    case .typedLink: return AnyRealmValue._make(from: value, in: core)
    case .list(let values), .set(let values):
      return values.map { any($0, property, core, isDynamic: isDynamic) }
    case .dictionary(let entries):
      return Dictionary(
        entries.map { ($0.key, any($0.value, property, core, isDynamic: isDynamic)) },
        uniquingKeysWith: { $1 })
    default: return scalar(value)
    }
  }

  /// The engine's value for one that is neither a link nor a collection; nil when it does not fit
  /// the property.
  static func plain(_ any: Any?, _ property: Property) -> Value? {
    // The most frequent types first, before dynamic casts that cost as much as a lookup.
    switch (property.type, any) {
    case (.int, let number as Int): return .int(Int64(number))
    case (.string, let text as String): return .string(text)
    case (.bool, let isTrue as Bool): return .bool(isTrue)
    // Excludes values that only cast to one, like a number of JSON that may be `true`.
    case (.double, let any?) where type(of: any) == Double.self:
      if let number = any as? Double { return .double(number) }
    default: break
    }
    guard let any = flattened(any) else {
      return property.isOptional || property.type == .any ? .null : nil
    }
    switch property.type {
    case .int: return integer(any).map { .int($0) }
    case .bool: return bool(any).map { .bool($0) }
    case .float: return float(any).map { .float($0) }
    case .double: return double(any).map { .double($0) }
    case .string:
      return (any as? String ?? (any as? Substring).map(String.init)).map { .string($0) }
    case .data: return (any as? Data).map { .binary([UInt8]($0)) }
    case .date: return (any as? Date)?.engineValue
    case .objectId: return (any as? ObjectId).map { .objectId($0) }
    case .uuid: return (any as? UUID)?.engineValue
    case .decimal128: return decimal(any).map { .decimal128($0) }
    case .any: return AnyRealmValue(any: any)?._plainValue
    case .object, .linkingObjects: return nil
    }
  }

  /// Unwraps a value that wraps another (an optional, a null or a number of JSON).
  static func unwrapped(_ any: Any?) -> Any? {
    var any = any
    while let value = any, let other = value as? any StandingValue { any = other.anyValue }
    return any
  }

  /// Unwraps a value that wraps another, the raw value of an enumeration, or the persisted value of
  /// a custom type.
  static func flattened(_ any: Any?) -> Any? {
    let any = unwrapped(any)
    if let custom = any as? any CustomPersistable { return custom.persistableValue }
    if let custom = any as? any FailableCustomPersistable { return custom.persistableValue }
    if let raw = (any as? any RawRepresentable)?.rawValue as Any? { return raw }
    return any
  }

  private static func integer(_ any: Any) -> Int64? {
    switch any {
    case is Bool: nil
    case let number as any BinaryInteger: Int64(exactly: number)
    // A whole number, as texts of JSON have it: 3.0.
    case let number as Double: Int64(exactly: number)
    case let number as Float: Int64(exactly: number)
    default: nil
    }
  }

  private static func bool(_ any: Any) -> Bool? {
    if let isTrue = any as? Bool { return isTrue }
    return switch integer(any) {
    case 0: false
    case 1: true
    default: nil
    }
  }

  private static func decimal(_ any: Any) -> Decimal128? {
    switch any {
    case let number as Decimal128: number
    case let text as String: Decimal128(text)
    case let number as Double: Decimal128(shortest: number)
    case let number as Float: Decimal128("\(number)" as String)
    case let number as any BinaryInteger where !(any is Bool): Decimal128("\(number)" as String)
    default: nil
    }
  }

  private static func double(_ any: Any) -> Double? {
    switch any {
    case let number as Double: number
    case let number as Float: Double(number)
    default: integer(any).flatMap { Double(exactly: $0) }
    }
  }

  private static func float(_ any: Any) -> Float? {
    switch any {
    case let number as Float: number
    case let number as Double:
      // A number too large for 32 bits must not become an infinity.
      Float(number).isInfinite && number.isFinite ? nil : Float(number)
    default: integer(any).flatMap { Float(exactly: $0) }
    }
  }
}

/// A value that wraps another: an optional of any type, a null or number of Foundation's.
protocol StandingValue {
  var anyValue: Any? { get }
}

extension Optional: StandingValue {
  var anyValue: Any? {
    switch self {
    case .none: nil
    case .some(let wrapped): wrapped
    }
  }
}
