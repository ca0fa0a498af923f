// Timestamp.swift: a time with the resolution of file times.

/// A time as stored in file times.
package struct Timestamp: Hashable, Sendable {
  package var seconds: Int64
  package var nanoseconds: Int64

  package init(seconds: Int64 = 0, nanoseconds: Int64 = 0) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }
}
