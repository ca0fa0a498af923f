// ReferenceValue.swift: a value of Fleece as a tree in memory, for the second reader and for a
// generator. Slow and plain on purpose; it shares no code with the module Fleece.

/// A value, with all nested values.
package indirect enum ReferenceValue: Equatable, Sendable {
  /// A key in its written form.
  package enum Key: Equatable, Sendable {
    case shared(Int)
    case text([UInt8])
  }

  /// A pair of a dict.
  package struct Pair: Equatable, Sendable {
    package var key: Key
    package var value: ReferenceValue

    package init(_ key: Key, _ value: ReferenceValue) {
      self.key = key
      self.value = value
    }
  }

  case null
  case undefined
  case boolean(Bool)
  case signed(Int64)
  case unsigned(UInt64)
  /// The bits of a float.
  case float(UInt32)
  /// The bits of a double.
  case double(UInt64)
  case text([UInt8])
  case data([UInt8])
  case array([ReferenceValue])
  case dict([Pair])

  /// How many values there are, counting a value in two places twice; at most `most`.
  package func count(most: Int) -> Int {
    var count = 1
    let inner: [ReferenceValue]
    switch self {
    case .array(let items): inner = items
    case .dict(let pairs): inner = pairs.map(\.value)
    default: inner = []
    }
    for value in inner {
      guard count < most else { return most }
      count += value.count(most: most - count)
    }
    return count
  }
}
