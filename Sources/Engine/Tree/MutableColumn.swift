// MutableColumn.swift: one column of a leaf while a writer changes it.
// Invariants: `numbers` has one element per row: the value, or where the row's string ends in
// `bytes`. `lower ... upper` holds every number; it widens with each change and is made exact when
// the leaf is encoded. `externals` is empty as long as no string of the column is a node of its
// own.

/// A column as arrays that can be changed.
struct MutableColumn {
  let type: ColumnType
  var numbers: [Int64] = []
  var lower = Int64.max
  var upper = Int64.min
  var bytes: [UInt8] = []
  var externals: [Bool] = []

  init(_ type: ColumnType) {
    self.type = type
  }

  var count: Int { numbers.count }

  static func width(_ lower: Int64, _ upper: Int64) -> Int {
    guard lower < upper else { return 0 }
    return PackedArray.width(forRange: UInt64(bitPattern: upper) &- UInt64(bitPattern: lower))
  }

  /// At most this many bytes in the leaf, with the rows and bytes given on top.
  func sizeBytes(rows: Int, bytes byteCount: Int, lower: Int64, upper: Int64) -> Int {
    switch type {
    case .int:
      return PackedArray.sizeBytes(count: rows, width: Self.width(lower, upper))
    case .string:
      let ends = PackedArray.width(forRange: UInt64(byteCount))
      let flags = externals.isEmpty ? 0 : PackedArray.sizeBytes(count: rows, width: 1)
      return PackedArray.sizeBytes(count: rows, width: ends) + flags + (byteCount + 7) / 8 * 8
    }
  }

  var sizeBytes: Int { sizeBytes(rows: count, bytes: bytes.count, lower: lower, upper: upper) }

  @inline(__always)
  private mutating func widen(_ number: Int64) {
    if number < lower { lower = number }
    if number > upper { upper = number }
  }

  // MARK: integers

  mutating func insert(_ number: Int64, at index: Int) {
    if index == numbers.count { numbers.append(number) } else { numbers.insert(number, at: index) }
    widen(number)
  }

  mutating func replace(_ number: Int64, at index: Int) {
    numbers[index] = number
    widen(number)
  }

  // MARK: strings

  func range(_ index: Int) -> Range<Int> {
    (index == 0 ? 0 : Int(numbers[index - 1]))..<Int(numbers[index])
  }

  func isExternal(_ index: Int) -> Bool { !externals.isEmpty && externals[index] }

  mutating func insert(_ entry: some Collection<UInt8>, isExternal: Bool, at index: Int) {
    let start = index == 0 ? 0 : Int(numbers[index - 1])
    let length = Int64(entry.count)
    if index == numbers.count {
      bytes.append(contentsOf: entry)
      numbers.append(Int64(start) + length)
    } else {
      bytes.insert(contentsOf: entry, at: start)
      numbers.insert(Int64(start), at: index)
      for later in index..<numbers.count { numbers[later] += length }
    }
    if isExternal && externals.isEmpty {
      externals = [Bool](repeating: false, count: numbers.count - 1)
    }
    if isExternal || !externals.isEmpty { externals.insert(isExternal, at: index) }
  }

  mutating func replace(_ entry: some Collection<UInt8>, isExternal: Bool, at index: Int) {
    let old = range(index)
    let difference = Int64(entry.count - old.count)
    bytes.replaceSubrange(old, with: entry)
    if difference != 0 { for later in index..<numbers.count { numbers[later] += difference } }
    if isExternal && externals.isEmpty {
      externals = [Bool](repeating: false, count: numbers.count)
    }
    if !externals.isEmpty { externals[index] = isExternal }
  }

  // MARK: both

  mutating func remove(at index: Int) {
    if type == .string {
      let old = range(index)
      bytes.removeSubrange(old)
      for later in index + 1..<numbers.count { numbers[later] -= Int64(old.count) }
      if !externals.isEmpty { externals.remove(at: index) }
    }
    numbers.remove(at: index)
  }

  /// Cuts the rows from `index` on off and returns them.
  mutating func split(at index: Int) -> MutableColumn {
    var right = MutableColumn(type)
    right.numbers = Array(numbers[index...])
    numbers.removeSubrange(index...)
    if type == .string {
      let cut = Int(numbers.last ?? 0)
      right.bytes = Array(bytes[cut...])
      bytes.removeSubrange(cut...)
      for row in right.numbers.indices { right.numbers[row] -= Int64(cut) }
      if !externals.isEmpty {
        right.externals = Array(externals[index...])
        externals.removeSubrange(index...)
      }
    } else {
      tighten()
      right.tighten()
    }
    return right
  }

  /// Adds the rows of the right neighbour.
  mutating func append(_ right: MutableColumn) {
    if !right.externals.isEmpty || !externals.isEmpty {
      if externals.isEmpty { externals = [Bool](repeating: false, count: count) }
      externals +=
        right.externals.isEmpty
        ? [Bool](repeating: false, count: right.count) : right.externals
    }
    let shift = Int64(bytes.count)
    numbers += shift == 0 ? right.numbers : right.numbers.map { $0 + shift }
    bytes += right.bytes
    lower = min(lower, right.lower)
    upper = max(upper, right.upper)
  }

  /// Makes the bounds exact.
  mutating func tighten() {
    guard type == .int else { return }
    lower = numbers.min() ?? Int64.max
    upper = numbers.max() ?? Int64.min
  }
}
