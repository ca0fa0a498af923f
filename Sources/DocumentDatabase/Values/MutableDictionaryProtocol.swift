// MutableDictionaryProtocol.swift: what mutable documents and dictionaries have in common: setters,
// each of which returns the object, so that calls can follow each other.

import Fleece
import Foundation

/// Values by name that can be changed.
public protocol MutableDictionaryProtocol: Properties {}

extension MutableDictionaryProtocol {
  /// Sets a value.
  /// - Parameters:
  ///   - value: A number, boolean, text, date, ``Blob``, array, dictionary or `NSNull`; nil is
  ///     null.
  ///   - key: Its name.
  /// - Returns: This object.
  /// - Precondition: The value has one of these types.
  @discardableResult
  public func setValue(_ value: Any?, forKey key: String) -> Self {
    contents.set(Item(converting: value), for: key)
    return self
  }

  /// Replaces all values.
  /// - Parameter data: The values by name.
  /// - Returns: This object.
  /// - Precondition: The values have types that `setValue` takes.
  @discardableResult
  public func setData(_ data: [String: Any]) -> Self {
    contents.replace(with: data.mapValues { Item(converting: $0, depth: 1) })
    return self
  }

  /// Replaces all values.
  /// - Parameter json: The text of a JSON object.
  /// - Returns: This object.
  /// - Throws: ``DatabaseError`` with code ``CBLError/invalidParameter`` for other texts.
  @discardableResult
  public func setJSON(_ json: String) throws -> Self {
    let pairs = try DatabaseError.wrapping { try JSONTexts.dictionary(json) }
    contents.replace(with: pairs)
    return self
  }

  /// Removes a value.
  /// - Parameter key: Its name.
  /// - Returns: This object.
  @discardableResult
  public func removeValue(forKey key: String) -> Self {
    contents.set(nil, for: key)
    return self
  }

  /// Sets a text.
  /// - Parameters:
  ///   - value: The text; nil is null.
  ///   - key: Its name.
  /// - Returns: This object.
  @discardableResult
  public func setString(_ value: String?, forKey key: String) -> Self {
    setValue(value, forKey: key)
  }

  /// Sets a number.
  /// - Parameters:
  ///   - value: The number; nil is null.
  ///   - key: Its name.
  /// - Returns: This object.
  @discardableResult
  public func setNumber(_ value: NSNumber?, forKey key: String) -> Self {
    setValue(value, forKey: key)
  }

  /// Sets an integer.
  /// - Parameters:
  ///   - value: The integer.
  ///   - key: Its name.
  /// - Returns: This object.
  @discardableResult
  public func setInt(_ value: Int, forKey key: String) -> Self {
    setValue(value, forKey: key)
  }

  /// Sets an integer.
  /// - Parameters:
  ///   - value: The integer.
  ///   - key: Its name.
  /// - Returns: This object.
  @discardableResult
  public func setInt64(_ value: Int64, forKey key: String) -> Self {
    setValue(value, forKey: key)
  }

  /// Sets a number.
  /// - Parameters:
  ///   - value: The number.
  ///   - key: Its name.
  /// - Returns: This object.
  @discardableResult
  public func setFloat(_ value: Float, forKey key: String) -> Self {
    setValue(value, forKey: key)
  }

  /// Sets a number.
  /// - Parameters:
  ///   - value: The number.
  ///   - key: Its name.
  /// - Returns: This object.
  @discardableResult
  public func setDouble(_ value: Double, forKey key: String) -> Self {
    setValue(value, forKey: key)
  }

  /// Sets a boolean.
  /// - Parameters:
  ///   - value: The boolean.
  ///   - key: Its name.
  /// - Returns: This object.
  @discardableResult
  public func setBoolean(_ value: Bool, forKey key: String) -> Self {
    setValue(value, forKey: key)
  }

  /// Sets a date.
  /// - Parameters:
  ///   - value: The date; nil is null.
  ///   - key: Its name.
  /// - Returns: This object.
  @discardableResult
  public func setDate(_ value: Date?, forKey key: String) -> Self {
    setValue(value, forKey: key)
  }

  /// Sets a blob.
  /// - Parameters:
  ///   - value: The blob; nil is null.
  ///   - key: Its name.
  /// - Returns: This object.
  @discardableResult
  public func setBlob(_ value: Blob?, forKey key: String) -> Self {
    setValue(value, forKey: key)
  }

  /// Sets an array.
  /// - Parameters:
  ///   - value: The array; nil is null.
  ///   - key: Its name.
  /// - Returns: This object.
  @discardableResult
  public func setArray(_ value: ArrayObject?, forKey key: String) -> Self {
    setValue(value, forKey: key)
  }

  /// Sets a dictionary.
  /// - Parameters:
  ///   - value: The dictionary; nil is null.
  ///   - key: Its name.
  /// - Returns: This object.
  @discardableResult
  public func setDictionary(_ value: DictionaryObject?, forKey key: String) -> Self {
    setValue(value, forKey: key)
  }
}

/// Values of JSON texts.
enum JSONTexts {
  /// The pairs of an object.
  static func dictionary(_ json: String) throws -> [String: Item] {
    guard case .dictionary(let contents) = try item(json) else { throw refusal("an object") }
    return contents.items()
  }

  /// The items of an array.
  static func array(_ json: String) throws -> [Item] {
    guard case .array(let contents) = try item(json) else { throw refusal("an array") }
    return contents.items()
  }

  private static func item(_ json: String) throws -> Item {
    let bytes = try FleeceEncoder.bytes(ofJSON: json)
    return try FleeceDocument(bytes).withRoot { (root) throws(FleeceError) in
      try Item(root, keys: FleeceSharedKeys(), file: nil)
    }
  }

  private static func refusal(_ wanted: String) -> DatabaseError {
    DatabaseError(CBLError.invalidParameter, "the text is not \(wanted) of JSON")
  }
}
