// PackedArray+Scan.swift [U]: counts, sums and extremes of a packed array, at the array's width. A
// test is moved to the array's base once, so that the loops compare the stored numbers: number n is
// inside first ... last when n - first <= last - first, unsigned, which is one comparison. Widths 2
// and 4 are compared inside of 64-bit words. Sums are exact in 128 bits. Only SIMD operators of
// concrete types are used: the generic ones work lane by lane (decision 0451). Vectors are loaded
// without conversion, so this needs a little-endian machine, as all supported ones are. Arrays are
// padded to 8 bytes, but the padding is not read as numbers: loops end at `count`.

extension PackedArray {
  /// The stored numbers from `first` on, `span` more than it at most.
  struct NumberRange {
    let first: UInt64
    let span: UInt64
  }

  /// A test expressed in stored numbers.
  enum Reach {
    case none
    case all
    case some(NumberRange)
  }

  private var numberMax: UInt64 { width == 64 ? .max : (1 << UInt64(width)) - 1 }

  /// The range of a test in terms of the stored numbers.
  @inline(__always)
  func reach(_ lower: Int64, _ upper: Int64) -> Reach {
    let smallest = Int64(bitPattern: base)
    guard lower <= upper, upper >= smallest else { return .none }
    let first = lower <= smallest ? 0 : UInt64(bitPattern: lower) &- base
    let last = min(UInt64(bitPattern: upper) &- base, numberMax)
    guard first <= numberMax else { return .none }
    if first == 0, last == numberMax { return .all }
    return .some(NumberRange(first: first, span: last - first))
  }

  /// How many elements pass.
  /// - Complexity: O(bytes); O(1) when the width or the base decide.
  @inline(__always)
  func count(_ test: IntegerTest) -> Int {
    let inside: Int
    switch reach(test.lower, test.upper) {
    case .none: inside = 0
    case .all: inside = count
    case .some(let range): inside = countInside(range)
    }
    return test.isNegated ? count - inside : inside
  }

  private func countInside(_ range: NumberRange) -> Int {
    switch width {
    case 1:
      let ones = countOnes()
      return range.first == 1 ? ones : count - ones
    case 2: return countPairs(range)
    case 4: return countNibbles(range)
    case 8: return countBytes(range)
    case 16: return countShorts(range)
    case 32: return countWords(range)
    default: return countLongs(range)
    }
  }

  /// Elements of a 1-bit array that are 1.
  func countOnes() -> Int {
    var ones = 0
    for word in 0..<count >> 6 {
      ones &+= unsafe elements.load(fromByteOffset: word << 3, as: UInt64.self).nonzeroBitCount
    }
    guard count & 63 != 0 else { return ones }
    let last = unsafe elements.load(fromByteOffset: (count >> 6) << 3, as: UInt64.self)
    return ones + (UInt64(littleEndian: last) & ((1 << UInt64(count & 63)) - 1)).nonzeroBitCount
  }

  /// Two bits per number, 32 of them per word: the test is the set of matching numbers.
  private func countPairs(_ range: NumberRange) -> Int {
    var found = 0
    let words = count >> 5
    for word in 0..<words {
      found &+= MatchWord.pairs(load(word, UInt64.self), range).nonzeroBitCount
    }
    return found + countRest(from: words << 5, range)
  }

  /// Four bits a number, 16 of them a word, spread over the bytes of two words.
  private func countNibbles(_ range: NumberRange) -> Int {
    var found = 0
    let words = count >> 4
    var word = 0
    while word < words {
      // A lane counts two numbers a word, and to 255 before it has to be emptied.
      let end = min(words, word + 127)
      var lanes: UInt64 = 0
      while word < end {
        let (low, high) = MatchWord.nibbles(load(word, UInt64.self), range)
        lanes &+= low &+ high
        word += 1
      }
      found += Self.sum(ofBytes: lanes)
    }
    return found + countRest(from: words << 4, range)
  }

  private func countBytes(_ range: NumberRange) -> Int {
    let vectors = count / 32
    let first = SIMD32<UInt8>(repeating: UInt8(truncatingIfNeeded: range.first))
    let span = SIMD32<UInt8>(repeating: UInt8(truncatingIfNeeded: range.span))
    var found = 0
    var vector = 0
    while vector < vectors {
      // A lane counts to 255 before it has to be emptied.
      let end = min(vectors, vector + 255)
      var lanes = SIMD32<UInt8>()
      while vector < end {
        let bytes = unsafe elements.loadUnaligned(
          fromByteOffset: vector << 5, as: SIMD32<UInt8>.self)
        // Where the comparison holds, a lane of the mask is all ones, which is -1.
        lanes &-= unsafe unsafeBitCast((bytes &- first) .<= span, to: SIMD32<UInt8>.self)
        vector += 1
      }
      let words = unsafe unsafeBitCast(lanes, to: SIMD4<UInt64>.self)
      for index in 0..<4 { found += Self.sum(ofBytes: words[index]) }
    }
    return found + countRest(from: vectors * 32, range)
  }

  private static func sum(ofBytes word: UInt64) -> Int {
    let pairs = word & 0x00ff_00ff_00ff_00ff &+ word >> 8 & 0x00ff_00ff_00ff_00ff
    // The highest 16 bits of the product are the sum of the four 16-bit parts.
    return Int((pairs &* 0x0001_0001_0001_0001) >> 48)
  }

  private func countRest(from start: Int, _ range: NumberRange) -> Int {
    var found = 0
    for index in start..<count where number(index) &- range.first <= range.span { found += 1 }
    return found
  }

  private func countShorts(_ range: NumberRange) -> Int {
    let vectors = count / 16
    let first = SIMD16<UInt16>(repeating: UInt16(truncatingIfNeeded: range.first))
    let span = SIMD16<UInt16>(repeating: UInt16(truncatingIfNeeded: range.span))
    var found = 0
    var vector = 0
    while vector < vectors {
      let end = min(vectors, vector + 65_535)
      var lanes = SIMD16<UInt16>()
      while vector < end {
        let numbers = unsafe elements.loadUnaligned(
          fromByteOffset: vector << 5, as: SIMD16<UInt16>.self)
        lanes &-= unsafe unsafeBitCast((numbers &- first) .<= span, to: SIMD16<UInt16>.self)
        vector += 1
      }
      for lane in 0..<16 { found += Int(lanes[lane]) }
    }
    return found + countRest(from: vectors * 16, range)
  }

  private func countWords(_ range: NumberRange) -> Int {
    let vectors = count / 8
    let first = SIMD8<UInt32>(repeating: UInt32(truncatingIfNeeded: range.first))
    let span = SIMD8<UInt32>(repeating: UInt32(truncatingIfNeeded: range.span))
    // No node has 2^32 rows, so a lane cannot overflow.
    var lanes = SIMD8<UInt32>()
    for vector in 0..<vectors {
      let numbers = unsafe elements.loadUnaligned(
        fromByteOffset: vector << 5, as: SIMD8<UInt32>.self)
      lanes &-= unsafe unsafeBitCast((numbers &- first) .<= span, to: SIMD8<UInt32>.self)
    }
    var found = 0
    for lane in 0..<8 { found += Int(lanes[lane]) }
    return found + countRest(from: vectors * 8, range)
  }

  private func countLongs(_ range: NumberRange) -> Int {
    var found = 0
    for index in 0..<count {
      let number = unsafe UInt64(
        littleEndian: elements.loadUnaligned(fromByteOffset: index << 3, as: UInt64.self))
      if number &- range.first <= range.span { found &+= 1 }
    }
    return found
  }
}

extension PackedArray {
  /// The sum of all elements.
  /// - Complexity: O(bytes).
  func sum() -> Int128 {
    Int128(Int64(bitPattern: base)) * Int128(count) + sumOfNumbers()
  }

  private func sumOfNumbers() -> Int128 {
    switch width {
    case 0: return 0
    case 1: return Int128(countOnes())
    case 2: return Int128(sumOfPairs())
    case 4: return Int128(sumOfNibbles())
    // No node has 2^30 elements, so a sum of 32-bit numbers fits 64 bits.
    case 8: return Int128(sum(UInt8.self))
    case 16: return Int128(sum(UInt16.self))
    case 32: return Int128(sum(UInt32.self))
    default: return sumOfLongs()
    }
  }

  @inline(__always)
  private func sum<Number: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    _ type: Number.Type
  ) -> UInt64 {
    var sum: UInt64 = 0
    for index in 0..<count { sum &+= UInt64(load(index, type)) }
    return sum
  }

  private func sumOfPairs() -> UInt64 {
    var (ones, twos) = (0, 0)
    let words = count >> 5
    for word in 0..<words {
      let pairs = load(word, UInt64.self)
      ones &+= (pairs & 0x5555_5555_5555_5555).nonzeroBitCount
      twos &+= (pairs & 0xaaaa_aaaa_aaaa_aaaa).nonzeroBitCount
    }
    return UInt64(ones + 2 * twos) + sumOfRest(from: words << 5)
  }

  private func sumOfNibbles() -> UInt64 {
    var sum = 0
    let words = count >> 4
    var word = 0
    while word < words {
      // A lane grows by at most 30 per word, and holds 255.
      let end = min(words, word + 8)
      var lanes: UInt64 = 0
      while word < end {
        let nibbles = load(word, UInt64.self)
        lanes &+= nibbles & 0x0f0f_0f0f_0f0f_0f0f
        lanes &+= nibbles >> 4 & 0x0f0f_0f0f_0f0f_0f0f
        word += 1
      }
      sum += Self.sum(ofBytes: lanes)
    }
    return UInt64(sum) + sumOfRest(from: words << 4)
  }

  private func sumOfRest(from start: Int) -> UInt64 {
    var sum: UInt64 = 0
    for index in start..<count { sum &+= number(index) }
    return sum
  }

  /// The halves of 64-bit numbers are added up apart, so that neither sum can overflow.
  private func sumOfLongs() -> Int128 {
    var low: UInt64 = 0
    var high: UInt64 = 0
    for index in 0..<count {
      let number = load(index, UInt64.self)
      low &+= number & 0xffff_ffff
      high &+= number >> 32
    }
    return Int128(high) << 32 + Int128(low)
  }

  /// The smallest and the largest element, or nil when there is none.
  /// - Complexity: O(bytes).
  func extremes() -> (lower: Int64, upper: Int64)? {
    guard count > 0 else { return nil }
    let (least, most): (UInt64, UInt64)
    switch width {
    case 0: (least, most) = (0, 0)
    case 1:
      let ones = countOnes()
      (least, most) = (ones == count ? 1 : 0, ones == 0 ? 0 : 1)
    case 8: (least, most) = extremes(UInt8.self)
    case 16: (least, most) = extremes(UInt16.self)
    case 32: (least, most) = extremes(UInt32.self)
    case 64: (least, most) = extremes(UInt64.self)
    default:
      var (lower, upper) = (number(0), number(0))
      for index in 1..<count {
        lower = min(lower, number(index))
        upper = max(upper, number(index))
      }
      (least, most) = (lower, upper)
    }
    return (Int64(bitPattern: base &+ least), Int64(bitPattern: base &+ most))
  }

  @inline(__always)
  private func extremes<Number: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    _ type: Number.Type
  ) -> (UInt64, UInt64) {
    var (lower, upper) = (Number.max, Number.min)
    for index in 0..<count {
      let number = load(index, type)
      if number < lower { lower = number }
      if number > upper { upper = number }
    }
    return (UInt64(lower), UInt64(upper))
  }

  /// The sum of the elements whose rows are not null; `nulls` has a bit per row.
  func sum(except nulls: PackedArray) -> Int128 {
    var sum: Int128 = 0
    for index in 0..<count where nulls[index] == 0 { sum += Int128(self[index]) }
    return sum
  }

  /// The smallest and the largest element whose rows are not null, or nil when all are.
  func extremes(except nulls: PackedArray) -> (lower: Int64, upper: Int64)? {
    var (lower, upper) = (Int64.max, Int64.min)
    var isEmpty = true
    for index in 0..<count where nulls[index] == 0 {
      isEmpty = false
      lower = min(lower, self[index])
      upper = max(upper, self[index])
    }
    return isEmpty ? nil : (lower, upper)
  }

  /// Whether no element is smaller than the one before it, or when `strictly`, each is greater.
  /// - Complexity: O(bytes).
  func isAscending(strictly: Bool) -> Bool {
    guard count > 1 else { return true }
    // Numbers may run over the end of 64 bits in a damaged leaf; the last one is the greatest.
    guard number(count - 1) <= UInt64(bitPattern: Int64.max) &- base else { return false }
    switch width {
    case 0: return !strictly
    case 8: return isAscending(strictly, UInt8.self)
    case 16: return isAscending(strictly, UInt16.self)
    case 32: return isAscending(strictly, UInt32.self)
    case 64: return isAscending(strictly, UInt64.self)
    default:
      let step: UInt64 = strictly ? 1 : 0
      return (1..<count).allSatisfy { number($0 - 1) + step <= number($0) }
    }
  }

  @inline(__always)
  private func isAscending<Number: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    _ strictly: Bool, _ type: Number.Type
  ) -> Bool {
    // Without an early exit the loop is vectorized.
    var descents = 0
    for index in 1..<count where load(index - 1, type) > load(index, type) { descents &+= 1 }
    guard strictly, descents == 0 else { return descents == 0 }
    for index in 1..<count where load(index - 1, type) == load(index, type) { descents &+= 1 }
    return descents == 0
  }
}
