// Numbers.swift: comparisons and arithmetic of numbers of several types. Comparisons are exact: an
// int is never rounded to be compared with a double. Compared with a decimal, a binary number is
// the decimal with the fewest digits that reads back to it, so 1.1 is 1.1.

import Engine

/// Comparison and arithmetic of numeric values.
enum Numbers {
  /// The value of a number in a query's text, given the type of the other operands.
  static func value(_ text: String, _ hint: OperandType?) -> Value {
    let isFloat = text.last == "f" || text.last == "F"
    let digits = isFloat ? String(text.dropLast()) : text
    if isFloat || hint == .float { return .float(Float(digits) ?? .nan) }
    if hint == .decimal { return .decimal128(Decimal128(digits) ?? .nan) }
    return .double(Double(digits) ?? .nan)
  }

  /// The operand that a text in quotes stands for beside a number; nil when it is none.
  static func written(_ text: String) -> Binder.Bound? {
    let digits = text.utf8
    guard !digits.isEmpty, digits.count <= QueryLimits.numberBytesMax else { return nil }
    if let int = Int64(text) { return Binder.Bound(operand: .value(.int(int)), type: .int) }
    let unsigned = digits.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
    guard digits.count - unsigned.count <= 1 else { return nil }
    switch String(Substring(unsigned)).lowercased() {
    case "inf", "infinity":
      let isNegative = digits.first == UInt8(ascii: "-")
      return Binder.Bound(
        operand: .value(.double(isNegative ? -.infinity : .infinity)), type: .double)
    case "nan": return Binder.Bound(operand: .value(.double(.nan)), type: .double)
    default: break
    }
    let isPlain = digits.allSatisfy { Lexer.isDigit($0) || "+-.eE".utf8.contains($0) }
    guard isPlain, Double(text) != nil else { return nil }
    return Binder.Bound(operand: .number(text), type: .number)
  }

  /// A number as a double, rounded; nil when it is none.
  static func double(_ value: Value) -> Double? {
    switch value {
    case .int(let number): Double(number)
    case .float(let number): Double(number)
    case .double(let number): number
    case .decimal128(let number): Double("\(number)") ?? .nan
    default: nil
    }
  }

  private static func decimal(_ value: Value) -> Decimal128? {
    switch value {
    case .int(let number): Decimal128(number)
    case .float(let number): Decimal128("\(number)")
    case .double(let number): Decimal128(shortest: number)
    case .decimal128(let number): number
    default: nil
    }
  }

  /// Whether a value is a number.
  static func isNumber(_ value: Value) -> Bool {
    switch value {
    case .int, .float, .double, .decimal128: true
    default: false
    }
  }

  // MARK: order

  private static func order(_ left: Double, _ right: Double) -> Int? {
    left < right ? -1 : left == right ? 0 : left > right ? 1 : nil
  }

  private static func order(_ left: Int64, _ right: Double) -> Int? {
    if right.isNaN { return nil }
    if right >= 0x1p63 { return -1 }
    if right < -0x1p63 { return 1 }
    let whole = Int64(right)
    guard left == whole else { return left < whole ? -1 : 1 }
    return order(0.0, right - Double(whole))
  }

  /// -1, 0 or 1 as the left number is below, equal to or above the right one; nil with a NaN, or
  /// when one of them is not a number.
  static func order(_ left: Value, _ right: Value) -> Int? {
    switch (left, right) {
    case (.int(let left), .int(let right)): return left < right ? -1 : left == right ? 0 : 1
    case (.decimal128, _), (_, .decimal128):
      guard let left = decimal(left), let right = decimal(right), !left.isNaN, !right.isNaN else {
        return nil
      }
      return Decimal128.compare(left, right)
    case (.int(let left), _): return double(right).flatMap { order(left, $0) }
    case (_, .int(let right)): return double(left).flatMap { order(right, $0) }.map { -$0 }
    default:
      guard let left = double(left), let right = double(right) else { return nil }
      return order(left, right)
    }
  }

  // MARK: arithmetic

  /// The result of an operator; null when an operand is not a number, when integers overflow and
  /// when an integer is divided by 0.
  static func result(
    _ left: Value, _ arithmetic: ArithmeticOperator, _ right: Value
  ) -> Value {
    switch (left, right) {
    case (.int(let left), .int(let right)):
      let (number, overflow) =
        switch arithmetic {
        case .add: left.addingReportingOverflow(right)
        case .subtract: left.subtractingReportingOverflow(right)
        case .multiply: left.multipliedReportingOverflow(by: right)
        case .divide: left.dividedReportingOverflow(by: right)
        }
      return overflow ? .null : .int(number)
    case (.decimal128, _), (_, .decimal128):
      guard let left = decimal(left), let right = decimal(right) else { return .null }
      return .decimal128(result(left, arithmetic, right))
    case (.float(let left), .float(let right)): return .float(result(left, arithmetic, right))
    default:
      guard let left = double(left), let right = double(right) else { return .null }
      return .double(result(left, arithmetic, right))
    }
  }

  private static func result(
    _ left: Decimal128, _ arithmetic: ArithmeticOperator, _ right: Decimal128
  ) -> Decimal128 {
    switch arithmetic {
    case .add: left + right
    case .subtract: left - right
    case .multiply: left * right
    case .divide: left / right
    }
  }

  private static func result<Number: BinaryFloatingPoint>(
    _ left: Number, _ arithmetic: ArithmeticOperator, _ right: Number
  ) -> Number {
    switch arithmetic {
    case .add: left + right
    case .subtract: left - right
    case .multiply: left * right
    case .divide: left / right
    }
  }

  // MARK: aggregates

  /// The length of a text or binary in bytes; null for other values.
  static func length(_ value: Value) -> Value {
    switch value {
    case .string(let text): .int(Int64(text.utf8.count))
    case .binary(let bytes): .int(Int64(bytes.count))
    default: .null
    }
  }

  /// The sum or the average of the numbers among values of any type, in decimal; NaNs play no part.
  static func mixedSum(_ values: [Value], isAverage: Bool) -> Value {
    var sum = Decimal128.zero
    var count: Int64 = 0
    for value in values {
      guard let number = decimal(value), !number.isNaN else { continue }
      sum = sum + number
      count += 1
    }
    guard isAverage else { return .decimal128(sum) }
    return count == 0 ? .null : .decimal128(sum / Decimal128(count))
  }

  /// The first or the last of values of any type in the order of SORT, without nulls and NaNs.
  static func mixedExtreme(_ values: [Value], isGreatest: Bool) -> Value {
    var found: Value?
    for value in values where value != .null && !isNaN(value) {
      guard let known = found else {
        found = value
        continue
      }
      let order = Value.orderByValue(value, known)
      if order != 0, (order > 0) == isGreatest { found = value }
    }
    return found ?? .null
  }

  private static func isNaN(_ value: Value) -> Bool {
    switch value {
    case .float(let number): number.isNaN
    case .double(let number): number.isNaN
    case .decimal128(let number): number.isNaN
    default: false
    }
  }

  /// The sum of the numbers among some values: an int when all are ints, null when it is not a
  /// 64-bit number then; a decimal when one is; else a double.
  static func sum(_ values: [Value], empty: Value) -> Value {
    let numbers = values.filter(isNumber)
    guard !numbers.isEmpty else { return empty }
    if numbers.contains(where: { if case .decimal128 = $0 { true } else { false } }) {
      return .decimal128(numbers.reduce(.zero) { $0 + (decimal($1) ?? .zero) })
    }
    var whole: Int128 = 0
    var isWhole = true
    var sum = 0.0
    for number in numbers {
      if case .int(let number) = number { whole += Int128(number) } else { isWhole = false }
      sum += double(number) ?? 0
    }
    guard isWhole else { return .double(sum) }
    return Int64(exactly: whole).map { .int($0) } ?? .null
  }

  /// The average of the numbers among some values; null when there are none.
  static func average(_ values: [Value]) -> Value {
    let numbers = values.filter(isNumber)
    guard !numbers.isEmpty else { return .null }
    if numbers.contains(where: { if case .decimal128 = $0 { true } else { false } }) {
      let sum = numbers.reduce(Decimal128.zero) { $0 + (decimal($1) ?? .zero) }
      return .decimal128(sum / Decimal128(Int64(numbers.count)))
    }
    var sum = 0.0
    for number in numbers { sum += double(number) ?? 0 }
    return .double(sum / Double(numbers.count))
  }

  /// The smallest or the greatest of the numbers and dates among some values, without NaNs.
  ///
  /// Null when there are none.
  static func extreme(_ values: [Value], isGreatest: Bool) -> Value {
    var found: Value?
    for value in values { found = Value.extreme(found, value, isGreatest: isGreatest) }
    return found ?? .null
  }
}
