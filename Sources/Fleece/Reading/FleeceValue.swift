// FleeceValue.swift: a value in place, and the checks that create one. Invariants: a `FleeceValue`
// exists only if all of its own bytes, including the items of a collection, are between its start
// and the place that led to it (the pointer, or the end of its item). So its accessors need no
// further bounds check, and each step inwards has a smaller end: a chain of steps is never longer
// than the bytes, whatever their content.

/// A value inside bytes that are not copied.
///
/// A value is a view: 24 bytes, no reference. It must not outlive its bytes.
public struct FleeceValue: Sendable {
  /// The kind of a value.
  public enum Kind: UInt8, Sendable, CaseIterable {
    case null
    case boolean
    /// An integer, signed or not.
    case integer
    /// A float or a double.
    case real
    case text
    case data
    case array
    case dict
    /// Only deltas have it.
    case undefined
  }

  let bytes: FleeceBytes
  /// Where its first byte is.
  let start: UInt32
  /// The first byte that plain pointers may lead to; bytes before it were encoded earlier, and only
  /// extern pointers lead there.
  let lowest: UInt32

  /// The number of bytes in total, before and after the value.
  public var documentSizeBytes: Int { bytes.count }

  @inline(__always)
  init(_ bytes: FleeceBytes, start: Int, lowest: UInt32) {
    self.bytes = bytes
    self.start = UInt32(truncatingIfNeeded: start)
    self.lowest = lowest
  }

  @inline(__always)
  var offset: Int { Int(start) }

  /// The first byte.
  @inline(__always)
  var head: UInt8 { bytes.uint8(offset) }

  /// The high half of the first byte.
  @inline(__always)
  var tag: UInt8 { head >> 4 }

  /// The kind of the value.
  public var kind: Kind {
    switch tag {
    case FleeceFormat.shortInteger, FleeceFormat.integer: .integer
    case FleeceFormat.float: .real
    case FleeceFormat.text: .text
    case FleeceFormat.data: .data
    case FleeceFormat.array: .array
    case FleeceFormat.dict: .dict
    default:
      switch head {
      case FleeceFormat.null: .null
      case FleeceFormat.undefined: .undefined
      default: .boolean
      }
    }
  }

  /// The value at an offset that must end at `end` or before; that is all of its checks.
  @inline(__always)
  static func read(
    _ bytes: FleeceBytes, at offset: Int, end: Int, lowest: UInt32
  ) throws(FleeceError) -> FleeceValue {
    // Invariant: 0 ≤ offset and end ≤ bytes.count, of every caller.
    let room = end - offset
    guard room >= 2 else { throw shortage(offset) }
    let head = bytes.uint8(offset)
    let size: Int
    switch head >> 4 {
    case FleeceFormat.shortInteger: size = 2
    case FleeceFormat.integer: size = 2 + Int(head & 7)
    case FleeceFormat.float: size = head & 8 != 0 ? 10 : 6
    case FleeceFormat.special:
      guard head & 3 == 0 else { throw FleeceError(.damaged, "no such value", at: offset) }
      size = 2
    case FleeceFormat.text, FleeceFormat.data:
      let length = Int(head & 15)
      if length < FleeceFormat.longLength {
        size = 1 + length
      } else {
        let (count, width) = try varint(bytes, at: offset + 1, end: end)
        size = 1 + width + count
      }
    case FleeceFormat.array, FleeceFormat.dict:
      let items = try Items(bytes, at: offset, end: end)
      size = items.first - offset + items.sizeBytes
    default: throw FleeceError(.damaged, "a pointer that leads to a pointer", at: offset)
    }
    guard size <= room else { throw shortage(offset) }
    return FleeceValue(bytes, start: offset, lowest: lowest)
  }

  @inline(never)
  private static func shortage(_ offset: Int) -> FleeceError {
    FleeceError(.damaged, "the value is longer than its place", at: offset)
  }

  /// A number with seven bits per byte, low ones first, and its number of bytes.
  ///
  /// Five bytes are more than any size needs.
  @inline(never)
  static func varint(
    _ bytes: FleeceBytes, at offset: Int, end: Int
  ) throws(FleeceError) -> (number: Int, width: Int) {
    var number: UInt64 = 0
    for index in 0..<min(5, max(0, end - offset)) {
      let byte = bytes.uint8(offset + index)
      number |= UInt64(byte & 127) << UInt64(7 * index)
      if byte < 128 {
        return (Int(number), index + 1)
      }
    }
    throw FleeceError(.damaged, "a length that is none", at: offset)
  }

  /// The location of a collection's items.
  struct Items {
    /// Offset of the first.
    let first: Int
    /// How many slots there are: two for each pair of a dict.
    let slots: Int
    /// Bytes of a slot: 2 or 4.
    let width: Int

    @inline(__always)
    init(_ bytes: FleeceBytes, at offset: Int, end: Int) throws(FleeceError) {
      let head = bytes.uint16(offset)
      var (count, first) = (Int(head & 0x7ff), offset + 2)
      if count == FleeceFormat.longCount {
        let (rest, size) = try varint(bytes, at: first, end: end)
        count += rest
        first += (size + 1) & ~1
      }
      self.first = first
      width = head & 0x800 != 0 ? 4 : 2
      slots = head >> 12 == UInt16(FleeceFormat.dict) ? 2 * count : count
    }

    @inline(__always)
    var sizeBytes: Int { slots * width }
  }
}
