// Span.swift: runs of whole sectors, and how the free list writes them down.

/// A run of sectors.
struct Span: Hashable, Sendable {
  var start: UInt64
  var count: UInt64

  var end: UInt64 { start + count }
}

/// A run of sectors that versions in `born ..< released` may still reach.
struct PendingSpan: Hashable, Sendable {
  var span: Span
  var born: Version
  var released: Version
}
