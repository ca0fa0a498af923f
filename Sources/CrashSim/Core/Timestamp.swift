// Timestamp.swift: a moment with the resolution that file times have.

/// A moment as file times keep it.
struct Timestamp: Hashable, Sendable {
  var seconds: Int64 = 0
  var nanoseconds: Int64 = 0
}
