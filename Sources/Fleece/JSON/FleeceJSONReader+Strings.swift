// FleeceJSONReader+Strings.swift: reads strings of JSON. One without escapes is passed on in place.

extension JSONReader {
  /// Reads a string, whose quote is next.
  mutating func string(
    into encoder: inout FleeceEncoder, isKey: Bool
  ) throws(FleeceError) {
    place += 1
    let start = place
    try skipPlain()
    if peek() == UInt8(ascii: "\"") {
      let content = text.part(at: start, count: place - start)
      place += 1
      return try isKey ? encoder.key(utf8: content) : encoder.text(utf8: content)
    }
    unescaped.removeAll(keepingCapacity: true)
    var part = start
    while true {
      for index in part..<place { unescaped.append(text.uint8(index)) }
      guard let byte = peek() else { throw expected("\"") }
      place += 1
      if byte == UInt8(ascii: "\"") { break }
      try escape()
      part = place
      try skipPlain()
    }
    let content = unescaped
    try FleeceBytes.over(content) { (view: FleeceBytes) throws(FleeceError) in
      try isKey ? encoder.key(utf8: view) : encoder.text(utf8: view)
    }
  }

  /// Passes characters up to a quote, a backslash or the end.
  @inline(__always)
  private mutating func skipPlain() throws(FleeceError) {
    while true {
      place = text.plainEnd(from: place)
      guard let byte = peek(), byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else {
        return
      }
      let size = text.scalarSize(at: place)
      guard byte >= 32, size > 0 else { throw expected("a character of UTF-8, or an escape") }
      place += size
    }
  }

  /// Reads the rest of an escape after the backslash.
  private mutating func escape() throws(FleeceError) {
    guard let byte = peek() else { throw expected("an escape") }
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): unescaped.append(byte)
    case UInt8(ascii: "b"): unescaped.append(8)
    case UInt8(ascii: "f"): unescaped.append(12)
    case UInt8(ascii: "n"): unescaped.append(10)
    case UInt8(ascii: "r"): unescaped.append(13)
    case UInt8(ascii: "t"): unescaped.append(9)
    case UInt8(ascii: "u"): return try unicode()
    default: throw expected("one of \" \\ / b f n r t u")
    }
    place += 1
  }

  private mutating func unicode() throws(FleeceError) {
    let start = place
    var scalar = try hex()
    if scalar >> 10 == 0xd800 >> 10 {
      guard place + 1 < text.count, text.uint8(place) == UInt8(ascii: "\\"),
        text.uint8(place + 1) == UInt8(ascii: "u")
      else { throw surrogate(start) }
      place += 1
      let low = try hex()
      guard low >> 10 == 0xdc00 >> 10 else { throw surrogate(start) }
      scalar = 0x10000 + (scalar & 0x3ff) << 10 + low & 0x3ff
    }
    guard let character = Unicode.Scalar(scalar) else { throw surrogate(start) }
    unescaped.append(contentsOf: UTF8.encode(character) ?? UTF8.encodedReplacementCharacter)
  }

  /// Passes `u` and four digits.
  private mutating func hex() throws(FleeceError) -> UInt32 {
    place += 1
    var number: UInt32 = 0
    for _ in 0..<4 {
      let digit: UInt8
      switch peek() {
      case .some(let byte) where byte >= 0x30 && byte <= 0x39: digit = byte - 0x30
      case .some(let byte) where byte | 32 >= 0x61 && byte | 32 <= 0x66: digit = byte | 32 - 0x57
      default: throw expected("a hexadecimal digit")
      }
      number = number << 4 | UInt32(digit)
      place += 1
    }
    return number
  }

  private func surrogate(_ start: Int) -> FleeceError {
    FleeceError(.json, "half of a surrogate pair", in: text, at: start - 1)
  }
}
