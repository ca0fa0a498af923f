// FullSize.swift: whether the tests that take long for their size take all of it.

import Foundation

/// The size of tests that explore or write very much.
public enum FullSize {
  /// True with the environment variable `FAULTLINE_LARGE`, as in `make test-large`.
  public static let isOn = ProcessInfo.processInfo.environment["FAULTLINE_LARGE"] != nil
}
