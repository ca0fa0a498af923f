// FullSize.swift: whether the tests that take long for their size take all of it.

import Foundation

/// The size of tests that explore or write very much.
public enum FullSize {
  /// True with the environment variable `FAULTLINE_LARGE`, as in `make test-large`.
  public static let isOn = ProcessInfo.processInfo.environment["FAULTLINE_LARGE"] != nil

  /// A number that a variable chooses, as where a long test goes on.
  /// - Parameters:
  ///   - name: The variable.
  ///   - standard: The number without it.
  /// - Returns: The number; `standard` where the variable has none.
  public static func setting(_ name: String, _ standard: UInt64) -> UInt64 {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } ?? standard
  }
}
