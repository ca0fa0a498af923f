// FleeceDict.swift: the pairs of a dict, read in place. Pairs are in the order of their keys:
// numbers of shared keys first, then texts byte by byte. A lookup in a dict that is not ordered so
// may miss a key, but always ends. Not supported: parents (a first key of -2048), which no document
// of Couchbase Lite has.

/// A dict inside bytes that are not copied; it must not outlive them.
public struct FleeceDict: Sendable {
  /// A key in its written form.
  public enum Key: Sendable {
    /// The place of a key in the table of shared keys.
    case shared(Int)
    /// A text: bytes in place, not checked to be UTF-8.
    case text(FleeceBytes)
  }

  let bytes: FleeceBytes
  let first: Int
  let width: Int
  let lowest: UInt32
  /// How many pairs there are.
  public let count: Int

  @inline(__always)
  init(_ value: FleeceValue, _ items: FleeceValue.Items) {
    bytes = value.bytes
    lowest = value.lowest
    first = items.first
    width = items.width
    count = items.slots / 2
  }

  /// The key of a pair.
  /// - Parameter index: The index of the pair, from 0 to `count - 1`; it traps outside.
  /// - Returns: The key.
  /// - Throws: `FleeceError` with code `.damaged` when the bytes there are not a key.
  /// - Complexity: O(1).
  public func key(at index: Int) throws(FleeceError) -> Key {
    precondition(index >= 0 && index < count)
    let slot = first + 2 * index * width
    let key = try FleeceValue.inSlot(bytes, at: slot, width: width, lowest: lowest)
    switch key.tag {
    case FleeceFormat.text: return .text(key.content)
    // A lookup searches for numbers only in the slots.
    case FleeceFormat.shortInteger where key.head & 8 == 0 && key.offset == slot:
      return .shared(Int(bytes.uint16(key.offset)))
    default: throw FleeceError(.damaged, "a key that is neither text nor a number", at: slot)
    }
  }

  /// The value of a pair.
  /// - Parameter index: The index of the pair, from 0 to `count - 1`; it traps outside.
  /// - Returns: The value.
  /// - Throws: `FleeceError` with code `.damaged` when the bytes there are not a value.
  /// - Complexity: O(1).
  public func value(at index: Int) throws(FleeceError) -> FleeceValue {
    precondition(index >= 0 && index < count)
    return try FleeceValue.inSlot(
      bytes, at: first + (2 * index + 1) * width, width: width, lowest: lowest)
  }

  /// The value of a key that is written as a number.
  /// - Parameter number: The key's place in the table of shared keys.
  /// - Returns: The value; nil when no pair has that key.
  /// - Throws: `FleeceError` with code `.damaged` when the pair has no value.
  /// - Complexity: O(log count), without reading keys that are texts.
  public func value(forShared number: Int) throws(FleeceError) -> FleeceValue? {
    guard number >= 0, number < Self.keysEnd else { return nil }
    let wanted = UInt16(number)
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      // A key that is a number is in its slot; all others come after.
      let found = bytes.uint16(first + 2 * middle * width)
      if found == wanted { return try value(at: middle) }
      if found < wanted { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  /// The value of a key that is written as a text.
  ///
  /// A key in the table of shared keys is written as a number: look that up first, or use
  /// `value(for:in:)`.
  /// - Parameter text: The key's bytes of UTF-8.
  /// - Returns: The value; nil when no pair has that key.
  /// - Throws: `FleeceError` with code `.damaged` when bytes read are not keys, or the pair has no
  ///   value.
  /// - Complexity: O(log count) comparisons.
  public func value(forText text: FleeceBytes) throws(FleeceError) -> FleeceValue? {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      var order = -1
      if bytes.uint16(first + 2 * middle * width) >= Self.keysEnd,
        case .text(let found) = try key(at: middle)
      {
        order = found.order(text)
      }
      if order == 0 { return try value(at: middle) }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  /// Whether the first key is a number: when it is not, none is.
  @inline(__always)
  var hasNumbers: Bool { count > 0 && bytes.uint16(first) < Self.keysEnd }

  /// A slot whose first two bytes are below this is a key that is a number.
  private static var keysEnd: Int { 0x800 }

  /// The value of a key, as a number where the table has it, else as a text.
  /// - Parameters:
  ///   - key: The key.
  ///   - keys: The table of shared keys that the bytes were written with.
  /// - Returns: The value; nil when no pair has that key.
  /// - Throws: `FleeceError` with code `.damaged` when bytes read are not keys, or the pair has no
  ///   value.
  /// - Complexity: O(log count) comparisons.
  public func value(
    for key: String, in keys: FleeceSharedKeys = FleeceSharedKeys()
  ) throws(FleeceError) -> FleeceValue? {
    try FleeceBytes.over(key) { (text: FleeceBytes) throws(FleeceError) -> FleeceValue? in
      if let number = keys.number(of: text) { return try value(forShared: number) }
      return try value(forText: text)
    }
  }
}

extension FleeceValue {
  /// The pairs of a dict; nil for other kinds.
  public var dict: FleeceDict? {
    tag == FleeceFormat.dict ? FleeceDict(self, items) : nil
  }
}
