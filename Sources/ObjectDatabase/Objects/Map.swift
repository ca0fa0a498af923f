// Map.swift: values under strings, sorted by them when the owner is managed.

import Engine

/// A type that maps can have as keys.
public protocol _MapKey: Hashable, Sendable {
  /// The key as a string.
  var _keyText: String { get }
  /// Created from a string.
  init(_keyText: String)
}

extension String: _MapKey {
  /// Itself.
  public var _keyText: String { self }
  /// Itself.
  public init(_keyText: String) { self = _keyText }
}

/// A collection of values under keys.
public protocol RealmKeyedCollection: Sequence, ThreadConfined, Equatable, CustomStringConvertible {
  /// A key.
  associatedtype Key: _MapKey
  /// A value.
  associatedtype Value: RealmCollectionValue
  /// The number of entries.
  var count: Int { get }
  /// The keys, ascending.
  var keys: [Key] { get }
  /// The values, in the order of their keys.
  var values: [Value] { get }
  /// The value of a key; setting nil removes the entry.
  subscript(key: Key) -> Value? { get set }
}

/// Values under strings.
public final class Map<Key: _MapKey, Value: RealmCollectionValue>: RealmKeyedCollection,
  ExpressibleByDictionaryLiteral
{
  /// A key and its value.
  public typealias Element = SingleMapEntry<Key, Value>

  private var unmanaged: [Key: Value] = [:]
  /// For this module.
  public private(set) var _row: _Row?

  /// Makes an empty, unmanaged map.
  public init() {}

  /// Makes an unmanaged map.
  public init(dictionaryLiteral elements: (Key, Value)...) {
    for (key, value) in elements { unmanaged[key] = value }
  }

  /// For this module.
  public init(_row: _Row) { self._row = _row }

  /// For this module.
  public func _take(_ row: _Row) {
    _row = row
    unmanaged = [:]
  }

  /// The number of entries.
  public var count: Int { _row?.count ?? unmanaged.count }
  /// Whether there are none.
  public var isEmpty: Bool { count == 0 }

  /// The keys, ascending.
  public var keys: [Key] {
    guard let row = _row else { return unmanaged.keys.sorted { $0._keyText < $1._keyText } }
    return row.entries.map { Key(_keyText: $0.key) }
  }

  /// The values, in the order of their keys.
  public var values: [Value] {
    guard let row = _row else { return keys.compactMap { unmanaged[$0] } }
    return row.entries.map { Value.element($0.value, of: row) }
  }

  /// The value of a key; setting nil removes the entry.
  public subscript(key: Key) -> Value? {
    get {
      guard let row = _row else {
        if unmanaged.isEmpty, Discovery.isTracing { return Value._traced() }
        return unmanaged[key]
      }
      return row.value(forKey: key._keyText).map { Value.element($0, of: row) }
    }
    set {
      guard let row = _row else {
        unmanaged[key] = newValue
        return
      }
      row.core.checkWritable()
      guard let newValue else {
        row.removeValue(forKey: key._keyText)
        return
      }
      row.set(newValue._engineValue(in: row.core), forKey: key._keyText)
    }
  }

  /// The value of a key, or nil.
  public func object(forKey key: Key) -> Value? { self[key] }

  /// Sets the value of a key.
  public func updateValue(_ value: Value, forKey key: Key) { self[key] = value }

  /// Takes an entry out.
  public func removeObject(for key: Key) { self[key] = nil }

  /// Takes all entries out.
  public func removeAll() {
    guard let row = _row else {
      unmanaged = [:]
      return
    }
    row.removeAll()
  }

  /// Adds the entries of a dictionary, replacing those with the same keys.
  public func merge<Entries: Sequence>(
    _ other: Entries, uniquingKeysWith combine: (Value, Value) throws -> Value
  ) rethrows where Entries.Element == (key: Key, value: Value) {
    for (key, value) in other {
      if let old = self[key] { self[key] = try combine(old, value) } else { self[key] = value }
    }
  }

  /// Adds the entries of another map, replacing those with the same keys.
  public func merge(
    _ other: Map<Key, Value>, uniquingKeysWith combine: (Value, Value) throws -> Value
  ) rethrows {
    try merge(
      zip(other.keys, other.values).map { (key: $0, value: $1) }, uniquingKeysWith: combine)
  }

  /// Keys and values as pairs, ascending by key.
  public func asKeyValueSequence() -> [(key: Key, value: Value)] {
    zip(keys, values).map { (key: $0, value: $1) }
  }

  /// Whether an entry meets a condition.
  public func contains(
    where predicate: (_ key: Key, _ value: Value) throws -> Bool
  ) rethrows -> Bool {
    try asKeyValueSequence().contains { try predicate($0.key, $0.value) }
  }

  /// The value of a key of any name; nil without one.
  public func value(forKey key: String) -> Any? { self[Key(_keyText: key)] as Any? ?? nil }

  /// Sets the value of a key.
  public func setValue(_ value: Any?, forKey key: String) {
    guard let value = DynamicValue.unwrapped(value) else {
      self[Key(_keyText: key)] = nil
      return
    }
    guard let element = Value._fromAny(value) else {
      Misuse.stop("a map of \(Value.self) cannot hold \(value)")
    }
    self[Key(_keyText: key)] = element
  }

  /// Whether both are the same map, or unmanaged with equal entries.
  public static func == (left: Map, right: Map) -> Bool {
    switch (left._row, right._row) {
    case (.some(let left), .some(let right)): left.isSameProperty(as: right)
    case (.none, .none): left.unmanaged == right.unmanaged
    default: false
    }
  }

  /// A loop over the present entries, by key.
  public func makeIterator() -> AnyIterator<SingleMapEntry<Key, Value>> {
    let entries = zip(keys, values).map { SingleMapEntry(key: $0, value: $1) }
    return AnyIterator(entries.makeIterator())
  }

  /// Keys and values.
  public var description: String {
    Description.text(of: self)
  }
}

/// The entries of a map of any type.
protocol MapEntries {
  var anyEntries: [String: Any?] { get }
}

extension Map: MapEntries {
  var anyEntries: [String: Any?] {
    var entries: [String: Any?] = [:]
    for entry in self { entries[entry.key._keyText] = .some(entry.value) }
    return entries
  }
}

/// An entry of a map.
public struct SingleMapEntry<Key: _MapKey, Value: RealmCollectionValue>: Hashable {
  /// The key.
  public let key: Key
  /// The value.
  public let value: Value
}

extension Map: _PropertyCollection {
  /// For this module.
  public static var _elementShape: _PropertyShape { Value._shape }
  /// A dictionary.
  public static var _kind: CollectionKind { .dictionary }

  /// The entries of a dictionary; nil when one does not fit.
  public static func _elements(of any: Any?) -> [Element]? {
    guard let entries = any as? [String: Any?] ?? (any as? any MapEntries)?.anyEntries else {
      return nil
    }
    var made: [Element] = []
    for (key, item) in entries {
      guard let value = Value._fromAny(item) else { return nil }
      made.append(Element(key: Key(_keyText: key), value: value))
    }
    return made
  }

  /// Adds entries, replacing those with the same keys.
  public func _add(_ elements: [Element]) {
    for entry in elements { self[entry.key] = entry.value }
  }
}
