// FleeceValue+Pointers.swift: from a slot to the value in it, or to which it points; and the root.
// Invariant: a pointer leads backwards, to a value that ends where the pointer begins or before.

extension FleeceValue {
  /// The value of a slot of an array or dict.
  @inline(__always)
  static func inSlot(
    _ bytes: FleeceBytes, at slot: Int, width: Int, lowest: UInt32
  ) throws(FleeceError) -> FleeceValue {
    guard bytes.uint8(slot) >= 0x80 else {
      return try read(bytes, at: slot, end: slot + width, lowest: lowest)
    }
    let target = try target(bytes, at: slot, width: width, lowest: lowest)
    return try read(bytes, at: target.offset, end: target.end, lowest: target.lowest)
  }

  /// Where a pointer leads, and where the value there must end.
  @inline(__always)
  static func target(
    _ bytes: FleeceBytes, at slot: Int, width: Int, lowest: UInt32
  ) throws(FleeceError) -> (offset: Int, end: Int, lowest: UInt32) {
    let isExtern = bytes.uint8(slot) & 0x40 != 0
    let back =
      width == 2
      ? Int(bytes.uint16(slot) & 0x3fff) * 2 : Int(bytes.uint32(slot) & 0x3fff_ffff) * 2
    guard isExtern else {
      guard back > 0, back <= slot - Int(lowest) else { throw astray(slot) }
      return (slot - back, slot, lowest)
    }
    if back <= slot, slot - back < Int(lowest) { return (slot - back, Int(lowest), 0) }
    // Before there were extern pointers, this bit was one more of the distance.
    let long = back + 0x8000
    guard width == 2, long <= slot - Int(lowest) else { throw astray(slot) }
    return (slot - long, slot, lowest)
  }

  @inline(never)
  private static func astray(_ slot: Int) -> FleeceError {
    FleeceError(.damaged, "a pointer that leads out of the bytes", at: slot)
  }

  /// The outermost value of bytes.
  ///
  /// Only the path to that value is read: nested values are checked when they are accessed
  /// (`validate` checks all at once).
  /// - Parameters:
  ///   - bytes: The bytes; the value must not outlive them.
  ///   - baseSizeBytes: How many of the bytes, at the front, are another value that extern pointers
  ///     lead into.
  /// - Returns: The value.
  /// - Throws: `FleeceError` with code `.damaged` when no value ends the bytes, `.limit` when there
  ///   are more than 2 GiB.
  /// - Complexity: O(1).
  public static func root(
    of bytes: FleeceBytes, baseSizeBytes: Int = 0
  ) throws(FleeceError) -> FleeceValue {
    precondition(baseSizeBytes >= 0 && baseSizeBytes <= bytes.count)
    let size = bytes.count - baseSizeBytes
    guard bytes.count <= FleeceFormat.sizeMax else {
      throw FleeceError(.limit, "\(bytes.count) bytes > \(FleeceFormat.sizeMax)")
    }
    guard size >= 2, size % 2 == 0, baseSizeBytes % 2 == 0 else {
      throw FleeceError(.damaged, "\(size) bytes after \(baseSizeBytes) cannot be a value")
    }
    let (last, lowest) = (bytes.count - 2, UInt32(baseSizeBytes))
    guard bytes.uint8(last) >= 0x80 else {
      guard size == 2 else {
        throw FleeceError(.damaged, "the last two bytes are no pointer", at: last)
      }
      return try read(bytes, at: last, end: bytes.count, lowest: lowest)
    }
    let first = try target(bytes, at: last, width: 2, lowest: lowest)
    // A value out of reach of a pointer of two bytes has one of four bytes before it.
    guard first.lowest == lowest, last - first.offset >= 4, bytes.uint8(first.offset) >= 0x80
    else {
      return try read(bytes, at: first.offset, end: first.end, lowest: first.lowest)
    }
    let second = try target(bytes, at: first.offset, width: 4, lowest: lowest)
    return try read(bytes, at: second.offset, end: second.end, lowest: second.lowest)
  }
}
