// Fragment.swift: a value that is read as any type, and whose own values are reached by subscripts:
// `document["address"]["city"].string`.

import Foundation

/// A value of a document, which may be missing.
public class Fragment {
  fileprivate var item: Item? { stored }
  private let stored: Item?
  fileprivate var isMutable: Bool { false }

  init(_ item: Item?) { stored = item }

  /// Whether there is a value.
  public var exists: Bool { item != nil }
  /// The value; nil when there is none.
  public var value: Any? { item?.value(isMutable: isMutable) }
  /// A text; nil for other values.
  public var string: String? { item?.text }
  /// A number; nil for other values.
  public var number: NSNumber? { item?.number }
  /// The nearest integer towards 0; 0 for values that are not numbers.
  public var int: Int { Int(item?.int64 ?? 0) }
  /// The nearest integer towards 0; 0 for values that are not numbers.
  public var int64: Int64 { item?.int64 ?? 0 }
  /// A number; 0 for other values.
  public var float: Float { Float(item?.double ?? 0) }
  /// A number; 0 for other values.
  public var double: Double { item?.double ?? 0 }
  /// True for true and for numbers other than 0.
  public var boolean: Bool { item?.boolean ?? false }
  /// The date of a text in ISO 8601; nil for other values.
  public var date: Date? { item?.date }
  /// A blob; nil for other values.
  public var blob: Blob? { item?.blob }
  /// An array; nil for other values.
  public var array: ArrayObject? { item?.array.map { ArrayObject($0) } }
  /// A dictionary; nil for other values.
  public var dictionary: DictionaryObject? { item?.dictionary.map { DictionaryObject($0) } }

  /// A value of a dictionary.
  /// - Parameter key: Its name.
  public subscript(key: String) -> Fragment { Fragment(item?.dictionary?.item(key)) }

  /// A value of an array.
  /// - Parameter index: Its index.
  public subscript(index: Int) -> Fragment { Fragment(item?.array?.item(index)) }
}

/// A value of a mutable document, which may be missing, and can be replaced.
///
/// Replacing a value whose dictionary or array does not exist does nothing.
public final class MutableFragment: Fragment {
  private enum Place {
    case key(DictionaryContents, String)
    case index(ArrayContents, Int)
    case nowhere
  }

  private let place: Place

  init(_ contents: DictionaryContents, _ key: String) {
    place = .key(contents, key)
    super.init(nil)
  }

  init(_ contents: ArrayContents, _ index: Int) {
    place = .index(contents, index)
    super.init(nil)
  }

  private init() {
    place = .nowhere
    super.init(nil)
  }

  fileprivate override var isMutable: Bool { true }

  fileprivate override var item: Item? {
    switch place {
    case .key(let contents, let key): contents.item(key)
    case .index(let contents, let index): contents.item(index)
    case .nowhere: nil
    }
  }

  private func replace(_ value: Any?) {
    let item = Item(converting: value)
    switch place {
    case .key(let contents, let key): contents.set(item, for: key)
    case .index(let contents, let index):
      contents.change { items in
        if items.indices.contains(index) { items[index] = item }
      }
    case .nowhere: break
    }
  }

  /// The value; nil when there is none.
  public override var value: Any? {
    get { super.value }
    set { replace(newValue) }
  }

  /// A text; nil for other values.
  public override var string: String? {
    get { super.string }
    set { replace(newValue) }
  }

  /// A number; nil for other values.
  public override var number: NSNumber? {
    get { super.number }
    set { replace(newValue) }
  }

  /// The nearest integer towards 0; 0 for values that are not numbers.
  public override var int: Int {
    get { super.int }
    set { replace(newValue) }
  }

  /// The nearest integer towards 0; 0 for values that are not numbers.
  public override var int64: Int64 {
    get { super.int64 }
    set { replace(newValue) }
  }

  /// A number; 0 for other values.
  public override var float: Float {
    get { super.float }
    set { replace(newValue) }
  }

  /// A number; 0 for other values.
  public override var double: Double {
    get { super.double }
    set { replace(newValue) }
  }

  /// True for true and for numbers other than 0.
  public override var boolean: Bool {
    get { super.boolean }
    set { replace(newValue) }
  }

  /// The date of a text in ISO 8601; nil for other values.
  public override var date: Date? {
    get { super.date }
    set { replace(newValue) }
  }

  /// A blob; nil for other values.
  public override var blob: Blob? {
    get { super.blob }
    set { replace(newValue) }
  }

  /// An array that can be changed; nil for other values.
  public override var array: ArrayObject? {
    get { item?.array.map { MutableArrayObject($0) } }
    set { replace(newValue) }
  }

  /// A dictionary that can be changed; nil for other values.
  public override var dictionary: DictionaryObject? {
    get { item?.dictionary.map { MutableDictionaryObject($0) } }
    set { replace(newValue) }
  }

  /// A value of a dictionary.
  /// - Parameter key: Its name.
  public override subscript(key: String) -> MutableFragment {
    item?.dictionary.map { MutableFragment($0, key) } ?? MutableFragment()
  }

  /// A value of an array.
  /// - Parameter index: Its index.
  public override subscript(index: Int) -> MutableFragment {
    item?.array.map { MutableFragment($0, index) } ?? MutableFragment()
  }
}
