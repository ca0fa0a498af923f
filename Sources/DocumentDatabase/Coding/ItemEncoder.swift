// ItemEncoder.swift: values of `Codable` types as values of documents. Dates are texts in ISO 8601,
// blobs are blobs, and data is Fleece's data.

import Foundation

/// Encodes a value.
struct ItemEncoder: Encoder {
  static let idKey = ItemDecoder.idKey

  /// What a value becomes: it is known when the value has been encoded.
  final class Target {
    enum Form {
      case nothing
      case item(Item)
      case pairs
      case list
    }

    /// A value within.
    enum Part {
      case item(Item)
      /// One that is still encoded.
      case target(Target)

      var item: Item? {
        switch self {
        case .item(let item): item
        case .target(let target): target.item
        }
      }
    }

    var form = Form.nothing
    /// The values of a dictionary or an array, in the order of encoding; no keys in an array.
    private(set) var parts: [(key: String, part: Part)] = []

    /// A further value, which will be known later.
    func add(_ key: String) -> Target {
      let target = Target()
      parts.append((key, .target(target)))
      return target
    }

    /// A further value.
    func add(_ key: String, _ item: Item) { parts.append((key, .item(item))) }

    var item: Item? {
      switch form {
      case .nothing: nil
      case .item(let item): item
      case .pairs:
        .dictionary(
          DictionaryContents(
            Dictionary(
              parts.compactMap { pair in pair.part.item.map { (pair.key, $0) } },
              uniquingKeysWith: { _, last in last })))
      case .list: .array(ArrayContents(parts.map { $0.part.item ?? .null }))
      }
    }
  }

  let target: Target
  let codingPath: [any CodingKey]
  let userInfo: [CodingUserInfoKey: Any]

  /// The pairs of a value.
  static func pairs<Value: Encodable>(of value: Value, _ found: FoundID) throws -> [String: Item] {
    let encoder = ItemEncoder(target: Target(), codingPath: [], userInfo: [idKey: found])
    try encoder.encode(value)
    guard case .dictionary(let contents)? = encoder.target.item else {
      throw EncodingError.invalidValue(
        value,
        EncodingError.Context(codingPath: [], debugDescription: "a document has named values"))
    }
    return contents.items()
  }

  /// Encodes a value into the target.
  func encode<Value: Encodable>(_ value: Value) throws {
    guard codingPath.count < Item.depthMax else { throw tooDeep(value, codingPath) }
    if let item = Self.item(of: value) {
      target.form = .item(item)
    } else {
      try value.encode(to: self)
    }
  }

  private func tooDeep(_ value: Any, _ path: [any CodingKey]) -> EncodingError {
    .invalidValue(
      value, EncodingError.Context(codingPath: path, debugDescription: "nested too deep"))
  }

  /// The item of a value whose type has a form of its own in documents, or is a common one that has
  /// no values within; nil for others.
  ///
  /// Types are compared before values are cast: a cast of an array to a class copies the array.
  private static func item<Value: Encodable>(of value: Value) -> Item? {
    if Value.self == String.self { return (value as? String).map { .text($0) } }
    if Value.self == Int.self { return (value as? Int).map { .integer(Int64($0)) } }
    if Value.self == Double.self { return (value as? Double).map { .double($0) } }
    if Value.self == Bool.self { return (value as? Bool).map { .boolean($0) } }
    if Value.self == Date.self { return (value as? Date).map { .text(ISODate.text($0)) } }
    if Value.self == Data.self { return (value as? Data).map { .data(Array($0)) } }
    if Value.self == Blob.self { return (value as? Blob).map { .blob($0) } }
    if Value.self == URL.self { return (value as? URL).map { .text($0.absoluteString) } }
    return nil
  }

  /// The encoder of a value within.
  func nested(_ target: Target, _ key: any CodingKey) -> ItemEncoder {
    ItemEncoder(target: target, codingPath: codingPath + [key], userInfo: userInfo)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    target.form = .pairs
    return KeyedEncodingContainer(Keyed<Key>(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    target.form = .list
    return Unkeyed(encoder: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { Single(encoder: self) }

  /// Adds a value without others within to a dictionary.
  private func add(_ item: Item, _ key: some CodingKey) throws {
    guard codingPath.count + 1 < Item.depthMax else {
      throw tooDeep(item.value(isMutable: false), codingPath + [key])
    }
    target.add(key.stringValue, item)
  }

  /// Adds a value without others within to an array.
  private func append(_ item: Item) throws {
    guard codingPath.count + 1 < Item.depthMax else {
      let key = IndexKey(number: target.parts.count)
      throw tooDeep(item.value(isMutable: false), codingPath + [key])
    }
    target.add("", item)
  }

  private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: ItemEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    private func add(_ key: any CodingKey) -> ItemEncoder {
      encoder.nested(encoder.target.add(key.stringValue), key)
    }

    func encodeNil(forKey key: Key) { encoder.target.add(key.stringValue, .null) }

    func encode(_ value: String, forKey key: Key) throws { try encoder.add(.text(value), key) }
    func encode(_ value: Bool, forKey key: Key) throws { try encoder.add(.boolean(value), key) }
    func encode(_ value: Double, forKey key: Key) throws { try encoder.add(.double(value), key) }
    func encode(_ value: Int, forKey key: Key) throws {
      try encoder.add(.integer(Int64(value)), key)
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
      guard let item = ItemEncoder.item(of: value) else { return try add(key).encode(value) }
      try encoder.add(item, key)
    }

    func nestedContainer<NestedKey: CodingKey>(
      keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
      add(key).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      add(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { add(IndexKey(text: "super")) }

    func superEncoder(forKey key: Key) -> any Encoder { add(key) }
  }

  private struct Unkeyed: UnkeyedEncodingContainer {
    let encoder: ItemEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    var count: Int { encoder.target.parts.count }

    private func add() -> ItemEncoder {
      let key = IndexKey(number: count)
      return encoder.nested(encoder.target.add(""), key)
    }

    func encodeNil() { encoder.target.add("", .null) }

    func encode<Value: Encodable>(_ value: Value) throws {
      guard let item = ItemEncoder.item(of: value) else { return try add().encode(value) }
      try encoder.append(item)
    }

    func nestedContainer<NestedKey: CodingKey>(
      keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
      add().container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { add().unkeyedContainer() }

    func superEncoder() -> any Encoder { add() }
  }

  private struct Single: SingleValueEncodingContainer {
    let encoder: ItemEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    private func set(_ value: some ItemConvertible) {
      encoder.target.form = .item(value.item(depth: 0))
    }

    func encodeNil() { encoder.target.form = .item(.null) }
    func encode(_ value: Bool) { set(value) }
    func encode(_ value: String) { set(value) }
    func encode(_ value: Double) { set(value) }
    func encode(_ value: Float) { set(value) }
    func encode(_ value: Int) { set(value) }
    func encode(_ value: Int8) { set(value) }
    func encode(_ value: Int16) { set(value) }
    func encode(_ value: Int32) { set(value) }
    func encode(_ value: Int64) { set(value) }
    func encode(_ value: UInt) { set(value) }
    func encode(_ value: UInt8) { set(value) }
    func encode(_ value: UInt16) { set(value) }
    func encode(_ value: UInt32) { set(value) }
    func encode(_ value: UInt64) { set(value) }
    func encode<Value: Encodable>(_ value: Value) throws { try encoder.encode(value) }
  }
}

/// A key of an item of an array.
struct IndexKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(number: Int) {
    stringValue = "\(number)"
    intValue = number
  }

  init(text: String) {
    stringValue = text
    intValue = nil
  }

  init?(stringValue: String) { self.init(text: stringValue) }

  init?(intValue: Int) { self.init(number: intValue) }
}

extension Blob: Codable {
  /// A blob of a document; other decoders read it by its properties.
  /// - Parameter decoder: The decoder.
  /// - Throws: `DecodingError` when there is no blob.
  public convenience init(from decoder: any Decoder) throws {
    guard let decoder = decoder as? ItemDecoder, let blob = decoder.item?.blob else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "no blob"))
    }
    self.init(copying: blob)
  }

  /// Encodes the properties.
  /// - Parameter encoder: The encoder; documents hold the blob itself.
  /// - Throws: An error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    if let encoder = encoder as? ItemEncoder {
      encoder.target.form = .item(.blob(self))
      return
    }
    var container = encoder.container(keyedBy: IndexKey.self)
    try container.encode(Self.blobType, forKey: IndexKey(text: Self.typeProperty))
    try container.encodeIfPresent(digest, forKey: IndexKey(text: "digest"))
    try container.encodeIfPresent(contentType, forKey: IndexKey(text: "content_type"))
    try container.encode(length, forKey: IndexKey(text: "length"))
  }
}
