// FleeceValue+Scalars.swift: the content of values that are not collections.

extension FleeceValue {
  /// True or false; nil for other kinds.
  public var boolean: Bool? {
    switch head {
    case FleeceFormat.isTrue: true
    case FleeceFormat.isFalse: false
    default: nil
    }
  }

  /// An integer from -2⁶³ to 2⁶³ - 1; nil for other kinds and for larger ones.
  public var integer: Int64? {
    switch tag {
    case FleeceFormat.shortInteger:
      // Twelve bits: the sign is moved to the top and back.
      return Int64(Int16(bitPattern: bytes.uint16(offset) << 4) >> 4)
    case FleeceFormat.integer:
      let size = Int(head & 7) + 1
      let bits = bytes.littleEndian(at: offset + 1, count: size)
      guard !isUnsigned else { return Int64(exactly: bits) }
      let unused = Int64(64 - 8 * size)
      return Int64(bitPattern: bits << UInt64(unused)) >> unused
    default: return nil
    }
  }

  /// An integer from 0 to 2⁶⁴ - 1; nil for other kinds and for negative ones.
  public var unsignedInteger: UInt64? {
    guard tag == FleeceFormat.integer, isUnsigned else {
      return integer.flatMap { UInt64(exactly: $0) }
    }
    return bytes.littleEndian(at: offset + 1, count: Int(head & 7) + 1)
  }

  /// Whether it is an integer that was written as one without a sign.
  public var isUnsigned: Bool { tag == FleeceFormat.integer && head & 8 != 0 }

  /// Whether it is a number that was written as a double, in four bytes or eight.
  public var isDouble: Bool { tag == FleeceFormat.float && head & 12 != 0 }

  /// The nearest double; nil for a value that is not a number.
  public var double: Double? {
    guard tag == FleeceFormat.float else {
      return integer.map { Double($0) } ?? unsignedInteger.map { Double($0) }
    }
    guard head & 8 == 0 else {
      return Double(bitPattern: bytes.littleEndian(at: offset + 2, count: 8))
    }
    return float.map { Double($0) }
  }

  /// The float of a number stored in four bytes; nil for others.
  public var float: Float? {
    guard tag == FleeceFormat.float, head & 8 == 0 else { return nil }
    return Float(
      bitPattern: UInt32(truncatingIfNeeded: bytes.littleEndian(at: offset + 2, count: 4)))
  }

  /// A text, with U+FFFD for invalid UTF-8; nil for other kinds.
  public var text: String? { textBytes?.text }

  /// The bytes of a text, in place; not checked to be UTF-8.
  public var textBytes: FleeceBytes? { tag == FleeceFormat.text ? content : nil }

  /// The bytes of data, in place; nil for other kinds.
  public var data: FleeceBytes? { tag == FleeceFormat.data ? content : nil }

  /// The content of a text or data.
  @inline(__always)
  var content: FleeceBytes {
    let length = Int(head & 15)
    guard length == FleeceFormat.longLength else {
      return bytes.part(at: offset + 1, count: length)
    }
    return longContent
  }

  @inline(never)
  private var longContent: FleeceBytes {
    guard
      let (count, width) = try? Self.varint(bytes, at: offset + 1, end: bytes.count)
    else { preconditionFailure("the length was read when the value was made") }
    return bytes.part(at: offset + 1 + width, count: count)
  }

  /// How many bytes a value that is not a collection has.
  var scalarSizeBytes: Int {
    switch tag {
    case FleeceFormat.integer: 2 + Int(head & 7)
    case FleeceFormat.float: head & 8 != 0 ? 10 : 6
    default: 2
    }
  }
}
