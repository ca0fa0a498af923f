// ItemConvertible.swift [U]: which values of Swift a document can hold, and what each becomes.

import Foundation

/// A value that a document can hold.
protocol ItemConvertible {
  /// The value in a document.
  func item(depth: Int) -> Item
}

extension Item {
  /// The value of a program in a document.
  ///
  /// Values of other types are an error of the program, and trap.
  init(converting value: Any?, depth: Int = 0) {
    guard let value else {
      self = .null
      return
    }
    guard let convertible = value as? any ItemConvertible else {
      preconditionFailure(
        "a document cannot hold a \(type(of: value)); use numbers, booleans, texts, dates, blobs, "
          + "arrays, dictionaries or NSNull")
    }
    precondition(depth < Item.depthMax, "values are nested deeper than \(Item.depthMax)")
    self = convertible.item(depth: depth)
  }
}

extension Bool: ItemConvertible { func item(depth: Int) -> Item { .boolean(self) } }
extension String: ItemConvertible { func item(depth: Int) -> Item { .text(self) } }
extension Substring: ItemConvertible { func item(depth: Int) -> Item { .text(String(self)) } }
extension Double: ItemConvertible { func item(depth: Int) -> Item { .double(self) } }
extension Float: ItemConvertible { func item(depth: Int) -> Item { .float(self) } }
extension Date: ItemConvertible { func item(depth: Int) -> Item { .text(ISODate.text(self)) } }
extension NSNull: ItemConvertible { func item(depth: Int) -> Item { .null } }
extension NSString: ItemConvertible {
  func item(depth: Int) -> Item { .text(String(describing: self)) }
}
extension Blob: ItemConvertible { func item(depth: Int) -> Item { .blob(self) } }
extension ArrayObject: ItemConvertible {
  func item(depth: Int) -> Item {
    // An immutable object's contents must not change with the document that takes them.
    .array(self is MutableArrayObject ? contents : contents.copy(depth: depth))
  }
}
extension DictionaryObject: ItemConvertible {
  func item(depth: Int) -> Item {
    .dictionary(self is MutableDictionaryObject ? contents : contents.copy(depth: depth))
  }
}

extension ItemConvertible where Self: FixedWidthInteger {
  func item(depth: Int) -> Item {
    Int64(exactly: self).map { .integer($0) } ?? .unsigned(UInt64(clamping: self))
  }
}
extension Int: ItemConvertible {}
extension Int8: ItemConvertible {}
extension Int16: ItemConvertible {}
extension Int32: ItemConvertible {}
extension Int64: ItemConvertible {}
extension UInt: ItemConvertible {}
extension UInt8: ItemConvertible {}
extension UInt16: ItemConvertible {}
extension UInt32: ItemConvertible {}
extension UInt64: ItemConvertible {}

extension NSNumber: ItemConvertible {
  func item(depth: Int) -> Item {
    // Safety: the text that it points to is constant.
    switch unsafe String(cString: objCType) {
    // Booleans; JSONSerialization makes them of `true` and `false`.
    case "c", "B": .boolean(boolValue)
    case "d": .double(doubleValue)
    case "f": .float(floatValue)
    case "Q" where uint64Value > UInt64(Int64.max): .unsigned(uint64Value)
    default: .integer(int64Value)
    }
  }
}

extension Optional: ItemConvertible {
  func item(depth: Int) -> Item {
    switch self {
    case nil: .null
    case let value?: Item(converting: value, depth: depth)
    }
  }
}

extension Array: ItemConvertible {
  func item(depth: Int) -> Item {
    .array(ArrayContents(map { Item(converting: $0, depth: depth + 1) }))
  }
}

extension NSArray: ItemConvertible {
  func item(depth: Int) -> Item {
    .array(ArrayContents(map { Item(converting: $0, depth: depth + 1) }))
  }
}

extension Dictionary: ItemConvertible where Key == String {
  func item(depth: Int) -> Item {
    let pairs = mapValues { Item(converting: $0, depth: depth + 1) }
    if let blob = Blob(stored: pairs, file: nil) { return .blob(blob) }
    return .dictionary(DictionaryContents(pairs))
  }
}
