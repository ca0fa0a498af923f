// PackedArray+Matches.swift [U]: which elements pass a test, 64 of them as the bits of one word.
// Bit i of word w is for element 64 × w + i; bits after the last element are 0.

/// The bits of a word for its remaining rows.
enum MatchWord {
  @inline(__always)
  static func mask(_ rows: Int) -> UInt64 {
    rows >= 64 ? .max : (1 << UInt64(rows)) - 1
  }

  /// Eight bytes that are 0 or 1 as eight bits.
  ///
  /// The factor moves the lowest bit of byte i to bit 56 + i; no two products meet in one bit.
  @inline(__always)
  static func gather(_ flags: UInt64) -> UInt64 {
    (flags &* 0x0102_0408_1020_4080) >> 56
  }

  /// Which of a word's 32 numbers of two bits are inside a range: the lower bit of each.
  @inline(__always)
  static func pairs(_ word: UInt64, _ range: PackedArray.NumberRange) -> UInt64 {
    var inside: UInt64 = 0
    for number in 0..<4 as Range<UInt64> where number &- range.first <= range.span {
      let low = number & 1 == 0 ? ~word : word
      let high = number & 2 == 0 ? ~(word >> 1) : word >> 1
      inside |= low & high
    }
    return inside & 0x5555_5555_5555_5555
  }

  /// Which of a word's 16 numbers of four bits are inside a range: 0 or 1 in the byte of each, the
  /// low numbers of all bytes in one word, the high ones in another.
  @inline(__always)
  static func nibbles(
    _ word: UInt64, _ range: PackedArray.NumberRange
  ) -> (low: UInt64, high: UInt64) {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let first = ones &* range.first
    let last = ones &* ((range.first &+ range.span) | 0x80)
    @inline(__always) func inside(_ bytes: UInt64) -> UInt64 {
      // Bit 7 of a byte stays set unless the subtraction borrows it.
      let isAtLeast = (bytes | 0x8080_8080_8080_8080) &- first
      let isAtMost = last &- bytes
      return ((isAtLeast & isAtMost) >> 7) & ones
    }
    let mask: UInt64 = 0x0f0f_0f0f_0f0f_0f0f
    return (inside(word & mask), inside((word >> 4) & mask))
  }

  /// Every second bit of a word, beginning with the lowest, adjacent in 32 bits.
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

  /// The sum of the elements that have a bit in `words`.
  /// - Complexity: O(their number).
  func sum(of words: [UInt64]) -> Int128 {
    precondition(
      words.count == matchWordCount
        && words.last.map { $0 & ~MatchWord.mask(count - (words.count - 1) << 6) } ?? 0 == 0,
      "the bits are those of the elements")
    let selected = words.reduce(0) { $0 + $1.nonzeroBitCount }
    let smallest = Int128(Int64(bitPattern: base)) * Int128(selected)
    switch width {
    case 0: return smallest
    // No node has 2^30 elements, so a sum of 32-bit numbers fits 64 bits.
    case 8: return smallest + Int128(sum(of: words) { UInt64(load($0, UInt8.self)) })
    case 16: return smallest + Int128(sum(of: words) { UInt64(load($0, UInt16.self)) })
    case 32: return smallest + Int128(sum(of: words) { UInt64(load($0, UInt32.self)) })
    case 64:
      let low = sum(of: words) { load($0, UInt64.self) & 0xffff_ffff }
      let high = sum(of: words) { load($0, UInt64.self) >> 32 }
      return smallest + Int128(high) << 32 + Int128(low)
    default: return smallest + Int128(sum(of: words) { number($0) })
    }
  }

  @inline(__always)
  private func sum(of words: [UInt64], _ number: (Int) -> UInt64) -> UInt64 {
    var sum: UInt64 = 0
    for word in words.indices {
      var rows = words[word]
      while rows != 0 {
        sum &+= number(word << 6 + rows.trailingZeroBitCount)
        rows &= rows - 1
      }
    }
    return sum
  }

  private func matchesInside(_ range: NumberRange, word: Int, rows: Int) -> UInt64 {
    // There may be no memory after the last element: the last word's rows of whole bytes are found
    // as the last of 64 that begin before it, others one by one.
    if rows < 64 {
      guard width >= 8, count >= 64 else { return slowMatches(range, from: word << 6, rows: rows) }
      return matchesOf64(range, from: count - 64) >> UInt64(64 - rows)
    }
    switch width {
    case 1:
      let bits = unsafe elements.load(fromByteOffset: word << 3, as: UInt64.self)
      return range.first == 1 ? UInt64(littleEndian: bits) : ~UInt64(littleEndian: bits)
    case 2: return matchesOfPairs(range, word)
    case 4: return matchesOfNibbles(range, word)
    default: return matchesOf64(range, from: word << 6)
    }
  }

  /// 64 elements of whole bytes from any one on.
  @inline(__always)
  private func matchesOf64(_ range: NumberRange, from start: Int) -> UInt64 {
    precondition(start >= 0 && start <= count - 64)
    switch width {
    case 8: return matchesOfBytes(range, from: start)
    case 16: return matches(range, from: start, UInt16.self)
    case 32: return matches(range, from: start, UInt32.self)
    default: return matches(range, from: start, UInt64.self)
    }
  }

  private func slowMatches(_ range: NumberRange, from start: Int, rows: Int) -> UInt64 {
    var found: UInt64 = 0
    for row in 0..<rows where number(start + row) &- range.first <= range.span {
      found |= 1 << UInt64(row)
    }
    return found
  }

  private func matchesOfBytes(_ range: NumberRange, from start: Int) -> UInt64 {
    let first = SIMD8<UInt8>(repeating: UInt8(truncatingIfNeeded: range.first))
    let span = SIMD8<UInt8>(repeating: UInt8(truncatingIfNeeded: range.span))
    var found: UInt64 = 0
    for part in 0..<8 {
      let bytes = unsafe elements.loadUnaligned(
        fromByteOffset: start + part << 3, as: SIMD8<UInt8>.self)
      let inside = unsafe unsafeBitCast((bytes &- first) .<= span, to: UInt64.self)
      found |= MatchWord.gather(inside & 0x0101_0101_0101_0101) << UInt64(part << 3)
    }
    return found
  }

  @inline(__always)
  private func matches<Number: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    _ range: NumberRange, from start: Int, _ type: Number.Type
  ) -> UInt64 {
    let first = Number(truncatingIfNeeded: range.first)
    let span = Number(truncatingIfNeeded: range.span)
    var found: UInt64 = 0
    for row in 0..<64 {
      let isInside: UInt64 = load(start + row, type) &- first <= span ? 1 : 0
      found |= isInside &<< UInt64(row)
    }
    return found
  }

  private func matchesOfPairs(_ range: NumberRange, _ word: Int) -> UInt64 {
    let low = MatchWord.pairs(load(word << 1, UInt64.self), range)
    let high = MatchWord.pairs(load(word << 1 + 1, UInt64.self), range)
    return MatchWord.evenBits(low) | MatchWord.evenBits(high) << 32
  }

  /// The low and the high numbers of each byte apart, and then in turns.
  private func matchesOfNibbles(_ range: NumberRange, _ word: Int) -> UInt64 {
    var found: UInt64 = 0
    for part in 0..<4 {
      let (low, high) = MatchWord.nibbles(load(word << 2 + part, UInt64.self), range)
      let both =
        Self.spread(MatchWord.gather(low)) | Self.spread(MatchWord.gather(high)) << 1
      found |= both << UInt64(part << 4)
    }
    return found
  }

  /// Eight bits with a 0 after each.
  @inline(__always)
  private static func spread(_ byte: UInt64) -> UInt64 {
    var bits = (byte | byte << 4) & 0x0f0f
    bits = (bits | bits << 2) & 0x3333
    return (bits | bits << 1) & 0x5555
  }
}
