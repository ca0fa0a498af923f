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
      // Classes stand as in the schema.
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

  /// Seconds since 2001 in the precision of Foundation's dates, for two dates of one second of which
  /// one has such a precision.
  private static func since2001(_ seconds: Int64, _ part: Int64) -> Double {
    if part >= 1_000_000_000 {
      let size = Double(bitPattern: UInt64(part) ^ 0x7ffc_0000_0000_0000)
      return seconds < 978_307_200 ? -size : size
    }
    return Double(seconds) + Double(part) / 1e9 - 978_307_200
  }

  /// A number as a whole one and a fraction from 0 up to 1; whole numbers beyond 80 bits stand at
  /// the ends, with all that is left of them in the fraction.
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
    return order(left, right) ?? 0
  }
}
