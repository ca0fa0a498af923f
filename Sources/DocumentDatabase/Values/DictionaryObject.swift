// DictionaryObject.swift [U]: dictionaries within documents. Safety: `@unchecked Sendable` because
// the class has a subclass; its stored properties are constant and `Sendable`.

import Fleece
import Foundation

/// A dictionary that does not change.
public class DictionaryObject: Properties, @unchecked Sendable, Equatable {
  /// A copy that can be changed.
  /// - Returns: The copy.
  public func toMutable() -> MutableDictionaryObject { MutableDictionaryObject(contents.copy()) }

  /// Whether both have equal values.
  /// - Parameters:
  ///   - first: A dictionary.
  ///   - second: Another one.
  /// - Returns: Whether they are equal.
  public static func == (first: DictionaryObject, second: DictionaryObject) -> Bool {
    first.contents === second.contents || first.contents.isEqual(to: second.contents, depth: 0)
  }
}

/// A dictionary that can be changed.
///
/// One that comes from a mutable document changes with it: both show the same values. Any thread
/// may use it; each call is one change.
public final class MutableDictionaryObject: DictionaryObject, MutableDictionaryProtocol,
  @unchecked Sendable
{
  override var isMutable: Bool { true }

  /// An empty dictionary.
  public init() { super.init(DictionaryContents()) }

  /// A dictionary of values.
  /// - Parameter data: The values by name.
  public init(data: [String: Any]) {
    super.init(DictionaryContents())
    setData(data)
  }

  /// A dictionary of JSON.
  /// - Parameter json: The text of an object.
  /// - Throws: ``DatabaseError`` with code ``CBLError/invalidParameter``.
  public init(json: String) throws {
    super.init(DictionaryContents())
    try setJSON(json)
  }

  init(_ contents: DictionaryContents) { super.init(contents) }

  /// A value, to be read as any type, and to be replaced.
  /// - Parameter key: Its name.
  public override subscript(key: String) -> MutableFragment {
    MutableFragment(contents, key)
  }

  /// A dictionary that can be changed.
  /// - Parameter key: Its name.
  /// - Returns: The dictionary; nil for other values.
  public override func dictionary(forKey key: String) -> MutableDictionaryObject? {
    item(key)?.dictionary.map { MutableDictionaryObject($0) }
  }

  /// An array that can be changed.
  /// - Parameter key: Its name.
  /// - Returns: The array; nil for other values.
  public override func array(forKey key: String) -> MutableArrayObject? {
    item(key)?.array.map { MutableArrayObject($0) }
  }
}
