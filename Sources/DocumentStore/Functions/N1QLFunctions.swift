// N1QLFunctions.swift: the functions of the query language, by the names that they have in SQL;
// each group has a file of its own. Arguments and results are values as `SQLValue.swift` has them.
// The rule for what is not there, unless a file says otherwise: missing when an argument is
// missing, else null when one is null, or of a kind that the function has no meaning for.

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

  /// Gives the result of a call with a missing or a null argument.
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

  /// A number as the result; null for what is none.
  func result(finite value: Double) {
    if value.isFinite { result(value) } else { resultNull() }
  }
}
