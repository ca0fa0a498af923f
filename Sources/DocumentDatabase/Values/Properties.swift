// Properties.swift [U]: what documents, dictionaries and rows of results have in common: values by
// name. Safety: `@unchecked Sendable` because subclasses exist; all stored properties are constant
// and `Sendable`.

import Foundation

/// Values by name.
///
/// A document, a dictionary in it, and a row of a result are read through these methods. Any thread
/// may use it.
public class Properties: @unchecked Sendable, Sequence {
  /// Nil for rows of results, which keep their values elsewhere.
  private let ownContents: DictionaryContents?
  private static let noContents = DictionaryContents()
  var contents: DictionaryContents { ownContents ?? Self.noContents }

  init(_ contents: DictionaryContents?) { ownContents = contents }

  /// Whether values in it may be changed.
  var isMutable: Bool { false }

  func item(_ key: String) -> Item? { contents.item(key) }

  func items() -> [String: Item] { contents.items() }

  /// The names, sorted.
  public var keys: [String] { contents.keys }

  /// The number of values.
  public var count: Int { keys.count }

  /// Whether there is a value with a name.
  /// - Parameter key: The name.
  /// - Returns: Whether there is one.
  public func contains(key: String) -> Bool { item(key) != nil }

  /// A value.
  /// - Parameter key: Its name.
  /// - Returns: A number, boolean, text, ``Blob``, ``ArrayObject``, ``DictionaryObject`` or
  ///   `NSNull`; nil when there is none.
  public func value(forKey key: String) -> Any? { item(key)?.value(isMutable: isMutable) }

  /// A text.
  /// - Parameter key: Its name.
  /// - Returns: The text; nil for other values.
  public func string(forKey key: String) -> String? { item(key)?.text }

  /// A number.
  /// - Parameter key: Its name.
  /// - Returns: The number, also of a boolean; nil for other values.
  public func number(forKey key: String) -> NSNumber? { item(key)?.number }

  /// An integer.
  /// - Parameter key: Its name.
  /// - Returns: The nearest integer towards 0; 0 for values that are not numbers.
  public func int(forKey key: String) -> Int { Int(item(key)?.int64 ?? 0) }

  /// An integer of 64 bits.
  /// - Parameter key: Its name.
  /// - Returns: The nearest integer towards 0; 0 for values that are not numbers.
  public func int64(forKey key: String) -> Int64 { item(key)?.int64 ?? 0 }

  /// A number as a float.
  /// - Parameter key: Its name.
  /// - Returns: The number; 0 for values that are none.
  public func float(forKey key: String) -> Float { Float(item(key)?.double ?? 0) }

  /// A number as a double.
  /// - Parameter key: Its name.
  /// - Returns: The number; 0 for values that are none.
  public func double(forKey key: String) -> Double { item(key)?.double ?? 0 }

  /// A boolean.
  /// - Parameter key: Its name.
  /// - Returns: True for true and for numbers other than 0.
  public func boolean(forKey key: String) -> Bool { item(key)?.boolean ?? false }

  /// A date.
  /// - Parameter key: Its name.
  /// - Returns: The date of a text in ISO 8601; nil for other values.
  public func date(forKey key: String) -> Date? { item(key)?.date }

  /// A blob.
  /// - Parameter key: Its name.
  /// - Returns: The blob; nil for other values.
  public func blob(forKey key: String) -> Blob? { item(key)?.blob }

  /// An array.
  /// - Parameter key: Its name.
  /// - Returns: The array; nil for other values.
  public func array(forKey key: String) -> ArrayObject? { item(key)?.array.map { ArrayObject($0) } }

  /// A dictionary.
  /// - Parameter key: Its name.
  /// - Returns: The dictionary; nil for other values.
  public func dictionary(forKey key: String) -> DictionaryObject? {
    item(key)?.dictionary.map { DictionaryObject($0) }
  }

  /// A value, to be read as any type.
  /// - Parameter key: Its name.
  public subscript(key: String) -> Fragment { Fragment(item(key)) }

  /// All values, with arrays and dictionaries of Swift.
  /// - Returns: The values by name.
  public func toDictionary() -> [String: Any] { items().mapValues { $0.plain() } }

  /// All values as JSON.
  /// - Returns: The text of an object.
  public func toJSON() -> String { Item.dictionary(DictionaryContents(items())).json }

  /// The names, one after the other.
  /// - Returns: An iterator.
  public func makeIterator() -> IndexingIterator<[String]> { keys.makeIterator() }
}
