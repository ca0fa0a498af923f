// XRayBytes.swift [U]: bytes of a file that are never read outside of their bounds, and the two
// hash functions of the format, written from docs/reference/file-format.md.
// Invariant: every access is checked and throws outside of the bounds; no bytes can trap.

/// An error in a file, found by its second reader.
package struct XRayFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// The contradiction, with both numbers.
  package let message: String
  /// The node in which it was found, or nil.
  package let refBytes: UInt64?

  package init(_ message: String, at refBytes: UInt64? = nil) {
    self.message = message
    self.refBytes = refBytes
  }

  /// The message with its place.
  package var description: String { refBytes.map { "ref \($0): \(message)" } ?? message }
}

/// A read-only view.
@safe struct XRayBytes: @unchecked Sendable {
  // Safety: each load is checked against `count`; the creator of the first view keeps the memory
  // alive and unchanged while parts of it are in use.
  private let base: UnsafeRawPointer?
  let count: Int

  @unsafe init(_ source: UnsafeRawBufferPointer) {
    unsafe base = source.baseAddress
    count = source.count
  }

  private init(base: UnsafeRawPointer?, count: Int) {
    unsafe self.base = unsafe base
    self.count = count
  }

  /// A view of no bytes.
  static let none = unsafe XRayBytes(UnsafeRawBufferPointer(start: nil, count: 0))

  /// The number at an offset, lowest byte first.
  @inline(__always)
  func number<Number: FixedWidthInteger & BitwiseCopyable>(
    _ offset: Int, _ type: Number.Type = Number.self
  ) throws(XRayFault) -> Number {
    let size = MemoryLayout<Number>.size
    guard let base = unsafe base, offset >= 0, count >= size, offset <= count - size else {
      throw XRayFault("offset=\(offset) size=\(size) is outside of \(count) bytes")
    }
    return unsafe Number(
      littleEndian: base.loadUnaligned(fromByteOffset: offset, as: Number.self))
  }

  /// The part of that many bytes at an offset.
  func part(at offset: Int, count size: Int) throws(XRayFault) -> XRayBytes {
    guard offset >= 0, size >= 0, size <= count, offset <= count - size else {
      throw XRayFault("offset=\(offset) size=\(size) is outside of \(count) bytes")
    }
    guard let base = unsafe base else { return .none }
    return unsafe XRayBytes(base: base + offset, count: size)
  }

  /// A copy.
  var array: [UInt8] { unsafe Array(UnsafeRawBufferPointer(start: base, count: count)) }

  /// The bytes as text, or nil when they are not UTF-8.
  var text: String? {
    unsafe String(
      validating: UnsafeRawBufferPointer(start: base, count: count)
        .assumingMemoryBound(to: UInt8.self), as: UTF8.self)
  }

  /// Whether all bytes are 0.
  var isZero: Bool {
    unsafe UnsafeRawBufferPointer(start: base, count: count).allSatisfy { $0 == 0 }
  }

  // MARK: - Hash functions

  /// Checksum version 1 of all bytes.
  var checksum: UInt64 {
    guard let base = unsafe base else { return Self.folded([], count: 0) }
    @inline(__always) func word(_ offset: Int) -> UInt64 {
      // Safety: the loops below stay eight bytes before the end.
      unsafe UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    var (a, b, c, d) = (Self.lanes[0], Self.lanes[1], Self.lanes[2], Self.lanes[3])
    var (e, f, g, h) = (Self.lanes[4], Self.lanes[5], Self.lanes[6], Self.lanes[7])
    var offset = 0
    while count - offset >= 64 {
      a = Self.step(a, word(offset))
      b = Self.step(b, word(offset + 8))
      c = Self.step(c, word(offset + 16))
      d = Self.step(d, word(offset + 24))
      e = Self.step(e, word(offset + 32))
      f = Self.step(f, word(offset + 40))
      g = Self.step(g, word(offset + 48))
      h = Self.step(h, word(offset + 56))
      offset += 64
    }
    while count - offset >= 8 {
      a = Self.step(a, word(offset))
      b &+= a
      offset += 8
    }
    while offset < count {
      c = Self.step(c, 0x100 | UInt64(unsafe base.load(fromByteOffset: offset, as: UInt8.self)))
      offset += 1
    }
    return Self.folded([a, b, c, d, e, f, g, h], count: count)
  }

  /// Checksum version 1 of bytes in an array.
  static func checksum(of bytes: [UInt8]) -> UInt64 {
    // Safety: the view does not outlive the closure.
    unsafe bytes.withUnsafeBytes { unsafe XRayBytes($0).checksum }
  }

  /// The hash of indexes of bytes in an array.
  static func indexHash(of bytes: [UInt8]) -> UInt64 {
    // Safety: the view does not outlive the closure.
    unsafe bytes.withUnsafeBytes { unsafe XRayBytes($0).indexHash }
  }

  private static let multiplier: UInt64 = 0x9e37_79b1_85eb_ca87
  private static let lanes: [UInt64] = [
    0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, 0xa409_3822_299f_31d0, 0x082e_fa98_ec4e_6c89,
    0x4528_21e6_38d0_1377, 0xbe54_66cf_34e9_0c6c, 0xc0ac_29b7_c97c_50dd, 0x3f84_d5b5_b547_0917,
  ]

  @inline(__always)
  private static func step(_ lane: UInt64, _ word: UInt64) -> UInt64 {
    let product = (lane ^ word) &* multiplier
    return product << 29 | product >> 35
  }

  private static func finished(_ number: UInt64) -> UInt64 {
    var z = (number ^ number >> 32) &* 0xc2b2_ae3d_27d4_eb4f
    z = (z ^ z >> 29) &* multiplier
    return z ^ z >> 32
  }

  private static func folded(_ given: [UInt64], count: Int) -> UInt64 {
    let last = given.isEmpty ? lanes : given
    var sum = finished(UInt64(count) &+ last[0])
    for lane in last.dropFirst() { sum = step(sum, finished(lane)) }
    return finished(sum)
  }

  /// The hash by which indexes order strings and bytes; 1 where it would be 0.
  var indexHash: UInt64 {
    var s = UInt64(count) &* 0x9fb2_1c65_1e98_df25
    var offset = 0
    while offset < count {
      var word: UInt64 = 0
      for place in 0..<min(8, count - offset) {
        // Safety: the place lies before the end.
        let byte = unsafe base?.load(fromByteOffset: offset + place, as: UInt8.self) ?? 0
        word |= UInt64(byte) << UInt64(8 * place)
      }
      let product = (s ^ word) &* 0xc2b2_ae3d_27d4_eb4f
      s = product << 29 | product >> 35
      offset += 8
    }
    s = (s ^ s >> 32) &* 0xd6e8_feb8_6659_fd93
    s = (s ^ s >> 29) &* 0xff51_afd7_ed55_8ccd
    s ^= s >> 32
    return s == 0 ? 1 : s
  }
}

/// Reads consecutive fields.
struct XRayCursor {
  let bytes: XRayBytes
  private(set) var offset: Int

  init(_ bytes: XRayBytes, at offset: Int = 0) {
    self.bytes = bytes
    self.offset = offset
  }

  var isAtEnd: Bool { offset >= bytes.count }

  mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(
    _ type: Number.Type = Number.self
  ) throws(XRayFault) -> Number {
    let result = try bytes.number(offset, type)
    offset += MemoryLayout<Number>.size
    return result
  }

  mutating func take(_ count: Int) throws(XRayFault) -> XRayBytes {
    let part = try bytes.part(at: offset, count: count)
    offset += count
    return part
  }

  mutating func link() throws(XRayFault) -> XRayLink {
    let ref = try number(UInt64.self)
    return XRayLink(refBytes: ref, checksum: try number(UInt64.self))
  }

  /// A name: its size in one byte, then 1 to 255 bytes of UTF-8.
  mutating func name() throws(XRayFault) -> String {
    let size = Int(try number(UInt8.self))
    guard size > 0, let text = try take(size).text else {
      throw XRayFault("a name of \(size) bytes is empty or no UTF-8")
    }
    return text
  }

  /// Groups of seven bits, lowest first, in the shortest form.
  mutating func varint() throws(XRayFault) -> UInt64 {
    var result: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let byte = try number(UInt8.self)
      let group = UInt64(byte & 0x7f)
      guard shift < 63 || (shift == 63 && group <= 1) else {
        throw XRayFault("a varint has more than 64 bits")
      }
      result |= group << shift
      if byte & 0x80 == 0 {
        guard byte != 0 || shift == 0 else { throw XRayFault("a varint ends with a byte of 0") }
        return result
      }
      shift += 7
    }
  }

  /// Bytes preceded by their count as a varint.
  mutating func sized() throws(XRayFault) -> XRayBytes {
    let size = try varint()
    guard let size = Int(exactly: size) else { throw XRayFault("a size of \(size) bytes") }
    return try take(size)
  }
}
