// FloatingArray.swift [U]: a column of floating-point numbers, read in place. Invariant: the array
// has one element per row in its memory format (width 32 or 64, base 0), or one value for all rows,
// as the bits of a base (width 0). A sum is the same for the same rows, whatever leaves they are
// in: row r of the table (in key order, nulls counted) goes to lane r % 8; at the end lanes 4 to 7
// are added to lanes 0 to 3, then 2 and 3 to 0 and 1, then 1 to 0.

/// A floating-point type that columns can hold.
protocol ColumnFloat: BinaryFloatingPoint, SIMDScalar, Codable, BitwiseCopyable, Sendable {
  associatedtype Bits: FixedWidthInteger & UnsignedInteger & BitwiseCopyable
  init(bitPattern: Bits)
  /// Eight consecutive numbers.
  static func eight(_ vector: SIMD8<Self>) -> SIMD8<Double>
  /// Which of 64 consecutive numbers are inside a test's range, a bit each.
  static func inside(_ test: FloatingTest<Self>, _ numbers: RawBytes) -> UInt64
}

extension Double: ColumnFloat {
  typealias Bits = UInt64

  @inline(__always)
  static func eight(_ vector: SIMD8<Double>) -> SIMD8<Double> { vector }

  /// Lane l collects the bits of numbers l, l + 8, l + 16…, each at its place.
  @inline(__always)
  static func inside(_ test: FloatingTest<Double>, _ numbers: RawBytes) -> UInt64 {
    let (lower, upper) = (SIMD8(repeating: test.lower), SIMD8(repeating: test.upper))
    var places = SIMD8<Int64>(1, 2, 4, 8, 16, 32, 64, 128)
    var found = SIMD8<Int64>()
    for part in 0..<8 {
      let eight = numbers.vector(at: part << 6, of: SIMD8<Double>.self)
      let inside = unsafe unsafeBitCast(
        (eight .>= lower) .& (eight .<= upper), to: SIMD8<Int64>.self)
      found |= inside & places
      places &<<= SIMD8(repeating: 8)
    }
    let four = found.lowHalf | found.highHalf
    let two = four.lowHalf | four.highHalf
    return UInt64(bitPattern: two.x | two.y)
  }
}

extension Float: ColumnFloat {
  typealias Bits = UInt32

  @inline(__always)
  static func eight(_ vector: SIMD8<Float>) -> SIMD8<Double> { SIMD8(vector) }

  /// As for doubles, in two halves: a lane has room for the bits of four numbers.
  @inline(__always)
  static func inside(_ test: FloatingTest<Float>, _ numbers: RawBytes) -> UInt64 {
    let (lower, upper) = (SIMD8(repeating: test.lower), SIMD8(repeating: test.upper))
    var result: UInt64 = 0
    for half in 0..<2 {
      var places = SIMD8<Int32>(1, 2, 4, 8, 16, 32, 64, 128)
      var found = SIMD8<Int32>()
      for part in 0..<4 {
        let eight = numbers.vector(at: half << 7 + part << 5, of: SIMD8<Float>.self)
        let inside = unsafe unsafeBitCast(
          (eight .>= lower) .& (eight .<= upper), to: SIMD8<Int32>.self)
        found |= inside & places
        places &<<= SIMD8(repeating: 8)
      }
      let four = found.lowHalf | found.highHalf
      let two = four.lowHalf | four.highHalf
      result |= UInt64(UInt32(bitPattern: two.x | two.y)) << UInt64(half << 5)
    }
    return result
  }
}

extension RawBytes {
  @inline(__always)
  fileprivate func vector<Vector: SIMD & BitwiseCopyable>(
    at offset: Int, of type: Vector.Type
  ) -> Vector {
    precondition(offset >= 0 && offset <= count - MemoryLayout<Vector>.size)
    return unsafe base.loadUnaligned(fromByteOffset: offset, as: type)
  }
}

/// A partial sum of floating-point numbers, and the number of rows it covers.
struct FloatingSum {
  private(set) var lanes = SIMD8<Double>()
  private(set) var rowCount = 0

  /// The sum, lanes added pairwise.
  var total: Double {
    let four = lanes.lowHalf + lanes.highHalf
    let two = four.lowHalf + four.highHalf
    return two.x + two.y
  }

  @inline(__always)
  mutating func add(_ number: Double) {
    lanes[rowCount & 7] += number
    rowCount += 1
  }

  /// Counts a row without a value.
  @inline(__always)
  mutating func skip() { rowCount += 1 }

  @inline(__always)
  mutating func add(_ numbers: SIMD8<Double>) {
    lanes += numbers
    rowCount += 8
  }
}

/// Floating-point numbers of a leaf.
@safe struct FloatingArray<Number: ColumnFloat> {
  // Safety: init takes over memory that a PackedArray has checked: count × width bits.
  private let elements: UnsafeRawPointer
  let count: Int
  /// The value of all rows, when the array has no elements.
  private let same: Number?

  /// The array's numbers, or nil when its width or base is none that floating-point columns have.
  @inline(__always)
  init?(_ array: PackedArray) {
    unsafe elements = unsafe array.elements
    count = array.count
    if array.width == 0 {
      guard let bits = Number.Bits(exactly: array.base) else { return nil }
      same = Number(bitPattern: bits)
    } else {
      guard array.width == Number.Bits.bitWidth, array.base == 0 else { return nil }
      same = nil
    }
  }

  /// The memory of the elements.
  @inline(__always)
  var bytes: RawBytes {
    let size = same == nil ? count * MemoryLayout<Number>.size : 0
    return unsafe RawBytes(UnsafeRawBufferPointer(start: elements, count: size))
  }

  @inline(__always)
  subscript(index: Int) -> Number {
    precondition(index >= 0 && index < count)
    return same ?? element(index)
  }

  @inline(__always)
  private func element(_ index: Int) -> Number {
    let size = MemoryLayout<Number>.size
    return unsafe elements.loadUnaligned(fromByteOffset: index * size, as: Number.self)
  }

  /// How many elements pass.
  func count(_ test: FloatingTest<Number>) -> Int {
    var inside = 0
    if let same {
      inside = same >= test.lower && same <= test.upper ? count : 0
    } else {
      for index in 0..<count {
        let number = element(index)
        // Both comparisons always: a branch would cost more than the second one does.
        inside &+= (number >= test.lower ? 1 : 0) & (number <= test.upper ? 1 : 0)
      }
    }
    return test.isNegated ? count - inside : inside
  }

  /// The elements of one word that are inside a test's range, a bit each.
  func matches(_ test: FloatingTest<Number>, word: Int) -> UInt64 {
    let rows = min(64, count - word << 6)
    precondition(word >= 0 && rows > 0)
    if let same {
      return same >= test.lower && same <= test.upper ? MatchWord.mask(rows) : 0
    }
    if count >= 64 {
      // The last word's rows are the last of 64 that begin before it.
      let size = MemoryLayout<Number>.size
      let start = min(word << 6, count - 64)
      let found = Number.inside(test, bytes.part(at: start * size, count: 64 * size))
      return found >> UInt64(64 - rows)
    }
    var inside: UInt64 = 0
    for row in 0..<rows {
      let number = element(word << 6 + row)
      let isInside: UInt64 = (number >= test.lower ? 1 : 0) & (number <= test.upper ? 1 : 0)
      inside |= isInside << UInt64(row)
    }
    return inside
  }

  /// Adds all elements to a sum.
  func add(to sum: inout FloatingSum) {
    var index = 0
    if let same {
      for _ in 0..<count { sum.add(Double(same)) }
      return
    }
    while index < count, sum.rowCount & 7 != 0 {
      sum.add(Double(element(index)))
      index += 1
    }
    // A copy, so that the lanes stay in registers.
    var lanes = sum
    let size = MemoryLayout<Number>.size
    while index <= count - 8 {
      lanes.add(
        Number.eight(
          unsafe elements.loadUnaligned(fromByteOffset: index * size, as: SIMD8<Number>.self)))
      index += 8
    }
    sum = lanes
    while index < count {
      sum.add(Double(element(index)))
      index += 1
    }
  }

  /// Adds the elements whose rows are not null; `nulls` has a bit per row.
  func add(to sum: inout FloatingSum, except nulls: PackedArray) {
    for index in 0..<count {
      if nulls[index] != 0 { sum.skip() } else { sum.add(Double(same ?? element(index))) }
    }
  }

  /// The smallest and the largest element that is not NaN, or nil when there is none.
  func extremes() -> (lower: Number, upper: Number)? {
    if let same { return count == 0 || same.isNaN ? nil : (same, same) }
    var (lower, upper) = (Number.infinity, -Number.infinity)
    for index in 0..<count {
      // A NaN is neither smaller nor greater.
      let number = element(index)
      lower = number < lower ? number : lower
      upper = number > upper ? number : upper
    }
    return lower <= upper ? (lower, upper) : nil
  }

  /// The same for the rows that are not null.
  func extremes(except nulls: PackedArray) -> (lower: Number, upper: Number)? {
    var (lower, upper) = (Number.infinity, -Number.infinity)
    for index in 0..<count where nulls[index] == 0 {
      let number = same ?? element(index)
      if number < lower { lower = number }
      if number > upper { upper = number }
    }
    return lower <= upper ? (lower, upper) : nil
  }
}
