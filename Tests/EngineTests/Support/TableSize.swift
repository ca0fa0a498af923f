// TableSize.swift [U]: how many rows the tests of large tables write: all in a run that has the
// time for it (make test-large), a part in every other.

import Glibc

enum TableSize {
  /// True with FAULTLINE_LARGE.
  static let isFull = unsafe getenv("FAULTLINE_LARGE") != nil

  /// The full number of rows, or a fifth of it without FAULTLINE_LARGE; a multiple of 1,000.
  static func rows(_ full: Int) -> Int {
    precondition(full % 5_000 == 0, "a fifth of \(full) is not a multiple of 1,000")
    return isFull ? full : full / 5
  }
}
