// ValueImage.swift [U]: maps a value to the number by which an index finds it. Part of the file
// format.
//   null                                       0
//   bool                                       1 false, 2 true
//   int, the key of a link                     the number with its highest bit flipped
//   date                                       its seconds, likewise; nanoseconds are left out
//   string, binary, ObjectId, UUID             a hash of the bytes; 1 where the hash is 0
// Invariants: equal values have equal images; images of bools, ints and dates ascend as the values
// do. Different values can share an image (null and the smallest int, dates of one second, hashes
// that collide), so a lookup has to check the row where `isExact` is false.

/// Images of values.
enum ValueImage {
  static let null: UInt64 = 0

  /// The image of an integer.
  @inline(__always)
  static func ordered(_ number: Int64) -> UInt64 { UInt64(bitPattern: number) ^ 1 << 63 }

  /// The integer with this image.
  @inline(__always)
  static func number(_ image: UInt64) -> Int64 { Int64(bitPattern: image ^ 1 << 63) }

  /// The image of a value that a column with an index can hold.
  static func of(_ value: Value) -> UInt64 {
    switch value {
    case .null: null
    case .bool(let isTrue): bool(isTrue)
    case .int(let number), .link(let number): ordered(number)
    case .date(let seconds, _): ordered(seconds)
    case .string(let text): hash(text)
    case .binary(let bytes): hash(bytes)
    case .objectId(let id): hash(byteCount: 12, id.high.byteSwapped, UInt64(id.low.byteSwapped))
    case .uuid(let id): hash(byteCount: 16, id.high.byteSwapped, id.low.byteSwapped)
    case .float, .double, .decimal128, .typedLink, .list, .set, .dictionary:
      preconditionFailure("the schema gives no index to a column of such values")
    }
  }

  /// Whether a column of this type can have a search index.
  static func canIndex(_ type: ColumnType) -> Bool {
    switch type {
    case .int, .string, .bool, .binary, .date, .objectId, .uuid: true
    case .float, .double, .decimal128, .link, .mixed: false
    }
  }

  static func bool(_ isTrue: Bool) -> UInt64 { isTrue ? 2 : 1 }

  /// The image of bytes.
  static func hash(_ bytes: RawBytes) -> UInt64 {
    var state = UInt64(truncatingIfNeeded: bytes.count) &* 0x9fb2_1c65_1e98_df25
    var offset = 0
    while offset <= bytes.count - 8 {
      state = step(state, bytes.uint64(offset))
      offset += 8
    }
    if offset < bytes.count {
      var word: UInt64 = 0
      for index in offset..<bytes.count {
        word |= UInt64(bytes.uint8(index)) << UInt64(8 * (index - offset))
      }
      state = step(state, word)
    }
    return finished(state)
  }

  /// The image of 9 to 16 bytes that are two words, the first byte lowest.
  private static func hash(byteCount count: UInt64, _ first: UInt64, _ second: UInt64) -> UInt64 {
    finished(step(step(count &* 0x9fb2_1c65_1e98_df25, first), second))
  }

  static func finished(_ state: UInt64) -> UInt64 {
    var state = (state ^ state >> 32) &* 0xd6e8_feb8_6659_fd93
    state = (state ^ state >> 29) &* 0xff51_afd7_ed55_8ccd
    state ^= state >> 32
    return state == 0 ? 1 : state
  }

  /// Takes a word in: for a fixed state another word gives another state.
  @inline(__always)
  static func step(_ state: UInt64, _ word: UInt64) -> UInt64 {
    let product = (state ^ word) &* 0xc2b2_ae3d_27d4_eb4f
    return product << 29 | product >> 35
  }

  static func hash(_ string: String) -> UInt64 {
    var string = string
    return string.withUTF8 { buffer in
      // Safety: the view is used inside this closure only.
      unsafe hash(RawBytes(UnsafeRawBufferPointer(buffer)))
    }
  }

  static func hash(_ bytes: [UInt8]) -> UInt64 { RawBytes.over(bytes) { hash($0) } }
}
