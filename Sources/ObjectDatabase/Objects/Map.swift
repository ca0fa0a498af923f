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

/// Values under strings.
public final class Map<Key: _MapKey, Value: RealmCollectionValue>: Sequence,
  ExpressibleByDictionaryLiteral, CustomStringConvertible
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
      guard let row = _row else { return unmanaged[key] }
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

  /// A loop over the present entries, by key.
  public func makeIterator() -> AnyIterator<SingleMapEntry<Key, Value>> {
    let entries = zip(keys, values).map { SingleMapEntry(key: $0, value: $1) }
    return AnyIterator(entries.makeIterator())
  }

  /// Keys and values.
  public var description: String {
    "Map {\n" + map { "  \($0.key._keyText): \($0.value)" }.joined(separator: "\n") + "\n}"
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
    guard let entries = any as? [String: Any?] else { return nil }
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
