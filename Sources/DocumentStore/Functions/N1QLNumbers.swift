// N1QLNumbers.swift: functions of numbers; their results are doubles, and null where there is none.

import Fleece
import GRDBSQLite

#if canImport(Glibc)
  import Glibc
#endif

/// Functions of numbers.
enum N1QLNumbers {
  static let all: [SQLFunction] =
    [
      one("abs") { abs($0) }, one("acos") { acos($0) }, one("asin") { asin($0) },
      one("atan") { atan($0) }, one("ceil") { ceil($0) }, one("cos") { cos($0) },
      one("degrees") { $0 * 180 / .pi }, one("exp") { exp($0) }, one("floor") { floor($0) },
      one("ln") { log($0) }, one("log") { log10($0) }, one("radians") { $0 * .pi / 180 },
      one("sin") { sin($0) }, one("sqrt") { sqrt($0) }, one("tan") { tan($0) },
      two("atan2") { atan2($0, $1) }, two("power") { pow($0, $1) }, two("div") { $0 / $1 },
      SQLFunction(name: "e", argumentCount: 0) { $0.result(M_E) },
      SQLFunction(name: "pi", argumentCount: 0) { $0.result(Double.pi) },
      SQLFunction(name: "sign", argumentCount: 1) { call in
        if call.endsForAbsent() { return }
        guard let number = call.number(0), !number.isNaN else { return call.resultNull() }
        call.result(Int64(number > 0 ? 1 : number < 0 ? -1 : 0))
      },
      SQLFunction(name: "idiv", argumentCount: 2, body: divide),
    ] + rounding("round", .toNearestOrAwayFromZero) + rounding("round_even", .toNearestOrEven)
    + rounding("trunc", .towardZero)

  private static func one(
    _ name: String, _ function: @escaping @Sendable (Double) -> Double
  ) -> SQLFunction {
    SQLFunction(name: name, argumentCount: 1) { call in
      if call.endsForAbsent() { return }
      guard let number = call.number(0) else { return call.resultNull() }
      call.result(finite: function(number))
    }
  }

  private static func two(
    _ name: String, _ function: @escaping @Sendable (Double, Double) -> Double
  ) -> SQLFunction {
    SQLFunction(name: name, argumentCount: 2) { call in
      if call.endsForAbsent() { return }
      guard let first = call.number(0), let second = call.number(1) else {
        return call.resultNull()
      }
      call.result(finite: function(first, second))
    }
  }

  /// Division of whole numbers; null by 0, and where the result is none.
  private static func divide(_ call: FunctionCall) {
    if call.endsForAbsent() { return }
    guard let first = call.number(0), let second = call.number(1) else { return call.resultNull() }
    if call.kind(0) == .integer, call.kind(1) == .integer {
      let (divisor, dividend) = (call.integer(1), call.integer(0))
      guard divisor != 0 else { return call.resultNull() }
      let (quotient, overflows) = dividend.dividedReportingOverflow(by: divisor)
      return overflows ? call.resultNull() : call.result(quotient)
    }
    guard let quotient = Int64(exactly: (first / second).rounded(.towardZero)) else {
      return call.resultNull()
    }
    call.result(quotient)
  }

  private static func rounding(
    _ name: String, _ rule: FloatingPointRoundingRule
  ) -> [SQLFunction] {
    ([1, 2] as [Int32]).map { count in
      SQLFunction(name: name, argumentCount: count) { call in
        if call.endsForAbsent() { return }
        guard let number = call.number(0) else { return call.resultNull() }
        guard count == 2 else { return call.result(finite: number.rounded(rule)) }
        guard let digits = call.number(1), digits.isFinite else { return call.resultNull() }
        let scale = pow(10, max(-400, min(400, digits.rounded(.towardZero))))
        let scaled = number * scale
        // Beyond the precision of a double there is nothing to round.
        guard scale > 0, scale.isFinite, scaled.isFinite else {
          return call.result(finite: scale > 0 ? number : 0)
        }
        call.result(finite: scaled.rounded(rule) / scale)
      }
    }
  }
}
