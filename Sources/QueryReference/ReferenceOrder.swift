// ReferenceOrder.swift: how the naive evaluator holds values against each other.

import Engine

/// Orders of items.
enum ReferenceOrder {
  /// -1, 0 or 1; nil when two items are in no order.
  static func order(_ left: Item, _ right: Item) -> Int? {
    func sign<Key: Comparable>(_ left: Key, _ right: Key) -> Int {
      left < right ? -1 : left > right ? 1 : 0
    }
    func bytes(_ left: [UInt8], _ right: [UInt8]) -> Int {
      left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
    }
    switch (left, right) {
    case (.bool(let left), .bool(let right)): return sign(left ? 1 : 0, right ? 1 : 0)
    case (.text(let left), .text(let right)), (.bytes(let left), .bytes(let right)),
      (.objectId(let left), .objectId(let right)), (.uuid(let left), .uuid(let right)):
      return bytes(left, right)
    case (.date(let left, let leftPart), .date(let right, let rightPart)):
      if left != right { return sign(left, right) }
      let isFine = max(leftPart, rightPart) >= 1_000_000_000
      guard isFine else { return sign(leftPart, rightPart) }
      let (time, other) = (since2001(left, leftPart), since2001(right, rightPart))
      return time == other ? sign(leftPart, rightPart) : sign(time, other)
    case (.row(let left, let leftKey), .row(let right, let rightKey)):
      // Classes are ordered as in the schema.
      let names = Kennel.tables.map(\.schema.name)
      return left == right
        ? sign(leftKey, rightKey)
        : sign(
          names.firstIndex(of: left) ?? names.count, names.firstIndex(of: right) ?? names.count)
    default: break
    }
    if isDecimal(left) || isDecimal(right) {
      guard let left = decimal(left), let right = decimal(right), !left.isNaN, !right.isNaN else {
        return nil
      }
      return Decimal128.compare(left, right)
    }
    guard let left = parts(left), let right = parts(right) else { return nil }
    return left.whole == right.whole
      ? sign(left.fraction, right.fraction) : sign(left.whole, right.whole)
  }

  /// Seconds since 2001 in the precision of Foundation's dates, for two dates in one second, one of
  /// which has that precision.
  private static func since2001(_ seconds: Int64, _ part: Int64) -> Double {
    if part >= 1_000_000_000 {
      let size = Double(bitPattern: UInt64(part) ^ 0x7ffc_0000_0000_0000)
      return seconds < 978_307_200 ? -size : size
    }
    return Double(seconds) + Double(part) / 1e9 - 978_307_200
  }

  /// A number as an integer and a fraction from 0 up to 1; integers beyond 80 bits are capped, with
  /// the rest in the fraction.
  private static func parts(_ item: Item) -> (whole: Int128, fraction: Double)? {
    let number: Double
    switch item {
    case .int(let int): return (Int128(int), 0)
    case .float(let float): number = Double(float)
    case .double(let double): number = double
    default: return nil
    }
    if number.isNaN { return nil }
    if number >= 0x1p80 { return (1 << 80, number) }
    if number <= -0x1p80 { return (-(1 << 80), number) }
    let floor = number.rounded(.down)
    return (Int128(floor), number - floor)
  }

  private static func isDecimal(_ item: Item) -> Bool {
    if case .decimal = item { true } else { false }
  }

  static func decimal(_ item: Item) -> Decimal128? {
    switch item {
    case .int(let number): Decimal128(String(number))
    case .float(let number): Decimal128("\(number)")
    case .double(let number): Decimal128("\(number)")
    case .decimal(let number): number
    default: nil
    }
  }

  static func isNaN(_ item: Item) -> Bool {
    switch item {
    case .float(let number): number.isNaN
    case .double(let number): number.isNaN
    case .decimal(let number): number.isNaN
    default: false
    }
  }

  /// The order of SORT.
  static func total(_ left: Item, _ right: Item) -> Int {
    func group(_ item: Item) -> Int {
      switch item {
      case .null: 0
      case .bool: 1
      case .int, .float, .double, .decimal: isNaN(item) ? 2 : 3
      case .text: 4
      case .bytes: 5
      case .date: 6
      case .objectId: 7
      case .uuid: 8
      case .row: 9
      case .kinds: 10
      }
    }
    let groups = (group(left), group(right))
    if groups.0 != groups.1 { return groups.0 < groups.1 ? -1 : 1 }
    if groups.0 == 3, isDecimal(left) || isDecimal(right) { return exact(left, right) }
    return order(left, right) ?? 0
  }

  /// The order of two numbers by all their digits.
  private static func exact(_ left: Item, _ right: Item) -> Int {
    let (first, second) = (digits(left), digits(right))
    if first.sign != second.sign { return first.sign < second.sign ? -1 : 1 }
    if first.sign == 0 { return 0 }
    if first.point != second.point { return first.point < second.point ? -first.sign : first.sign }
    for index in 0..<max(first.digits.count, second.digits.count) {
      let digit = index < first.digits.count ? first.digits[index] : 0
      let other = index < second.digits.count ? second.digits[index] : 0
      if digit != other { return digit < other ? -first.sign : first.sign }
    }
    return 0
  }

  /// A number that is not NaN: ±0.digits × 10^point; an infinity has a point beyond all others.
  private static func digits(_ item: Item) -> (sign: Int, digits: [Int], point: Int) {
    func trimmed(_ sign: Int, _ digits: [Int], _ point: Int) -> (Int, [Int], Int) {
      let zeros = digits.prefix { $0 == 0 }.count
      return zeros == digits.count ? (0, [], 0) : (sign, Array(digits[zeros...]), point - zeros)
    }
    switch item {
    case .int(let number):
      let digits = String(number.magnitude).compactMap(\.wholeNumberValue)
      return trimmed(number < 0 ? -1 : 1, digits, digits.count)
    case .float(let number): return self.digits(.double(Double(number)))
    case .double(let number):
      let sign = number < 0 ? -1 : 1
      if number.isInfinite { return (sign, [1], 100_000) }
      if number == 0 { return (0, [], 0) }
      // The significand, times 2 or 5 as often as the exponent says, with decimal digits.
      var digits = String(number.magnitude.significandBitPattern | (number.isNormal ? 1 << 52 : 0))
        .compactMap(\.wholeNumberValue)
      let power = max(Int(number.exponentBitPattern), 1) - 1075
      for _ in 0..<abs(power) {
        var carry = 0
        for index in digits.indices.reversed() {
          let product = digits[index] * (power < 0 ? 5 : 2) + carry
          (digits[index], carry) = (product % 10, product / 10)
        }
        if carry > 0 { digits.insert(carry, at: 0) }
      }
      return trimmed(sign, digits, digits.count + min(power, 0))
    case .decimal(let number):
      let text = number.description
      let sign = text.hasPrefix("-") ? -1 : 1
      if text.hasSuffix("Infinity") { return (sign, [1], 100_000) }
      let parts = text.split(separator: "E")
      let whole = parts[0].split(separator: ".", omittingEmptySubsequences: false)
      let digits = parts[0].compactMap(\.wholeNumberValue)
      let before = whole[0].compactMap(\.wholeNumberValue).count
      return trimmed(sign, digits, before + (parts.count > 1 ? Int(parts[1]).known : 0))
    default: return (0, [], 0)
    }
  }
}
