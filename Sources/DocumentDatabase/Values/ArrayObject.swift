// ArrayObject.swift [U]: arrays within documents. Safety: `@unchecked Sendable` because the class
// has a subclass; its stored properties are constant and `Sendable`.

import Foundation

/// An array that does not change.
///
/// An index outside of it gives no value. Any thread may use it.
public class ArrayObject: @unchecked Sendable, Sequence, Equatable {
  let contents: ArrayContents

  init(_ contents: ArrayContents) { self.contents = contents }

  /// Whether values in it may be changed.
  var isMutable: Bool { false }

  /// The number of values.
  public var count: Int { contents.count }

  /// A value.
  /// - Parameter index: Its index.
  /// - Returns: A number, boolean, text, ``Blob``, ``ArrayObject``, ``DictionaryObject`` or
  ///   `NSNull`; nil when there is none.
  public func value(at index: Int) -> Any? { contents.item(index)?.value(isMutable: isMutable) }

  /// A text.
  /// - Parameter index: Its index.
  /// - Returns: A text; nil for other values.
  public func string(at index: Int) -> String? {
    contents.item(index)?.text
  }

  /// A number, also of a boolean.
  /// - Parameter index: Its index.
  /// - Returns: A number, also of a boolean; nil for other values.
  public func number(at index: Int) -> NSNumber? {
    contents.item(index)?.number
  }

  /// The nearest integer towards 0.
  /// - Parameter index: Its index.
  /// - Returns: The nearest integer towards 0; 0 for values that are not numbers.
  public func int(at index: Int) -> Int {
    Int(contents.item(index)?.int64 ?? 0)
  }

  /// The nearest integer towards 0.
  /// - Parameter index: Its index.
  /// - Returns: The nearest integer towards 0; 0 for values that are not numbers.
  public func int64(at index: Int) -> Int64 {
    contents.item(index)?.int64 ?? 0
  }

  /// A number.
  /// - Parameter index: Its index.
  /// - Returns: A number; 0 for other values.
  public func float(at index: Int) -> Float {
    Float(contents.item(index)?.double ?? 0)
  }

  /// A number.
  /// - Parameter index: Its index.
  /// - Returns: A number; 0 for other values.
  public func double(at index: Int) -> Double {
    contents.item(index)?.double ?? 0
  }

  /// True for true and for numbers other than 0.
  /// - Parameter index: Its index.
  /// - Returns: True for true and for numbers other than 0.
  public func boolean(at index: Int) -> Bool {
    contents.item(index)?.boolean ?? false
  }

  /// The date of a text in ISO 8601.
  /// - Parameter index: Its index.
  /// - Returns: The date of a text in ISO 8601; nil for other values.
  public func date(at index: Int) -> Date? {
    contents.item(index)?.date
  }

  /// A blob.
  /// - Parameter index: Its index.
  /// - Returns: A blob; nil for other values.
  public func blob(at index: Int) -> Blob? {
    contents.item(index)?.blob
  }

  /// An array.
  /// - Parameter index: Its index.
  /// - Returns: An array; nil for other values.
  public func array(at index: Int) -> ArrayObject? {
    contents.item(index)?.array.map { ArrayObject($0) }
  }

  /// A dictionary.
  /// - Parameter index: Its index.
  /// - Returns: A dictionary; nil for other values.
  public func dictionary(at index: Int) -> DictionaryObject? {
    contents.item(index)?.dictionary.map { DictionaryObject($0) }
  }

  /// A value, to be read as any type.
  /// - Parameter index: Its index.
  public subscript(index: Int) -> Fragment { Fragment(contents.item(index)) }

  /// All values, with arrays and dictionaries of Swift.
  /// - Returns: The values.
  public func toArray() -> [Any] { contents.items().map { $0.plain() } }

  /// All values as JSON.
  /// - Returns: The text of an array.
  public func toJSON() -> String { Item.array(contents).json }

  /// A copy that can be changed.
  /// - Returns: The copy.
  public func toMutable() -> MutableArrayObject { MutableArrayObject(contents.copy()) }

  /// The values, one after the other.
  /// - Returns: An iterator.
  public func makeIterator() -> IndexingIterator<[Any]> {
    contents.items().map { $0.value(isMutable: isMutable) }.makeIterator()
  }

  /// Whether both have equal values.
  /// - Parameters:
  ///   - first: An array.
  ///   - second: Another one.
  /// - Returns: Whether they are equal.
  public static func == (first: ArrayObject, second: ArrayObject) -> Bool {
    first.contents === second.contents || first.contents.isEqual(to: second.contents, depth: 0)
  }
}
