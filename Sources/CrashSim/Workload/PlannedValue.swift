// PlannedValue.swift: a value of a column in plans and models, with its JSON form: null, a number,
// a text, a list, or an object with one key that names the type.

import Engine
import FoundationEssentials

/// A value of a column.
package enum PlannedValue: Sendable, Hashable {
  case null
  case int(Int64)
  case string(String)
  case bool(Bool)
  /// The bits of a 64-bit floating-point number, so that equal means the same bits.
  case double(UInt64)
  case binary([UInt8])
  case date(seconds: Int64, nanoseconds: Int64)
  case uuid(UUIDBytes)
  /// The key of a row.
  case link(Int64)
  case list([PlannedValue])
  /// Values under texts, in a mixed value; see `dictionary(sorting:)`.
  case dictionary([PlannedEntry])

  /// Size of the data itself: 8 for an int, the UTF-8 length for a string.
  package var contentBytes: Int {
    switch self {
    case .null: 0
    case .int, .double, .link: 8
    case .string(let text): text.utf8.count
    case .bool: 1
    case .binary(let bytes): bytes.count
    case .uuid: 16
    case .date: 12
    case .list(let elements): elements.reduce(0) { $0 + $1.contentBytes }
    case .dictionary(let entries):
      entries.reduce(0) { $0 + $1.key.utf8.count + $1.value.contentBytes }
    }
  }

  /// A column's value when no statement has filled it.
  static func empty(_ column: ColumnDeclaration) -> PlannedValue {
    if column.isOptional { return .null }
    if let kind = column.objects { return kind.empty }
    if column.isList { return .list([]) }
    return switch column.type {
    case .int: .int(0)
    case .string: .string("")
    case .bool: .bool(false)
    case .double: .double(0)
    case .binary: .binary([])
    case .date: .date(seconds: 0, nanoseconds: 0)
    case .uuid: .uuid(Self.zeroUUID)
    case .link, .mixed: .null
    }
  }

  private static let zeroUUID = Self.uuid([UInt8](repeating: 0, count: 16))

  /// The UUID of 16 bytes.
  static func uuid(_ bytes: [UInt8]) -> UUIDBytes {
    guard let uuid = UUIDBytes(bytes: bytes) else {
      preconditionFailure("a UUID has 16 bytes, not \(bytes.count)")
    }
    return uuid
  }
}

extension PlannedValue: Codable {
  private enum Key: String, CodingKey {
    case bool, double, binary, date, uuid, link, dictionary
  }

  /// Reads the forms that `encode(to:)` writes.
  package init(from decoder: any Decoder) throws {
    if let fields = try? decoder.container(keyedBy: Key.self), let key = fields.allKeys.first {
      self =
        switch key {
        case .bool: .bool(try fields.decode(Bool.self, forKey: key))
        case .double: .double(try fields.decode(UInt64.self, forKey: key))
        case .binary: .binary(Array(try fields.decode(Data.self, forKey: key)))
        case .uuid: try Self.uuid(try fields.decode(Data.self, forKey: key), fields, key)
        case .link: .link(try fields.decode(Int64.self, forKey: key))
        case .dictionary: .dictionary(try fields.decode([PlannedEntry].self, forKey: key))
        case .date:
          try Self.date(try fields.decode([Int64].self, forKey: key), fields, key)
        }
      return
    }
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let number = try? container.decode(Int64.self) {
      self = .int(number)
    } else if let text = try? container.decode(String.self) {
      self = .string(text)
    } else {
      self = .list(try container.decode([PlannedValue].self))
    }
  }

  private static func uuid(
    _ bytes: Data, _ fields: KeyedDecodingContainer<Key>, _ key: Key
  ) throws -> PlannedValue {
    guard let uuid = UUIDBytes(bytes: Array(bytes)) else {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: fields, debugDescription: "a UUID of \(bytes.count) bytes, not 16")
    }
    return .uuid(uuid)
  }

  private static func date(
    _ parts: [Int64], _ fields: KeyedDecodingContainer<Key>, _ key: Key
  ) throws -> PlannedValue {
    guard parts.count == 2 else {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: fields, debugDescription: "a date is seconds and nanoseconds")
    }
    return .date(seconds: parts[0], nanoseconds: parts[1])
  }

  /// Writes null, a number, a text, a list, or an object with one key.
  package func encode(to encoder: any Encoder) throws {
    func put(_ value: some Encodable, _ key: Key) throws {
      var fields = encoder.container(keyedBy: Key.self)
      try fields.encode(value, forKey: key)
    }
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .int(let number): try container.encode(number)
    case .string(let text): try container.encode(text)
    case .list(let elements): try container.encode(elements)
    case .bool(let value): try put(value, .bool)
    case .double(let bits): try put(bits, .double)
    case .binary(let bytes): try put(Data(bytes), .binary)
    case .uuid(let uuid): try put(Data(uuid.bytes), .uuid)
    case .link(let key): try put(key, .link)
    case .dictionary(let entries): try put(entries, .dictionary)
    case .date(let seconds, let nanoseconds): try put([seconds, nanoseconds], .date)
    }
  }
}

extension PlannedValue {
  /// The value in the engine's form.
  package var engineValue: Value {
    switch self {
    case .null: .null
    case .int(let number): .int(number)
    case .string(let text): .string(text)
    case .bool(let value): .bool(value)
    case .double(let bits): .double(Double(bitPattern: bits))
    case .binary(let bytes): .binary(bytes)
    case .date(let seconds, let nanoseconds): .date(seconds: seconds, nanoseconds: nanoseconds)
    case .uuid(let uuid): .uuid(uuid)
    case .link(let key): .link(key)
    case .list(let elements): .list(elements.map(\.engineValue))
    case .dictionary(let entries):
      .dictionary(entries.map { DictionaryEntry(key: $0.key, value: $0.value.engineValue) })
    }
  }

  /// A value from the engine; nil for one that no scenario can declare.
  package init?(_ value: Value) {
    switch value {
    case .null: self = .null
    case .int(let number): self = .int(number)
    case .string(let text): self = .string(text)
    case .bool(let value): self = .bool(value)
    case .double(let number): self = .double(number.bitPattern)
    case .binary(let bytes): self = .binary(bytes)
    case .date(let seconds, let nanoseconds):
      self = .date(seconds: seconds, nanoseconds: nanoseconds)
    case .uuid(let uuid): self = .uuid(uuid)
    case .link(let key): self = .link(key)
    case .list(let elements):
      let planned = elements.compactMap { PlannedValue($0) }
      guard planned.count == elements.count else { return nil }
      self = .list(planned)
    default: return nil
    }
  }
}
