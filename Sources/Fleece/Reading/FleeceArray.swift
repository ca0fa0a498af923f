// FleeceArray.swift: the items of an array, read in place.

/// An array inside bytes that are not copied; it must not outlive them.
public struct FleeceArray: Sendable {
  let bytes: FleeceBytes
  let first: Int
  let width: Int
  let lowest: UInt32
  /// How many items there are.
  public let count: Int

  @inline(__always)
  init(_ value: FleeceValue, _ items: FleeceValue.Items) {
    bytes = value.bytes
    lowest = value.lowest
    first = items.first
    width = items.width
    count = items.slots
  }

  /// The item at an index; a negative one counts from the end, -1 being the last.
  /// - Parameter index: The index.
  /// - Returns: The item; nil when there is none at that index.
  /// - Throws: `FleeceError` with code `.damaged` when the bytes there are not a value.
  /// - Complexity: O(1).
  public func value(at index: Int) throws(FleeceError) -> FleeceValue? {
    let place = index < 0 ? index + count : index
    guard place >= 0, place < count else { return nil }
    return try FleeceValue.inSlot(
      bytes, at: first + place * width, width: width, lowest: lowest)
  }
}

extension FleeceValue {
  /// The items of an array; nil for other kinds.
  public var array: FleeceArray? {
    tag == FleeceFormat.array ? FleeceArray(self, items) : nil
  }

  /// The location of a collection's items.
  @inline(__always)
  var items: Items {
    guard let items = try? Items(bytes, at: offset, end: bytes.count) else {
      preconditionFailure("the count was read when the value was made")
    }
    return items
  }
}
