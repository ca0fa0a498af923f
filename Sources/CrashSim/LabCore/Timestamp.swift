// Timestamp.swift: a moment with the resolution that file times have.

/// A moment as file times keep it.
package struct Timestamp: Hashable, Sendable {
  package var seconds: Int64
  package var nanoseconds: Int64

  package init(seconds: Int64 = 0, nanoseconds: Int64 = 0) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }
}
