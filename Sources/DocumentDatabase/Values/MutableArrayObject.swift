// MutableArrayObject.swift [U]: arrays that can be changed. Safety: as ArrayObject.

import Foundation

/// An array that can be changed.
///
/// One that comes from a mutable document changes with it: both show the same values. Any thread
/// may use it; each call is one change.
public final class MutableArrayObject: ArrayObject, @unchecked Sendable {
  override var isMutable: Bool { true }

  /// An empty array.
  public init() { super.init(ArrayContents()) }

  /// An array of values.
  /// - Parameter data: The values.
  public init(data: [Any]) {
    super.init(ArrayContents())
    setData(data)
  }

  /// An array of JSON.
  /// - Parameter json: The text of an array.
  /// - Throws: ``DatabaseError`` with code ``CBLError/invalidParameter``.
  public init(json: String) throws {
    super.init(ArrayContents())
    try setJSON(json)
  }

  override init(_ contents: ArrayContents) { super.init(contents) }

  /// Replaces all values.
  /// - Parameter data: The values.
  /// - Returns: This array.
  /// - Precondition: The values have types that documents hold.
  @discardableResult
  public func setData(_ data: [Any]) -> Self {
    let items = data.map { Item(converting: $0, depth: 1) }
    contents.change { $0 = items }
    return self
  }

  /// Replaces all values.
  /// - Parameter json: The text of an array of JSON.
  /// - Returns: This array.
  /// - Throws: ``DatabaseError`` with code ``CBLError/invalidParameter`` for other texts.
  @discardableResult
  public func setJSON(_ json: String) throws -> Self {
    let items = try DatabaseError.wrapping { try JSONTexts.array(json) }
    contents.change { $0 = items }
    return self
  }

  /// Replaces a value.
  /// - Parameters:
  ///   - value: A value of a type that documents hold; nil is null.
  ///   - index: Its index.
  /// - Returns: This array.
  /// - Precondition: There is a value with that index.
  @discardableResult
  public func setValue(_ value: Any?, at index: Int) -> Self {
    let item = Item(converting: value)
    contents.change { items in
      precondition(items.indices.contains(index), "index \(index) of \(items.count) values")
      items[index] = item
    }
    return self
  }

  /// Adds a value at the end.
  /// - Parameter value: A value of a type that documents hold; nil is null.
  /// - Returns: This array.
  @discardableResult
  public func addValue(_ value: Any?) -> Self {
    let item = Item(converting: value)
    contents.change { $0.append(item) }
    return self
  }

  /// Inserts a value.
  /// - Parameters:
  ///   - value: A value of a type that documents hold; nil is null.
  ///   - index: The index that it gets.
  /// - Returns: This array.
  /// - Precondition: The index is at most the number of values.
  @discardableResult
  public func insertValue(_ value: Any?, at index: Int) -> Self {
    let item = Item(converting: value)
    contents.change { items in
      precondition((0...items.count).contains(index), "index \(index) of \(items.count) values")
      items.insert(item, at: index)
    }
    return self
  }

  /// Removes a value.
  /// - Parameter index: Its index.
  /// - Returns: This array.
  /// - Precondition: There is a value with that index.
  @discardableResult
  public func removeValue(at index: Int) -> Self {
    contents.change { items in
      precondition(items.indices.contains(index), "index \(index) of \(items.count) values")
      items.remove(at: index)
    }
    return self
  }

  /// An array that can be changed.
  /// - Parameter index: Its index.
  /// - Returns: The array; nil for other values.
  public override func array(at index: Int) -> MutableArrayObject? {
    contents.item(index)?.array.map { MutableArrayObject($0) }
  }

  /// A dictionary that can be changed.
  /// - Parameter index: Its index.
  /// - Returns: The dictionary; nil for other values.
  public override func dictionary(at index: Int) -> MutableDictionaryObject? {
    contents.item(index)?.dictionary.map { MutableDictionaryObject($0) }
  }

  /// A value, to be read as any type, and to be replaced.
  /// - Parameter index: Its index.
  public override subscript(index: Int) -> MutableFragment { MutableFragment(contents, index) }
}

// The setters of a type, each by way of the one for any.
extension MutableArrayObject {
  /// Replaces a value by a text.
  /// - Parameters:
  ///   - value: The text; nil is null.
  ///   - index: Its index.
  /// - Returns: This array.
  @discardableResult
  public func setString(_ value: String?, at index: Int) -> Self {
    setValue(value, at: index)
  }

  /// Adds a text.
  /// - Parameter value: The text; nil is null.
  /// - Returns: This array.
  @discardableResult
  public func addString(_ value: String?) -> Self {
    addValue(value)
  }

  /// Inserts a text.
  /// - Parameters:
  ///   - value: The text; nil is null.
  ///   - index: Its index.
  /// - Returns: This array.
  @discardableResult
  public func insertString(_ value: String?, at index: Int) -> Self {
    insertValue(value, at: index)
  }

  /// Replaces a value by a number.
  /// - Parameters:
  ///   - value: The number; nil is null.
  ///   - index: Its index.
  /// - Returns: This array.
  @discardableResult
  public func setNumber(_ value: NSNumber?, at index: Int) -> Self {
    setValue(value, at: index)
  }

  /// Adds a number.
  /// - Parameter value: The number; nil is null.
  /// - Returns: This array.
  @discardableResult
  public func addNumber(_ value: NSNumber?) -> Self {
    addValue(value)
  }

  /// Inserts a number.
  /// - Parameters:
  ///   - value: The number; nil is null.
  ///   - index: Its index.
  /// - Returns: This array.
  @discardableResult
  public func insertNumber(_ value: NSNumber?, at index: Int) -> Self {
    insertValue(value, at: index)
  }

  /// Replaces a value by an integer.
  /// - Parameters:
  ///   - value: The integer.
  ///   - index: Its index.
  /// - Returns: This array.
  @discardableResult
  public func setInt(_ value: Int, at index: Int) -> Self {
    setValue(value, at: index)
  }

  /// Adds an integer.
  /// - Parameter value: The integer.
  /// - Returns: This array.
  @discardableResult
  public func addInt(_ value: Int) -> Self {
    addValue(value)
  }

  /// Inserts an integer.
  /// - Parameters:
  ///   - value: The integer.
  ///   - index: Its index.
  /// - Returns: This array.
  @discardableResult
  public func insertInt(_ value: Int, at index: Int) -> Self {
    insertValue(value, at: index)
  }

  /// Replaces a value by an integer.
  /// - Parameters:
  ///   - value: The integer.
  ///   - index: Its index.
  /// - Returns: This array.
  @discardableResult
  public func setInt64(_ value: Int64, at index: Int) -> Self {
    setValue(value, at: index)
  }

  /// Adds an integer.
  /// - Parameter value: The integer.
  /// - Returns: This array.
  @discardableResult
  public func addInt64(_ value: Int64) -> Self {
    addValue(value)
  }

  /// Inserts an integer.
  /// - Parameters:
  ///   - value: The integer.
  ///   - index: Its index.
  /// - Returns: This array.
  @discardableResult
  public func insertInt64(_ value: Int64, at index: Int) -> Self {
    insertValue(value, at: index)
  }

  /// Replaces a value by a number.
  /// - Parameters:
  ///   - value: The number.
  ///   - index: Its index.
  /// - Returns: This array.
  @discardableResult
  public func setFloat(_ value: Float, at index: Int) -> Self {
    setValue(value, at: index)
  }

  /// Adds a number.
  /// - Parameter value: The number.
  /// - Returns: This array.
  @discardableResult
  public func addFloat(_ value: Float) -> Self {
    addValue(value)
  }

  /// Inserts a number.
  /// - Parameters:
  ///   - value: The number.
  ///   - index: Its index.
  /// - Returns: This array.
  @discardableResult
  public func insertFloat(_ value: Float, at index: Int) -> Self {
    insertValue(value, at: index)
  }

  /// Replaces a value by a number.
  /// - Parameters:
  ///   - value: The number.
  ///   - index: Its index.
  /// - Returns: This array.
  @discardableResult
  public func setDouble(_ value: Double, at index: Int) -> Self {
    setValue(value, at: index)
  }

  /// Adds a number.
  /// - Parameter value: The number.
  /// - Returns: This array.
  @discardableResult
  public func addDouble(_ value: Double) -> Self {
    addValue(value)
  }

  /// Inserts a number.
  /// - Parameters:
  ///   - value: The number.
  ///   - index: Its index.
  /// - Returns: This array.
  @discardableResult
  public func insertDouble(_ value: Double, at index: Int) -> Self {
    insertValue(value, at: index)
  }

  /// Replaces a value by a boolean.
  /// - Parameters:
  ///   - value: The boolean.
  ///   - index: Its index.
  /// - Returns: This array.
  @discardableResult
  public func setBoolean(_ value: Bool, at index: Int) -> Self {
    setValue(value, at: index)
  }

  /// Adds a boolean.
  /// - Parameter value: The boolean.
  /// - Returns: This array.
  @discardableResult
  public func addBoolean(_ value: Bool) -> Self {
    addValue(value)
  }

  /// Inserts a boolean.
  /// - Parameters:
  ///   - value: The boolean.
  ///   - index: Its index.
  /// - Returns: This array.
  @discardableResult
  public func insertBoolean(_ value: Bool, at index: Int) -> Self {
    insertValue(value, at: index)
  }

  /// Replaces a value by a date.
  /// - Parameters:
  ///   - value: The date; nil is null.
  ///   - index: Its index.
  /// - Returns: This array.
  @discardableResult
  public func setDate(_ value: Date?, at index: Int) -> Self {
    setValue(value, at: index)
  }

  /// Adds a date.
  /// - Parameter value: The date; nil is null.
  /// - Returns: This array.
  @discardableResult
  public func addDate(_ value: Date?) -> Self {
    addValue(value)
  }

  /// Inserts a date.
  /// - Parameters:
  ///   - value: The date; nil is null.
  ///   - index: Its index.
  /// - Returns: This array.
  @discardableResult
  public func insertDate(_ value: Date?, at index: Int) -> Self {
    insertValue(value, at: index)
  }

  /// Replaces a value by a blob.
  /// - Parameters:
  ///   - value: The blob; nil is null.
  ///   - index: Its index.
  /// - Returns: This array.
  @discardableResult
  public func setBlob(_ value: Blob?, at index: Int) -> Self {
    setValue(value, at: index)
  }

  /// Adds a blob.
  /// - Parameter value: The blob; nil is null.
  /// - Returns: This array.
  @discardableResult
  public func addBlob(_ value: Blob?) -> Self {
    addValue(value)
  }

  /// Inserts a blob.
  /// - Parameters:
  ///   - value: The blob; nil is null.
  ///   - index: Its index.
  /// - Returns: This array.
  @discardableResult
  public func insertBlob(_ value: Blob?, at index: Int) -> Self {
    insertValue(value, at: index)
  }

  /// Replaces a value by an array.
  /// - Parameters:
  ///   - value: The array; nil is null.
  ///   - index: Its index.
  /// - Returns: This array.
  @discardableResult
  public func setArray(_ value: ArrayObject?, at index: Int) -> Self {
    setValue(value, at: index)
  }

  /// Adds an array.
  /// - Parameter value: The array; nil is null.
  /// - Returns: This array.
  @discardableResult
  public func addArray(_ value: ArrayObject?) -> Self {
    addValue(value)
  }

  /// Inserts an array.
  /// - Parameters:
  ///   - value: The array; nil is null.
  ///   - index: Its index.
  /// - Returns: This array.
  @discardableResult
  public func insertArray(_ value: ArrayObject?, at index: Int) -> Self {
    insertValue(value, at: index)
  }

  /// Replaces a value by a dictionary.
  /// - Parameters:
  ///   - value: The dictionary; nil is null.
  ///   - index: Its index.
  /// - Returns: This array.
  @discardableResult
  public func setDictionary(_ value: DictionaryObject?, at index: Int) -> Self {
    setValue(value, at: index)
  }

  /// Adds a dictionary.
  /// - Parameter value: The dictionary; nil is null.
  /// - Returns: This array.
  @discardableResult
  public func addDictionary(_ value: DictionaryObject?) -> Self {
    addValue(value)
  }

  /// Inserts a dictionary.
  /// - Parameters:
  ///   - value: The dictionary; nil is null.
  ///   - index: Its index.
  /// - Returns: This array.
  @discardableResult
  public func insertDictionary(_ value: DictionaryObject?, at index: Int) -> Self {
    insertValue(value, at: index)
  }
}
