// Coding.swift: models, collections and values with Codable. A class needs no code of its own:
// `class Item: Object, Codable`. Invariant: a managed object is never encoded by that, because its
// wrappers hold no values: it throws, and a class that wants it implements `encode(to:)`.

import Engine
import FoundationEssentials

extension Persisted: Decodable where Value: Decodable {
  /// Decodes the value of an unmanaged property.
  public init(from decoder: any Decoder) throws {
    self.init(wrappedValue: try Value(from: decoder))
  }
}

extension Persisted: Encodable where Value: Encodable {
  /// Encodes the value of an unmanaged property.
  /// - Throws: `EncodingError` for a managed one.
  public func encode(to encoder: any Encoder) throws {
    switch storage {
    case .value(let value): try value.encode(to: encoder)
    case .unset: try Value._default().encode(to: encoder)
    case .mark:
      throw EncodingError.invalidValue(
        self,
        EncodingError.Context(
          codingPath: encoder.codingPath,
          debugDescription:
            "a managed object is not encoded by what the compiler derives; encode Item(value: item)"
            + ", or write encode(to:)"))
    }
  }
}

extension KeyedDecodingContainer {
  /// Decodes an optional property, which is nil where the key is missing.
  public func decode<Wrapped: Decodable>(
    _ type: Persisted<Wrapped?>.Type, forKey key: Key
  ) throws -> Persisted<Wrapped?> {
    Persisted<Wrapped?>(wrappedValue: try decodeIfPresent(Wrapped.self, forKey: key))
  }
}

extension List: Decodable where Element: Decodable {
  /// Decodes the elements of an unmanaged list.
  public convenience init(from decoder: any Decoder) throws {
    self.init()
    append(objectsIn: try [Element](from: decoder))
  }
}

extension List: Encodable where Element: Encodable {
  /// Encodes the elements as an array.
  public func encode(to encoder: any Encoder) throws { try Array(self).encode(to: encoder) }
}

extension MutableSet: Decodable where Element: Decodable {
  /// Decodes the elements of an unmanaged set.
  public convenience init(from decoder: any Decoder) throws {
    self.init()
    insert(objectsIn: try [Element](from: decoder))
  }
}

extension MutableSet: Encodable where Element: Encodable {
  /// Encodes the elements as an array.
  public func encode(to encoder: any Encoder) throws { try Array(self).encode(to: encoder) }
}

extension Map: Decodable where Key: Decodable, Value: Decodable {
  /// Decodes the entries of an unmanaged map.
  public convenience init(from decoder: any Decoder) throws {
    self.init()
    for (key, value) in try [String: Value](from: decoder) { self[Key(_keyText: key)] = value }
  }
}

extension Map: Encodable where Key: Encodable, Value: Encodable {
  /// Encodes the entries as a dictionary.
  public func encode(to encoder: any Encoder) throws {
    let entries = asKeyValueSequence().map { ($0.key._keyText, $0.value) }
    try Dictionary(entries, uniquingKeysWith: { $1 }).encode(to: encoder)
  }
}

extension Results: Encodable where Element: Encodable {
  /// Encodes the elements as an array.
  public func encode(to encoder: any Encoder) throws { try Array(self).encode(to: encoder) }
}

extension LinkingObjects: Encodable where Element: Encodable {
  /// Encodes the elements as an array.
  public func encode(to encoder: any Encoder) throws { try Array(self).encode(to: encoder) }
}

extension AnyRealmCollection: Encodable where Element: Encodable {
  /// Encodes the elements as an array.
  public func encode(to encoder: any Encoder) throws { try Array(self).encode(to: encoder) }
}

extension Engine.ObjectId: Codable {
  /// Decodes 24 hexadecimal digits.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let id = Engine.ObjectId(text as String) else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: decoder.codingPath,
          debugDescription: "\"\(text.prefix(40))\" is not an ObjectId"))
    }
    self = id
  }

  /// Encodes the 24 hexadecimal digits.
  public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}

extension Engine.Decimal128: Codable {
  /// Decodes a text or a number.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let text = try? container.decode(String.self) {
      guard let number = Engine.Decimal128(text as String) else {
        throw DecodingError.dataCorruptedError(
          in: container, debugDescription: "\"\(text.prefix(60))\" is not a decimal number")
      }
      self = number
    } else if let number = try? container.decode(Int64.self) {
      self.init(number)
    } else {
      self.init(shortest: try container.decode(Double.self))
    }
  }

  /// Encodes the number as text, which keeps every digit.
  public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}
