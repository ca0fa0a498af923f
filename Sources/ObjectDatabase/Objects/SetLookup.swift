// SetLookup.swift: finds a number in the elements of a set by its value. Files store sets in an
// order that distinguishes all bits and types, so elements of one value are in several places: -0
// before 0, NaNs at both ends, 1.0 and 1.00 by their exponents, 5 and 5.0 by their types.
// Invariant: each range holds only elements of the value.

import Engine

/// The places where elements with the value of a number may be in a set.
struct SetLookup {
  /// From the first to the last, in the order of `Value.order`.
  private var ranges: [(first: Value, last: Value)] = []
  /// The value as a decimal, if decimals may have it; these are searched last.
  private var decimal: Decimal128?

  /// Nil for a value and a column where equal values have equal bits.
  init?(_ value: Value, _ column: ColumnType?) {
    switch column {
    case .float, .double, .decimal128, .mixed: break
    default: return nil
    }
    let number = value.byValue
    switch number {
    case .int, .double, .decimal128: break
    default: return nil
    }
    if column == .mixed, case .int = number { ranges.append((number, number)) }
    if column == .mixed || column == .float { addFloats(number) }
    if column == .mixed || column == .double { addDoubles(number) }
    if column == .mixed || column == .decimal128 { decimal = Self.decimal(number) }
  }

  private static func double(_ number: Value) -> Double? {
    switch number {
    case .int(let whole): Double(exactly: whole)
    case .double(let number): number
    default: nil
    }
  }

  /// A decimal with the value, if 34 digits can express it.
  private static func decimal(_ number: Value) -> Decimal128? {
    let decimal: Decimal128? =
      switch number {
      case .int(let whole): Decimal128(whole)
      case .double(let number): Decimal128(number)
      case .decimal128(let number): number
      default: nil
      }
    return decimal.flatMap { Value.orderByValue(.decimal128($0), number) == 0 ? $0 : nil }
  }

  private mutating func addFloats(_ number: Value) {
    guard let double = Self.double(number) else { return }
    if double.isNaN {
      let (least, most) = (Float.infinity.bitPattern + 1, UInt32.max >> 1)
      for sign in [0, 1 << 31] as [UInt32] { add(floats: least | sign, most | sign) }
    } else if double == 0 {
      ranges.append((.float(-0.0), .float(0)))
    } else if let float = Float(exactly: double) {
      ranges.append((.float(float), .float(float)))
    }
  }

  private mutating func add(floats first: UInt32, _ last: UInt32) {
    // Negative ones have the reverse order.
    let ends = [Value.float(Float(bitPattern: first)), .float(Float(bitPattern: last))]
    ranges.append(first >> 31 == 0 ? (ends[0], ends[1]) : (ends[1], ends[0]))
  }

  private mutating func addDoubles(_ number: Value) {
    guard let double = Self.double(number) else { return }
    if double.isNaN {
      let (least, most) = (Double.infinity.bitPattern + 1, UInt64.max >> 1)
      ranges.append((.double(Double(bitPattern: least)), .double(Double(bitPattern: most))))
      ranges.append(
        (.double(Double(bitPattern: .max)), .double(Double(bitPattern: least | 1 << 63))))
    } else if double == 0 {
      ranges.append((.double(-0.0), .double(0)))
    } else {
      ranges.append((.double(double), .double(double)))
    }
  }

  /// The first element that has the value.
  /// - Complexity: O(log elements), and as often for each exponent that a decimal can have; for a
  ///   decimal zero for each that there is.
  func element(
    count: Int, at element: (Int) throws(EngineError) -> Value
  ) throws(EngineError) -> Value? {
    /// The first element that is not before a value.
    func start(_ value: Value) throws(EngineError) -> Value? {
      var (lower, upper) = (0, count)
      while lower < upper {
        let middle = (lower + upper) / 2
        let isBefore = Value.order(try element(middle), value) < 0
        if isBefore { lower = middle + 1 } else { upper = middle }
      }
      return lower < count ? try element(lower) : nil
    }
    for range in ranges {
      if let found = try start(range.first), Value.order(found, range.last) <= 0 { return found }
    }
    guard let decimal, case .decimal128? = try start(.decimal128(Decimal128(high: 0, low: 0)))
    else { return nil }
    for range in decimal.rangesOfValue {
      var first = Value.decimal128(range.first)
      while case .decimal128(let found)? = try start(first), found.bits <= range.last.bits {
        if found == decimal { return .decimal128(found) }
        // Between two zeros are other numbers of one exponent: skip to the next.
        guard let next = found.nextExponent else { break }
        first = .decimal128(next)
      }
    }
    return nil
  }
}
