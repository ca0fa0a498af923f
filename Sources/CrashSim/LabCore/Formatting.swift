// Formatting.swift: formats numbers and counted nouns for display.

import Foundation

/// Numbers for display.
package enum Formatting {
  /// 12345 as `12,345`.
  package static func grouped(_ number: Int) -> String {
    let digits = String(number.magnitude)
    var result = ""
    for (index, digit) in digits.enumerated() {
      if index > 0 && (digits.count - index) % 3 == 0 { result.append(",") }
      result.append(digit)
    }
    return (number < 0 ? "-" : "") + result
  }

  /// A number with a fixed number of decimals, whatever the locale: without one, C's form is used.
  package static func fixed(_ value: Double, _ decimals: Int) -> String {
    String(format: "%.\(decimals)f", value)
  }

  /// A rate per second: `286`, `0.4`.
  package static func rate(_ value: Double) -> String {
    value < 10 ? fixed(value, 1) : grouped(Int(value))
  }

  /// `1 state`, `2 states`.
  package static func counted(_ count: Int, _ noun: String) -> String {
    "\(grouped(count)) \(noun)\(count == 1 ? "" : "s")"
  }
}

extension String {
  /// The text with each run of digits replaced by `N`.
  package var withNumbersReplaced: String {
    var text = ""
    var wasNumber = false
    for character in self {
      if !character.isNumber {
        text.append(character)
      } else if !wasNumber {
        text.append("N")
      }
      wasNumber = character.isNumber
    }
    return text
  }
}
