// ByteCursor.swift: reads fields one after the other, and never past the end.

/// A place in bytes that moves on with each field.
struct ByteCursor {
  private let bytes: RawBytes
  private(set) var offset: Int
  let ref: Ref

  init(_ bytes: RawBytes, from offset: Int = 0, ref: Ref) {
    self.bytes = bytes
    self.offset = offset
    self.ref = ref
  }

  var isAtEnd: Bool { offset == bytes.count }

  private mutating func take(_ count: Int) throws(EngineError) -> Int {
    guard count >= 0, count <= bytes.count - offset else {
      throw .corrupted("field of \(count) bytes after the end \(bytes.count)", at: ref)
    }
    defer { offset += count }
    return offset
  }

  mutating func uint8() throws(EngineError) -> UInt8 { bytes.uint8(try take(1)) }
  mutating func uint16() throws(EngineError) -> UInt16 { bytes.uint16(try take(2)) }
  mutating func uint32() throws(EngineError) -> UInt32 { bytes.uint32(try take(4)) }
  mutating func uint64() throws(EngineError) -> UInt64 { bytes.uint64(try take(8)) }

  mutating func part(_ count: Int) throws(EngineError) -> RawBytes {
    bytes.part(at: try take(count), count: count)
  }

  /// All remaining bytes.
  mutating func rest() throws(EngineError) -> RawBytes { try part(bytes.count - offset) }

  mutating func link() throws(EngineError) -> NodeLink {
    NodeLink(ref: Ref(offsetBytes: try uint64()), checksum: try uint64())
  }

  mutating func name() throws(EngineError) -> String {
    let count = Int(try uint8())
    guard count > 0, let name = try part(count).string else {
      throw .corrupted("a name of \(count) bytes is empty or not UTF-8", at: ref)
    }
    return name
  }

  /// A number in groups of seven bits, the lowest first; the shortest form only.
  mutating func varint() throws(EngineError) -> UInt64 {
    var number: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let byte = try uint8()
      guard shift < 63 || byte <= 1, shift == 0 || byte != 0 else {
        throw .corrupted("a number of seven-bit groups is too long", at: ref)
      }
      number |= UInt64(byte & 0x7f) << shift
      if byte & 0x80 == 0 { return number }
      shift += 7
    }
  }
}

extension [UInt8] {
  /// Appends a number in groups of seven bits, the lowest first.
  mutating func appendVarint(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }
}
