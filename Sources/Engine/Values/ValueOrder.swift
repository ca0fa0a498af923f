// ValueOrder.swift: the one order of values of all types, used for sorting, for distinct values,
// and for the smallest or greatest: null, false, true, numbers, texts, bytes, dates, ObjectIds,
// UUIDs, links. Numbers of all types are ordered by their exact mathematical value. Invariants: the
// order is total and transitive; -0 is 0, 1.0 is 1.00, an int is the double of its value, and all
// NaNs are one, before all other numbers; two values are equal in it exactly when `byValue` is the
// same. `Value.order` instead distinguishes all bits: files store sets in that order.

extension Value {
  /// The rank of a value's kind.
  private var kind: UInt8 {
    switch self {
    case .null: 0
    case .bool: 1
    case .int, .float, .double, .decimal128: 2
    case .string: 3
    case .binary: 4
    case .date: 5
    case .objectId: 6
    case .uuid: 7
    case .link, .typedLink: 8
    case .list, .set, .dictionary: 9
    }
  }

  /// Negative, 0 or positive, as the left value sorts before, with or after the right one.
  package static func orderByValue(_ left: Value, _ right: Value) -> Int {
    switch (left, right) {
    case (.int(let left), .int(let right)): return left < right ? -1 : left == right ? 0 : 1
    case (.double(let left), .double(let right)): return order(left, right)
    case (.float(let left), .float(let right)): return order(Double(left), Double(right))
    case (.decimal128(let left), .decimal128(let right)): return Decimal128.compare(left, right)
    default: break
    }
    let (leftKind, rightKind) = (left.kind, right.kind)
    guard leftKind == rightKind else { return leftKind < rightKind ? -1 : 1 }
    switch leftKind {
    case 2: return orderOfNumbers(left, right)
    case 9: return 0
    default: return order(left, right)
    }
  }

  private static func order(_ left: Double, _ right: Double) -> Int {
    if left < right { return -1 }
    if left > right { return 1 }
    return left == right ? 0 : (left.isNaN ? 0 : 1) - (right.isNaN ? 0 : 1)
  }

  private static func order(_ left: Int64, _ right: Double) -> Int {
    if right >= 0x1p63 { return -1 }
    if right < -0x1p63 || right.isNaN { return 1 }
    let whole = Int64(right)
    guard left == whole else { return left < whole ? -1 : 1 }
    return order(0.0, right - Double(whole))
  }

  private static func orderOfNumbers(_ left: Value, _ right: Value) -> Int {
    switch (left, right) {
    case (.decimal128(let left), .int(let right)):
      return Decimal128.compare(left, Decimal128(right))
    case (.decimal128(let left), _): return Decimal128.compare(left, right.binary)
    case (_, .decimal128): return -orderOfNumbers(right, left)
    case (.int(let left), _): return order(left, right.binary)
    case (_, .int(let right)): return -order(right, left.binary)
    default: return order(left.binary, right.binary)
    }
  }

  private var binary: Double {
    switch self {
    case .float(let number): Double(number)
    case .double(let number): number
    default: preconditionFailure("ints and decimals are ordered as such")
    }
  }

  /// One representative for all equal values: for a number the int, else the double, else the
  /// decimal without trailing zeros, that has its value.
  package var byValue: Value {
    switch self {
    case .float(let number): Value.byValue(Double(number))
    case .double(let number): Value.byValue(number)
    case .decimal128(let number):
      if let whole = Int64(exactly: number) {
        .int(whole)
      } else if Decimal128.compare(number, Double(number)) == 0 {
        Value.byValue(Double(number))
      } else {
        .decimal128(number.withoutZeros)
      }
    default: self
    }
  }

  private static func byValue(_ number: Double) -> Value {
    if number.isNaN { return .double(.nan) }
    return Int64(exactly: number).map { .int($0) } ?? .double(number)
  }

  // MARK: smallest and greatest

  /// Whether it can be a smallest or greatest value: a number that is not NaN, or a date.
  private var hasSize: Bool {
    switch self {
    case .int: true
    case .float(let number): !number.isNaN
    case .double(let number): !number.isNaN
    case .decimal128(let number): !number.isNaN
    case .date: self != .firstDate
    default: false
    }
  }

  private var withPlainZero: Value {
    switch self {
    case .float(let number) where number == 0: .float(0)
    case .double(let number) where number == 0: .double(0)
    default: self
    }
  }

  /// The smaller or greater of two values, ignoring those without a size; of equal values the one
  /// with the smaller or greater bits, so that the result does not depend on the order of the
  /// values.
  package static func extreme(_ known: Value?, _ value: Value, isGreatest: Bool) -> Value? {
    guard value.hasSize else { return known }
    // A scan of a column in place gives the same zero.
    let value = value.withPlainZero
    guard let known else { return value }
    let order = orderByValue(value, known)
    let isNearer = order == 0 ? Value.precedes(value, known) : (order > 0) == isGreatest
    return isNearer ? value : known
  }
}

extension Decimal128 {
  /// Compares with the exact value of a binary number: -1, 0 or 1; NaNs are equal and come before
  /// all.
  static func compare(_ left: Decimal128, _ right: Double) -> Int {
    guard left.isFinite, right.isFinite, right != 0, !left.isZero else {
      return compare(left, Decimal128(right))
    }
    guard left.isNegative == (right < 0) else { return left.isNegative ? -1 : 1 }
    let order = compareMagnitudes(left, exactDigits(of: right.magnitude))
    return left.isNegative ? -order : order
  }

  private static func compareMagnitudes(_ left: Decimal128, _ right: DecimalDigits) -> Int {
    let (digits, otherDigits) = (
      PowersOfTen.digits(left.coefficient), PowersOfTen.digits(right.coefficient)
    )
    let (leading, otherLeading) = (left.exponent + digits, right.exponent + otherDigits)
    guard leading == otherLeading else { return leading < otherLeading ? -1 : 1 }
    // Both scaled to the number of digits kept for a binary number.
    let first = left.coefficient * PowersOfTen.all[DecimalDigits.countMax - digits]
    let second = right.coefficient * PowersOfTen.all[DecimalDigits.countMax - otherDigits]
    guard first == second else { return first < second ? -1 : 1 }
    return right.hasFraction ? -1 : 0
  }

  /// The same number with the greatest exponent that it can have.
  fileprivate var withoutZeros: Decimal128 {
    guard isFinite, !isZero else { return isNaN ? .nan : self }
    let (kept, zeros) = PowersOfTen.withoutTrailingZeros(
      coefficient, atMost: Self.exponentMax - exponent)
    return Decimal128(isNegative: isNegative, coefficient: kept, exponent: exponent + zeros)
  }
}

// MARK: decimals of one value

extension Decimal128 {
  /// All bits as one number, the order of decimals in sets.
  package var bits: UInt128 { UInt128(high) << 64 | UInt128(low) }

  /// The zero of the next greater exponent and the same sign; nil after the last one.
  package var nextExponent: Decimal128? {
    guard isFinite, exponent < Self.exponentMax else { return nil }
    return Decimal128(isNegative: isNegative, coefficient: 0, exponent: exponent + 1)
  }

  /// Ranges by bits that contain all numbers of this value: each range is a single number; for
  /// zero, one range per sign, with other numbers in between.
  package var rangesOfValue: [(first: Decimal128, last: Decimal128)] {
    if isNaN {
      return [0, 1 << 63].map { sign in
        (
          Decimal128(high: 0x7c00 << 48 | sign, low: 0),
          Decimal128(high: 0x7fff_ffff_ffff_ffff | sign, low: .max)
        )
      }
    }
    if isZero {
      return [false, true].map { isNegative in
        (
          Decimal128(isNegative: isNegative, coefficient: 0, exponent: Self.exponentMin),
          Decimal128(high: isNegative ? 0xf7ff << 48 : 0x77ff << 48, low: .max)
        )
      }
    }
    guard isFinite else { return [(self, self)] }
    var ranges: [(first: Decimal128, last: Decimal128)] = []
    var number = withoutZeros
    while true {
      ranges.append((number, number))
      let (coefficient, overflow) = number.coefficient.multipliedReportingOverflow(by: 10)
      guard !overflow, coefficient <= Self.coefficientMax, number.exponent > Self.exponentMin else {
        return ranges
      }
      number = Decimal128(
        isNegative: isNegative, coefficient: coefficient, exponent: number.exponent - 1)
    }
  }
}
