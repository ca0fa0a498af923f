// PlainOperators.swift: operators whose operands are all values.

/// Evaluates operators.
enum PlainOperators {
  static func value(_ name: String, _ values: [PlainValue]) throws -> PlainValue {
    switch name {
    case "||": return try PlainFunctions.value("concat", values)
    case "IS VALUED":
      return .integer(values[0] == .missing || values[0] == .null ? 0 : 1)
    default: break
    }
    // All others are missing where an operand is.
    if name == "BETWEEN" { return try between(values) }
    guard !values.contains(.missing) else { return .missing }
    switch name {
    case "NOT": return .integer(values[0].truth == true ? 0 : 1)
    case "=", "!=": return .integer(try values[0].equals(values[1]) == (name == "=") ? 1 : 0)
    case "<": return .integer(try values[0].order(values[1]) < 0 ? 1 : 0)
    case "<=": return .integer(try values[0].order(values[1]) <= 0 ? 1 : 0)
    case ">": return .integer(try values[0].order(values[1]) > 0 ? 1 : 0)
    case ">=": return .integer(try values[0].order(values[1]) >= 0 ? 1 : 0)
    case "LIKE": return try like(values[0], values[1])
    case "-" where values.count == 1: return try negated(values[0].number)
    case "+", "-", "*", "/", "%":
      var result = values[0].number
      for value in values.dropFirst() {
        result = try arithmetic(name, result, value.number)
        if result == .missing { return .missing }
      }
      return result
    default: throw PlainValue.Open()
    }
  }

  private static func between(_ values: [PlainValue]) throws -> PlainValue {
    let (low, high) = (
      try value(">=", [values[0], values[1]]), try value("<=", [values[0], values[2]])
    )
    if low.truth == false || high.truth == false { return .integer(0) }
    return low == .missing || high == .missing ? .missing : .integer(1)
  }

  private static func negated(_ value: PlainValue) throws -> PlainValue {
    switch value {
    case .integer(let number): .integer(-number)
    default: .real(-value.double)
    }
  }

  private static func arithmetic(
    _ name: String, _ first: PlainValue, _ second: PlainValue
  ) throws -> PlainValue {
    if name == "%" {
      let (one, two) = (Int64(first.double), Int64(second.double))
      guard two != 0 else { return .missing }
      let rest = one % two
      if case .integer = first, case .integer = second { return .integer(rest) }
      return .real(Double(rest))
    }
    if case .integer(let one) = first, case .integer(let two) = second {
      switch name {
      case "+": return .integer(one + two)
      case "-": return .integer(one - two)
      case "*":
        let (product, overflows) = one.multipliedReportingOverflow(by: two)
        if overflows { throw PlainValue.Open() }
        return .integer(product)
      default: return two == 0 ? .missing : .integer(one / two)
      }
    }
    let (one, two) = (first.double, second.double)
    switch name {
    case "+": return .real(one + two)
    case "-": return .real(one - two)
    case "*": return .real(one * two)
    default: return two == 0 ? .missing : .real(one / two)
    }
  }

  private static func like(_ text: PlainValue, _ pattern: PlainValue) throws -> PlainValue {
    guard case .text(let text) = text, case .text(let pattern) = pattern else {
      throw PlainValue.Open()
    }
    return .integer(
      like(Array(text.unicodeScalars)[...], Array(pattern.unicodeScalars)[...]) ? 1 : 0)
  }

  private static func like(
    _ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>
  ) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    if first == "%" {
      return (0...text.count).contains { like(text.dropFirst($0), pattern.dropFirst()) }
    }
    guard let letter = text.first, first == "_" || first == letter else { return false }
    return like(text.dropFirst(), pattern.dropFirst())
  }
}
