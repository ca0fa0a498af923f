// ItemDecoder.swift: values of documents as values of `Codable` types. A number that does not fit
// its type, a missing value and a value of another kind are errors.

import Foundation

/// Decodes a value.
struct ItemDecoder: Decoder {
  /// Where the ID of the document is.
  static let idKey: CodingUserInfoKey = {
    guard let key = CodingUserInfoKey(rawValue: "documentID") else {
      preconditionFailure("any text is a key")
    }
    return key
  }()

  /// The value; nil when there is none.
  let item: Item?
  let codingPath: [any CodingKey]
  let userInfo: [CodingUserInfoKey: Any]

  /// Decodes a value.
  static func decode<Value: Decodable>(
    _ type: Value.Type, from item: Item, id: String?
  ) throws -> Value {
    let userInfo: [CodingUserInfoKey: Any] = id.map { [idKey: $0] } ?? [:]
    return try ItemDecoder(item: item, codingPath: [], userInfo: userInfo).decode(type)
  }

  private var context: DecodingError.Context {
    DecodingError.Context(
      codingPath: codingPath,
      debugDescription: item.map { "\($0.value(isMutable: false))" } ?? "missing")
  }

  /// Decodes the value as a type.
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let special: Any? =
      switch type {
      case is Date.Type: item?.date
      case is Data.Type: data
      case is Blob.Type: item?.blob
      case is URL.Type: item?.text.flatMap { URL(string: $0) }
      default: Void?.none
      }
    // Nil itself would be a value of any optional type.
    if let special, let value = special as? Value { return value }
    switch type {
    case is Date.Type, is Data.Type, is Blob.Type, is URL.Type:
      throw DecodingError.typeMismatch(type, context)
    default: return try Value(from: self)
    }
  }

  private var data: Data? {
    switch item {
    case .data(let bytes): Data(bytes)
    case .blob(let blob): blob.content
    case .text(let text): Data(base64Encoded: text)
    default: nil
    }
  }

  func nested(_ item: Item?, _ key: any CodingKey) -> ItemDecoder {
    ItemDecoder(item: item, codingPath: codingPath + [key], userInfo: userInfo)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard let contents = item?.dictionary else {
      throw DecodingError.typeMismatch([String: Any].self, context)
    }
    return KeyedDecodingContainer(Keyed<Key>(decoder: self, items: contents.items()))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard let contents = item?.array else { throw DecodingError.typeMismatch([Any].self, context) }
    return Unkeyed(decoder: self, items: contents.items())
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { Single(decoder: self) }

  fileprivate var isNull: Bool {
    switch item {
    case nil, .null: true
    default: false
    }
  }

  fileprivate func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
    let number: Number? =
      switch item {
      case .integer(let value): Number(exactly: value)
      case .unsigned(let value): Number(exactly: value)
      case .float(let value): Number(exactly: value)
      case .double(let value): Number(exactly: value)
      default: throw DecodingError.typeMismatch(type, context)
      }
    guard let number else { throw DecodingError.dataCorrupted(context) }
    return number
  }

  fileprivate func double() throws -> Double {
    switch item {
    case .integer, .unsigned, .float, .double: return item?.double ?? 0
    default: throw DecodingError.typeMismatch(Double.self, context)
    }
  }

  fileprivate func boolean() throws -> Bool {
    // Array indexes and parameters have 0 and 1 for booleans.
    switch item {
    case .boolean(let value): return value
    case .integer(0): return false
    case .integer(1): return true
    default: throw DecodingError.typeMismatch(Bool.self, context)
    }
  }

  fileprivate func text() throws -> String {
    guard let text = item?.text else { throw DecodingError.typeMismatch(String.self, context) }
    return text
  }

  private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ItemDecoder
    let items: [String: Item]
    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { items.keys.sorted().compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { items[key.stringValue] != nil }

    private func nested(_ key: Key) throws -> ItemDecoder {
      guard let item = items[key.stringValue] else {
        throw DecodingError.keyNotFound(
          key,
          DecodingError.Context(
            codingPath: codingPath, debugDescription: "no value '\(key.stringValue)'"))
      }
      return decoder.nested(item, key)
    }

    func decodeNil(forKey key: Key) -> Bool { decoder.nested(items[key.stringValue], key).isNull }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
      // The ID is not among the document's values.
      if type == DocumentID.self { return try Value(from: decoder.nested(nil, key)) }
      return try nested(key).decode(type)
    }

    func nestedContainer<NestedKey: CodingKey>(
      keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
      try nested(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      try nested(key).unkeyedContainer()
    }

    func superDecoder() -> any Decoder {
      decoder.nested(items["super"], IndexKey(text: "super"))
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try nested(key) }
  }

  private struct Unkeyed: UnkeyedDecodingContainer {
    let decoder: ItemDecoder
    let items: [Item]
    var currentIndex = 0
    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { items.count }
    var isAtEnd: Bool { currentIndex >= items.count }

    init(decoder: ItemDecoder, items: [Item]) {
      self.decoder = decoder
      self.items = items
    }

    private mutating func next() throws -> ItemDecoder {
      guard !isAtEnd else {
        throw DecodingError.valueNotFound(
          Any.self,
          DecodingError.Context(codingPath: codingPath, debugDescription: "the array is at its end")
        )
      }
      defer { currentIndex += 1 }
      return decoder.nested(items[currentIndex], IndexKey(number: currentIndex))
    }

    mutating func decodeNil() throws -> Bool {
      guard !isAtEnd, case .null = items[currentIndex] else { return false }
      currentIndex += 1
      return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      try next().decode(type)
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
      keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
      try next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
      try next().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { try next() }
  }

  private struct Single: SingleValueDecodingContainer {
    let decoder: ItemDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.isNull }
    func decode(_ type: Bool.Type) throws -> Bool { try decoder.boolean() }
    func decode(_ type: String.Type) throws -> String { try decoder.text() }
    func decode(_ type: Double.Type) throws -> Double { try decoder.double() }
    func decode(_ type: Float.Type) throws -> Float { Float(try decoder.double()) }
    func decode(_ type: Int.Type) throws -> Int { try decoder.integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try decoder.integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try decoder.integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try decoder.integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try decoder.integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try decoder.integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try decoder.integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try decoder.integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try decoder.integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try decoder.integer(type) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.decode(type) }
  }
}
