// FleeceBytes+UTF8.swift: the length of plain text that needs no escaping, and the length of the
// next character. Used for both reading and writing JSON.

extension FleeceBytes {
  /// Where the first byte from `start` on is that JSON escapes, or that is not ASCII.
  @inline(__always)
  func plainEnd(from start: Int) -> Int {
    var index = start
    while index <= count - 8 {
      let word = eight(index)
      // A byte of `odd` has its top bit set if its byte of `word` is below 32, 34, 92, 127 or
      // above; a borrow can set it for a byte above such a one, but the loop below checks each byte
      // anyway.
      let ones: UInt64 = 0x0101_0101_0101_0101
      let quote = word ^ (ones &* 0x22)
      let slash = word ^ (ones &* 0x5c)
      let delete = word ^ (ones &* 0x7f)
      let marks = (quote &- ones) | (slash &- ones) | (delete &- ones)
      let odd = word | (word &- ones &* 0x20) | marks
      if odd & 0x8080_8080_8080_8080 != 0 { break }
      index += 8
    }
    while index < count {
      let byte = uint8(index)
      if byte < 0x20 || byte >= 0x7f || byte == 0x22 || byte == 0x5c { break }
      index += 1
    }
    return index
  }

  /// The number of bytes, 1 to 4, of the UTF-8 character at an offset; 0 if it is invalid: too
  /// short, too long, a surrogate, or beyond U+10FFFF.
  func scalarSize(at offset: Int) -> Int {
    let first = uint8(offset)
    guard first >= 0x80 else { return 1 }
    func next(_ index: Int, from low: UInt8 = 0x80, to high: UInt8 = 0xbf) -> Bool {
      guard offset + index < count else { return false }
      let byte = uint8(offset + index)
      return byte >= low && byte <= high
    }
    switch first {
    case 0xc2...0xdf: return next(1) ? 2 : 0
    case 0xe0...0xef:
      let isGood = next(1, from: first == 0xe0 ? 0xa0 : 0x80, to: first == 0xed ? 0x9f : 0xbf)
      return isGood && next(2) ? 3 : 0
    case 0xf0...0xf4:
      let isGood = next(1, from: first == 0xf0 ? 0x90 : 0x80, to: first == 0xf4 ? 0x8f : 0xbf)
      return isGood && next(2) && next(3) ? 4 : 0
    default: return 0
    }
  }
}
