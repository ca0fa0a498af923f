// PackedArray+Matches.swift [U]: which elements pass a test, 64 of them as the bits of one word.
// Bit i of word w stands for element 64 × w + i; bits behind the last element are 0.

/// Bits of a word, as many as there are rows left for it.
enum MatchWord {
  @inline(__always)
  static func mask(_ rows: Int) -> UInt64 {
    rows >= 64 ? .max : (1 << UInt64(rows)) - 1
  }

  /// Eight comparisons as eight bits.
  ///
  /// The factor moves the lowest bit of byte i to bit 56 + i; no two products meet in one bit.
  @inline(__always)
  static func gather(_ mask: SIMDMask<SIMD8<Int8>>) -> UInt64 {
    let flags = unsafe unsafeBitCast(mask, to: UInt64.self) & 0x0101_0101_0101_0101
    return (flags &* 0x0102_0408_1020_4080) >> 56
  }

  /// Every second bit of a word, beginning with the lowest, side by side in 32.
  @inline(__always)
  static func evenBits(_ word: UInt64) -> UInt64 {
    var bits = word & 0x5555_5555_5555_5555
    bits = (bits | bits >> 1) & 0x3333_3333_3333_3333
    bits = (bits | bits >> 2) & 0x0f0f_0f0f_0f0f_0f0f
    bits = (bits | bits >> 4) & 0x00ff_00ff_00ff_00ff
    bits = (bits | bits >> 8) & 0x0000_ffff_0000_ffff
    return (bits | bits >> 16) & 0x0000_0000_ffff_ffff
  }
}

extension PackedArray {
  /// Words that the elements' matches need.
  var matchWordCount: Int { (count + 63) >> 6 }

  /// The elements of one word that are inside a test's range, a bit each.
  /// - Complexity: O(1): 64 elements.
  @inline(__always)
  func matches(_ reach: Reach, word: Int) -> UInt64 {
    precondition(word >= 0 && word < matchWordCount)
    let rows = min(64, count - word << 6)
    switch reach {
    case .none: return 0
    case .all: return MatchWord.mask(rows)
    case .some(let range):
      return matchesInside(range, word: word, rows: rows) & MatchWord.mask(rows)
    }
  }

  /// The bits of a 1-bit array, or 64 times its one value.
  func bits(word: Int) -> UInt64 {
    precondition(word >= 0 && word < matchWordCount && width <= 1)
    let mask = MatchWord.mask(min(64, count - word << 6))
    let flipped: UInt64 = base & 1 == 0 ? 0 : .max
    guard width == 1 else { return flipped & mask }
    let word = unsafe elements.load(fromByteOffset: word << 3, as: UInt64.self)
    return (UInt64(littleEndian: word) ^ flipped) & mask
  }

  private func matchesInside(_ range: NumberRange, word: Int, rows: Int) -> UInt64 {
    // Only whole words are read in one piece: behind the last element there may be no memory.
    guard rows == 64 else { return slowMatches(range, from: word << 6, rows: rows) }
    switch width {
    case 1:
      let bits = unsafe elements.load(fromByteOffset: word << 3, as: UInt64.self)
      return range.first == 1 ? UInt64(littleEndian: bits) : ~UInt64(littleEndian: bits)
    case 2: return matchesOfPairs(range, word)
    case 4: return matchesOfNibbles(range, word)
    case 8: return matchesOfBytes(range, word)
    case 16: return matches(range, word, UInt16.self)
    case 32: return matches(range, word, UInt32.self)
    default: return matches(range, word, UInt64.self)
    }
  }

  private func slowMatches(_ range: NumberRange, from start: Int, rows: Int) -> UInt64 {
    var found: UInt64 = 0
    for row in 0..<rows where number(start + row) &- range.first <= range.span {
      found |= 1 << UInt64(row)
    }
    return found
  }

  private func matchesOfBytes(_ range: NumberRange, _ word: Int) -> UInt64 {
    let first = SIMD8<UInt8>(repeating: UInt8(truncatingIfNeeded: range.first))
    let span = SIMD8<UInt8>(repeating: UInt8(truncatingIfNeeded: range.span))
    var found: UInt64 = 0
    for part in 0..<8 {
      let bytes = unsafe elements.loadUnaligned(
        fromByteOffset: word << 6 + part << 3, as: SIMD8<UInt8>.self)
      found |= MatchWord.gather((bytes &- first) .<= span) << UInt64(part << 3)
    }
    return found
  }

  @inline(__always)
  private func matches<Number: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    _ range: NumberRange, _ word: Int, _ type: Number.Type
  ) -> UInt64 {
    let first = Number(truncatingIfNeeded: range.first)
    let span = Number(truncatingIfNeeded: range.span)
    var found: UInt64 = 0
    for row in 0..<64 {
      let isInside: UInt64 = load(word << 6 + row, type) &- first <= span ? 1 : 0
      found |= isInside &<< UInt64(row)
    }
    return found
  }

  /// Two bits a number: the test is the set of those of the four numbers that pass.
  private func matchesOfPairs(_ range: NumberRange, _ word: Int) -> UInt64 {
    var found: UInt64 = 0
    for half in 0..<2 {
      let pairs = UInt64(
        littleEndian: unsafe elements.load(
          fromByteOffset: word << 4 + half << 3, as: UInt64.self))
      var inside: UInt64 = 0
      for number in 0..<4 as Range<UInt64> where number &- range.first <= range.span {
        let low = number & 1 == 0 ? ~pairs : pairs
        let high = number & 2 == 0 ? ~(pairs >> 1) : pairs >> 1
        inside |= low & high
      }
      found |= MatchWord.evenBits(inside) << UInt64(half << 5)
    }
    return found
  }

  /// Four bits a number: the low and the high ones of each byte apart, and then in turns.
  private func matchesOfNibbles(_ range: NumberRange, _ word: Int) -> UInt64 {
    let first = SIMD8<UInt8>(repeating: UInt8(truncatingIfNeeded: range.first))
    let span = SIMD8<UInt8>(repeating: UInt8(truncatingIfNeeded: range.span))
    let (four, fifteen) = (SIMD8<UInt8>(repeating: 4), SIMD8<UInt8>(repeating: 15))
    var found: UInt64 = 0
    for part in 0..<4 {
      let bytes = unsafe elements.loadUnaligned(
        fromByteOffset: word << 5 + part << 3, as: SIMD8<UInt8>.self)
      let low = MatchWord.gather(((bytes & fifteen) &- first) .<= span)
      let high = MatchWord.gather(((bytes &>> four) &- first) .<= span)
      let both = Self.spread(low) | Self.spread(high) << 1
      found |= both << UInt64(part << 4)
    }
    return found
  }

  /// Eight bits with a 0 behind each.
  @inline(__always)
  private static func spread(_ byte: UInt64) -> UInt64 {
    var bits = (byte | byte << 4) & 0x0f0f
    bits = (bits | bits << 2) & 0x3333
    return (bits | bits << 1) & 0x5555
  }
}
