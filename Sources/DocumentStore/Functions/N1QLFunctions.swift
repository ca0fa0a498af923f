// N1QLFunctions.swift: the functions of the query language, by their names in SQL; each group has
// its own file. Arguments and results are values in the form of `SQLValue.swift`. The rule for
// absent values, unless a file states otherwise: missing when an argument is missing, else null
// when one is null, or of a kind that the function does not support.

import Fleece

/// The SQL functions of the query language.
enum N1QLFunctions {
  static let all =
    N1QLResults.all + N1QLChoices.all + N1QLKinds.all + N1QLNumbers.all + N1QLTexts.all
    + N1QLPatterns.all + N1QLArrays.all + N1QLDates.all + LikeFunctions.all
}

extension FunctionCall {
  /// Whether an argument is JSON's null.
  func isNull(_ index: Int) -> Bool {
    kind(index) == .blob && bytes(index).count == 0 && subtype(index) != SQLSubtype.bytes
  }

  /// Sets the result of a call with a missing or a null argument.
  /// - Returns: Whether there was one.
  func endsForAbsent() -> Bool {
    for index in 0..<count where kind(index) == .null {
      resultMissing()
      return true
    }
    for index in 0..<count where isNull(index) {
      resultNull()
      return true
    }
    return false
  }

  /// A number; nil for other kinds.
  ///
  /// Booleans are 0 and 1.
  func number(_ index: Int) -> Double? {
    switch kind(index) {
    case .integer, .real: real(index)
    default: nil
    }
  }

  /// A text; nil for other kinds.
  func text(_ index: Int) -> String? { kind(index) == .text ? bytes(index).text : nil }

  func result(text: String) {
    FleeceBytes.over(text) { (view: FleeceBytes) in result(text: view) }
  }

  /// Sets a number as the result; null for NaN and infinities.
  func result(finite value: Double) {
    if value.isFinite { result(value) } else { resultNull() }
  }
}
