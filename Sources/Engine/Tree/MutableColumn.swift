// MutableColumn.swift: one column of a leaf while a writer changes it. Invariants: `numbers` has
// one element per row (integers, bools, keys of links, bits of floating- point numbers, seconds, or
// where the row's bytes end in `bytes`), except in a column of fixed bytes, where `bytes` holds
// everything. `lower ... upper` holds every number; it widens with each change and is made exact
// when the leaf is encoded. `externals` and `nulls` are empty as long as no row needs them. The
// number of a null row has no meaning.

/// A column as arrays that can be changed.
struct MutableColumn {
  let layout: ColumnLayout
  var numbers: [Int64] = []
  var lower = Int64.max
  var upper = Int64.min
  var bytes: [UInt8] = []
  var externals: [Bool] = []
  var nulls: [Bool] = []
  /// Of dates only: numbers below 10^9, so 32 bits hold each.
  var nanoseconds: [Int64] = []
  var nanosecondsUpper: Int64 = 0
  /// At most this many bytes in the leaf, descriptors aside.
  private(set) var sizeBytes = 0
  /// Whether the bounds have the width of exact ones, and null rows a number that costs none.
  private var isTight = false

  init(_ layout: ColumnLayout) {
    self.layout = layout
  }

  /// A column that all rows of a leaf have lacked so far.
  init(_ layout: ColumnLayout, absentRows count: Int) {
    self.init(layout)
    if layout.hasNulls { nulls = [Bool](repeating: true, count: count) }
    switch layout.storage {
    case .fixed12, .fixed16:
      bytes = [UInt8](repeating: 0, count: count * layout.storage.fixedBytes)
    case .dates:
      nanoseconds = [Int64](repeating: 0, count: count)
      numbers = nanoseconds
    default: numbers = [Int64](repeating: 0, count: count)
    }
    if count > 0, !isBytes { (lower, upper) = (0, 0) }
    measure()
  }

  @inline(__always)
  private var isFixed: Bool { layout.storage == .fixed12 || layout.storage == .fixed16 }
  @inline(__always)
  var isStrings: Bool { layout.storage == .strings }
  @inline(__always)
  private var isBytes: Bool { isStrings || isFixed }

  @inline(__always)
  var count: Int { isFixed ? bytes.count / layout.storage.fixedBytes : numbers.count }

  static func width(_ lower: Int64, _ upper: Int64) -> Int {
    guard lower < upper else { return 0 }
    return PackedArray.width(forRange: UInt64(bitPattern: upper) &- UInt64(bitPattern: lower))
  }

  /// Bits of a number of this column in a leaf.
  @inline(__always)
  func numberWidth(_ lower: Int64, _ upper: Int64) -> Int {
    switch layout.storage {
    case .words32: lower < upper ? 32 : 0
    case .words64: lower < upper ? 64 : 0
    default: Self.width(lower, upper)
    }
  }

  // MARK: size

  /// Updates `sizeBytes`; called at the end of every change, which may make the bounds too wide.
  ///
  /// Reading a stored number copies nothing, whereas computing it from outside would copy the
  /// arrays.
  @inline(__always)
  mutating func measure() {
    isTight = false
    sizeBytes = sizeBytes(
      rows: count, bytes: bytes.count, lower: lower, upper: upper,
      hasExternals: !externals.isEmpty, hasNulls: !nulls.isEmpty,
      nanosecondsUpper: nanosecondsUpper)
  }

  /// The size bound with the rows of the right neighbour.
  func sizeBytes(with right: MutableColumn) -> Int {
    sizeBytes(
      rows: count + right.count, bytes: bytes.count + right.bytes.count,
      lower: min(lower, right.lower), upper: max(upper, right.upper),
      hasExternals: !externals.isEmpty || !right.externals.isEmpty,
      hasNulls: !nulls.isEmpty || !right.nulls.isEmpty,
      nanosecondsUpper: max(nanosecondsUpper, right.nanosecondsUpper))
  }

  /// At most this many bytes in the leaf, descriptors aside.
  @inline(__always)
  private func sizeBytes(
    rows: Int, bytes byteCount: Int, lower: Int64, upper: Int64, hasExternals: Bool,
    hasNulls: Bool, nanosecondsUpper: Int64
  ) -> Int {
    var size = hasNulls ? PackedArray.sizeBytes(count: rows, width: 1) : 0
    switch layout.storage {
    case .integers, .bools, .words32, .words64:
      size += PackedArray.sizeBytes(count: rows, width: numberWidth(lower, upper))
    case .dates:
      size += PackedArray.sizeBytes(count: rows, width: numberWidth(lower, upper))
      size += PackedArray.sizeBytes(count: rows, width: Self.width(0, nanosecondsUpper))
    case .fixed12, .fixed16: size += (byteCount + 7) / 8 * 8
    case .strings:
      let ends = PackedArray.width(forRange: UInt64(byteCount))
      let flags = hasExternals ? PackedArray.sizeBytes(count: rows, width: 1) : 0
      size += PackedArray.sizeBytes(count: rows, width: ends) + flags + (byteCount + 7) / 8 * 8
    }
    return size
  }

  // MARK: numbers

  @inline(__always)
  mutating func widen(_ number: Int64) {
    if number < lower { lower = number }
    if number > upper { upper = number }
  }

  @inline(__always)
  mutating func insert(_ number: Int64, at index: Int) {
    if index == numbers.count { numbers.append(number) } else { numbers.insert(number, at: index) }
    widen(number)
    measure()
  }

  @inline(__always)
  mutating func replace(_ number: Int64, at index: Int) {
    numbers[index] = number
    widen(number)
    measure()
  }

  // MARK: bytes

  func range(_ index: Int) -> Range<Int> {
    if isFixed {
      let size = layout.storage.fixedBytes
      return index * size..<(index + 1) * size
    }
    return (index == 0 ? 0 : Int(numbers[index - 1]))..<Int(numbers[index])
  }

  @inline(__always)
  func isExternal(_ index: Int) -> Bool { !externals.isEmpty && externals[index] }

  func isNull(_ index: Int) -> Bool { !nulls.isEmpty && nulls[index] }

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
    measure()
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
    measure()
  }

  // MARK: rows

  mutating func remove(at index: Int) {
    defer { measure() }
    if !nulls.isEmpty { nulls.remove(at: index) }
    switch layout.storage {
    case .fixed12, .fixed16:
      bytes.removeSubrange(range(index))
      return
    case .strings:
      let old = range(index)
      bytes.removeSubrange(old)
      for later in index + 1..<numbers.count { numbers[later] -= Int64(old.count) }
      if !externals.isEmpty { externals.remove(at: index) }
    case .dates: nanoseconds.remove(at: index)
    default: break
    }
    numbers.remove(at: index)
  }

  /// Cuts the rows from `index` on off and returns them.
  mutating func split(at index: Int) -> MutableColumn {
    var right = MutableColumn(layout)
    defer { measure() }
    func cut<Element>(_ array: inout [Element], at index: Int) -> [Element] {
      guard !array.isEmpty else { return [] }
      let tail = Array(array[index...])
      array.removeSubrange(index...)
      return tail
    }
    right.nulls = cut(&nulls, at: index)
    if isFixed {
      right.bytes = cut(&bytes, at: index * layout.storage.fixedBytes)
      right.measure()
      return right
    }
    right.numbers = cut(&numbers, at: index)
    right.nanoseconds = cut(&nanoseconds, at: index)
    right.externals = cut(&externals, at: index)
    if isStrings {
      let end = Int(numbers.last ?? 0)
      right.bytes = Array(bytes[end...])
      bytes.removeSubrange(end...)
      for row in right.numbers.indices { right.numbers[row] -= Int64(end) }
    } else {
      tighten()
      right.tighten()
    }
    right.measure()
    return right
  }

  /// Adds the rows of the right neighbour.
  mutating func append(_ right: MutableColumn) {
    let (rows, added) = (count, right.count)
    func join(_ left: inout [Bool], _ right: [Bool]) {
      guard !left.isEmpty || !right.isEmpty else { return }
      if left.isEmpty { left = [Bool](repeating: false, count: rows) }
      left += right.isEmpty ? [Bool](repeating: false, count: added) : right
    }
    join(&externals, right.externals)
    join(&nulls, right.nulls)
    let shift = isStrings ? Int64(bytes.count) : 0
    numbers += shift == 0 ? right.numbers : right.numbers.map { $0 + shift }
    bytes += right.bytes
    nanoseconds += right.nanoseconds
    nanosecondsUpper = max(nanosecondsUpper, right.nanosecondsUpper)
    lower = min(lower, right.lower)
    upper = max(upper, right.upper)
    measure()
  }

  /// Makes the bounds exact, and gives null rows a number that costs no width.
  mutating func tighten() {
    guard !isTight else { return }
    defer {
      measure()
      isTight = true
    }
    guard !isBytes else { return }
    if nulls.contains(true) {
      let present = numbers.indices.filter { !nulls[$0] }
      let filler = present.map { numbers[$0] }.min() ?? 0
      for row in numbers.indices where nulls[row] { numbers[row] = filler }
      if layout.storage == .dates {
        for row in nanoseconds.indices where nulls[row] { nanoseconds[row] = 0 }
      }
    }
    (lower, upper) = Self.bounds(numbers)
    nanosecondsUpper = nanoseconds.isEmpty ? 0 : Self.bounds(nanoseconds).upper
  }

  /// Takes bounds as wide as those of the stored numbers, which were copied just now: a column that
  /// does not change is written as it was, and none of its numbers is looked at.
  mutating func bound(like stored: PackedArray) {
    let isAny = layout.storage == .words64 && stored.width == 64
    lower = isAny ? .min : Int64(bitPattern: stored.base)
    let widest = stored.width == 0 ? 0 : UInt64.max >> (64 - stored.width)
    let (sum, overflows) = lower.addingReportingOverflow(Int64(clamping: widest))
    upper = isAny ? .max : sum
    // Numbers of 64 bits from some base on have other bounds than exact ones would be.
    guard isAny || (stored.width < 64 && !overflows) else { return tighten() }
    measure()
    isTight = true
  }

  /// The least and the greatest number, without a branch for each.
  private static func bounds(_ numbers: [Int64]) -> (lower: Int64, upper: Int64) {
    var bounds = (lower: Int64.max, upper: Int64.min)
    for number in numbers {
      bounds.lower = number < bounds.lower ? number : bounds.lower
      bounds.upper = number > bounds.upper ? number : bounds.upper
    }
    return bounds
  }
}
