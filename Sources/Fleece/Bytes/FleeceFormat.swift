// FleeceFormat.swift: the first file of the module. Fleece is the binary form of a JSON-like value
// that Couchbase Lite keeps documents in; this module reads and writes bytes of that form, and
// knows no file, no database and no Foundation. docs/reference/fleece.md has the whole format and
// its limits. The high half of a value's first byte, at an even offset, says what it is:
//   0i ii        short integer: 12 bits, two's complement, high bits first
//   1n …         integer: n & 7 is the byte count - 1, n & 8 unsigned; little-endian
//   2n 00 …      number with a fraction: n 0 float, 4 double kept as a float, 8 double
//   30 34 38 3c  null, false, true, undefined; a zero byte behind it
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

  /// First bytes of the values that say everything themselves.
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
  /// How far back the encoder points to a text again, so that the pointer's own place, which it
  /// does not know yet, is likely to be in reach.
  static let sharedReachBytes = narrowReachBytes - 32
  /// Texts of this many bytes and more are written anew each time.
  static let unsharedTextBytes = 16
  /// The largest whole value: what a pointer of four bytes reaches.
  static let sizeMax = 1 << 31
}
