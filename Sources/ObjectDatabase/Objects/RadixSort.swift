// RadixSort.swift: sorts positions by numbers, eleven bits at a time from the lowest, which is
// stable. Digits that all numbers share cost one check: a million ages are sorted in one pass, a
// million doubles in six.

/// Sorts positions by numbers.
enum RadixSort {
  private static let digitBits: UInt64 = 11
  private static let bucketCount = 1 << 11

  /// Numbers whose unsigned order is that of a column's values: as integers, or as doubles with a
  /// NaN before all numbers and -0 equal to 0.
  /// - Returns: The numbers, and words that sort nulls first, or last in descending order; nil
  ///   without nulls.
  static func images(
    _ column: ColumnNumbers, isDouble: Bool, isAscending: Bool
  ) -> (words: [UInt64], nulls: [UInt64]?) {
    let turned: UInt64 = isAscending ? 0 : .max
    let words = column.words.map { word in
      (isDouble ? ordered(double: word) : UInt64(bitPattern: word) ^ 1 << 63) ^ turned
    }
    guard !column.nulls.isEmpty else { return (words, nil) }
    // The number of a row without a value has no meaning.
    let present = zip(words, column.nulls).map { $1 == 0 ? $0 : 0 }
    return (present, column.nulls.map { ($0 == 0) == isAscending ? 1 : 0 })
  }

  @inline(__always)
  private static func ordered(double word: Int64) -> UInt64 {
    let number = Double(bitPattern: UInt64(bitPattern: word))
    if number.isNaN { return 0 }
    if number == 0 { return 1 << 63 }
    return word < 0 ? ~UInt64(bitPattern: word) : UInt64(bitPattern: word) | 1 << 63
  }

  /// Sorts positions by their numbers; equal ones keep their order.
  /// - Complexity: O(positions × digits in which the numbers differ), and the same amount of memory
  ///   again.
  static func sort(_ order: inout [UInt32], by words: [UInt64]) {
    guard let first = words.first else { return }
    var differing: UInt64 = 0
    for word in words { differing |= word ^ first }
    var next = [UInt32](repeating: 0, count: order.count)
    for shift in stride(from: 0, to: 64 as UInt64, by: UInt64.Stride(digitBits)) {
      let mask = UInt64(bucketCount - 1)
      guard differing >> shift & mask != 0 else { continue }
      var starts = [Int](repeating: 0, count: bucketCount + 1)
      for word in words { starts[Int(word >> shift & mask) + 1] += 1 }
      for bucket in 1...bucketCount { starts[bucket] += starts[bucket - 1] }
      for position in order {
        let bucket = Int(words[Int(position)] >> shift & mask)
        next[starts[bucket]] = position
        starts[bucket] += 1
      }
      swap(&order, &next)
    }
  }
}
