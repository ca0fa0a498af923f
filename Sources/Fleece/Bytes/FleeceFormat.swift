// FleeceFormat.swift: the constants of the format. Fleece is the binary form of JSON-like values in
// which Couchbase Lite stores documents; this module reads and writes bytes of that form, and uses
// no files, no database and no Foundation. docs/reference/fleece.md has the whole format and its
// limits. The high half of a value's first byte, at an even offset, is its kind:
//   0i ii        short integer: 12 bits, two's complement, high bits first
//   1n …         integer: n & 7 is the byte count - 1, n & 8 unsigned; little-endian
//   2n 00 …      number with a fraction: n 0 float, 4 double kept as a float, 8 double
//   30 34 38 3c  null, false, true, undefined; followed by a zero byte
//   4n 5n …      text, data: n < 15 is the length; 15: a varint of the length, then the bytes
//   6x xx 7x xx  array, dict: bit 3 wide, 11 bits of count; 2047: a varint of the rest; then items
//   8 to f       pointer: backwards from itself, in units of two bytes; bit 14 (30) extern

/// Numbers of the format.
enum FleeceFormat {
  static let shortInteger: UInt8 = 0
  static let integer: UInt8 = 1
  static let float: UInt8 = 2
  static let special: UInt8 = 3
  static let text: UInt8 = 4
  static let data: UInt8 = 5
  static let array: UInt8 = 6
  static let dict: UInt8 = 7
  /// This and every larger one is a pointer.
  static let pointer: UInt8 = 8

  /// First bytes of the values that have no further bytes.
  static let null: UInt8 = 0x30
  static let isFalse: UInt8 = 0x34
  static let isTrue: UInt8 = 0x38
  static let undefined: UInt8 = 0x3c

  /// A length of texts and data that means: a varint follows.
  static let longLength = 15
  /// A count of items that means: a varint with the rest follows.
  static let longCount = 2047
  /// How far back a pointer of two bytes reaches, in bytes.
  static let narrowReachBytes = 32766
  /// How far back the encoder reuses a text; less than a pointer's reach, since the place of the
  /// pointer is not known yet.
  static let sharedReachBytes = narrowReachBytes - 32
  /// Texts of this many bytes or more are never reused.
  static let unsharedTextBytes = 16
  /// The largest whole value: the reach of a pointer of four bytes.
  static let sizeMax = 1 << 31
}
