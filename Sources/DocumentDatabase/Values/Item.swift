// Item.swift: a value of a document in memory. Collections are references, because a mutable
// document and the mutable objects taken out of it show the same contents.

import DocumentStore
import Fleece
import Foundation

/// A value within a document.
enum Item: Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  /// From 2⁶³ on.
  case unsigned(UInt64)
  case float(Float)
  case double(Double)
  case text(String)
  case data([UInt8])
  case blob(Blob)
  case array(ArrayContents)
  case dictionary(DictionaryContents)

  /// Collections in each other beyond this depth are not followed: an object may contain itself.
  static let depthMax = FleeceValue.depthMax

  /// The value in the form that programs get.
  func value(isMutable: Bool) -> Any {
    switch self {
    case .null: NSNull()
    case .boolean(let value): value
    case .integer(let value): Int(value)
    case .unsigned(let value): value
    case .float(let value): value
    case .double(let value): value
    case .text(let value): value
    case .data(let bytes): Data(bytes)
    case .blob(let blob): blob
    case .array(let contents):
      isMutable ? MutableArrayObject(contents) : ArrayObject(contents)
    case .dictionary(let contents):
      isMutable ? MutableDictionaryObject(contents) : DictionaryObject(contents)
    }
  }

  /// The value with arrays and dictionaries of Swift.
  func plain(depth: Int = 0) -> Any {
    guard depth < Self.depthMax else { return NSNull() }
    switch self {
    case .array(let contents): return contents.items().map { $0.plain(depth: depth + 1) }
    case .dictionary(let contents):
      return contents.items().mapValues { $0.plain(depth: depth + 1) }
    default: return value(isMutable: false)
    }
  }

  /// A value that shares no collection with this one.
  func copy(depth: Int = 0) -> Item {
    guard depth < Self.depthMax else { return .null }
    switch self {
    case .array(let contents): return .array(contents.copy(depth: depth + 1))
    case .dictionary(let contents): return .dictionary(contents.copy(depth: depth + 1))
    default: return self
    }
  }

  /// True for true and for numbers other than 0.
  var boolean: Bool {
    switch self {
    case .boolean(let value): value
    case .integer(let value): value != 0
    case .unsigned(let value): value != 0
    case .float(let value): value != 0
    case .double(let value): value != 0
    default: false
    }
  }

  /// The nearest integer towards 0; 1 for true; 0 for values that are not numbers.
  var int64: Int64 {
    switch self {
    case .boolean(let value): value ? 1 : 0
    case .integer(let value): value
    case .unsigned(let value): Int64(clamping: value)
    case .float(let value): Self.clamped(Double(value))
    case .double(let value): Self.clamped(value)
    default: 0
    }
  }

  private static func clamped(_ value: Double) -> Int64 {
    guard !value.isNaN else { return 0 }
    return Int64(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
  }

  /// The number; 1 for true; 0 for values that are not numbers.
  var double: Double {
    switch self {
    case .boolean(let value): value ? 1 : 0
    case .integer(let value): Double(value)
    case .unsigned(let value): Double(value)
    case .float(let value): Double(value)
    case .double(let value): value
    default: 0
    }
  }

  var number: NSNumber? {
    switch self {
    case .boolean(let value): NSNumber(value: value)
    case .integer(let value): NSNumber(value: value)
    case .unsigned(let value): NSNumber(value: value)
    case .float(let value): NSNumber(value: value)
    case .double(let value): NSNumber(value: value)
    default: nil
    }
  }

  var text: String? {
    if case .text(let text) = self { return text }
    return nil
  }

  var blob: Blob? {
    if case .blob(let blob) = self { return blob }
    return nil
  }

  var date: Date? { text.flatMap(ISODate.date) }

  var array: ArrayContents? {
    if case .array(let contents) = self { return contents }
    return nil
  }

  var dictionary: DictionaryContents? {
    if case .dictionary(let contents) = self { return contents }
    return nil
  }
}

extension Item: Equatable {
  static func == (first: Item, second: Item) -> Bool { isEqual(first, second, depth: 0) }

  static func isEqual(_ first: Item, _ second: Item, depth: Int) -> Bool {
    guard depth < depthMax else { return false }
    switch (first, second) {
    case (.null, .null): return true
    case (.boolean(let first), .boolean(let second)): return first == second
    case (.text(let first), .text(let second)): return first == second
    case (.data(let first), .data(let second)): return first == second
    case (.blob(let first), .blob(let second)): return first == second
    case (.array(let first), .array(let second)):
      return first === second || first.isEqual(to: second, depth: depth + 1)
    case (.dictionary(let first), .dictionary(let second)):
      return first === second || first.isEqual(to: second, depth: depth + 1)
    case (.integer(let first), .integer(let second)): return first == second
    default: return first.isNumber && second.isNumber && first.double == second.double
    }
  }

  private var isNumber: Bool {
    switch self {
    case .integer, .unsigned, .float, .double: true
    default: false
    }
  }
}
