// ImagePair.swift: two images of one crash point, so that a state is shown from a near one: most
// states keep nearly all pending units or nearly none, and strategies propose both in turn.
// Invariant: which image shows a state decides how long that takes, and nothing else.

import LabCore

/// Two images of one crash point.
struct ImagePair {
  private static let windowMin = 64
  /// A tree of which more bytes are touched is there once.
  private static let touchedBytesMax = 64 << 20

  private let first: ImageBuilder
  private var second: ImageBuilder?
  /// What each shows, by places of the window; all others are off.
  private var firstKept: [UInt64] = []
  private var secondKept: [UInt64] = []
  /// Places of units that change bytes, which cost more than others.
  private var bytes: [UInt64] = []
  private var knownPlaces = 0
  private var oldestUnit: Int?

  init(_ first: ImageBuilder) { self.first = first }

  /// Shows a state in the image that is nearer to it.
  /// - Parameters:
  ///   - kept: By places of the window.
  ///   - ids: The same units.
  ///   - torn: One more unit, of which a part arrived.
  ///   - window: Of the crash point that the first image is at.
  /// - Returns: The hash of the reachable tree.
  /// - Throws: `LabError` when an image outgrows its limits.
  mutating func show(
    _ kept: KeptSet, ids: [Int], torn: TornWrite?, in window: PendingWindow
  ) throws(LabError) -> ContentHash {
    guard window.count >= Self.windowMin,
      second != nil || first.touchedPages * ImageContent.pageBytes <= Self.touchedBytesMax
    else {
      firstKept = kept.words
      return try first.show(kept: ids, torn: torn)
    }
    follow(window)
    if distance(kept.words, firstKept) <= distance(kept.words, secondKept) {
      firstKept = kept.words
      return try first.show(kept: ids, torn: torn)
    }
    let image: ImageBuilder
    if let second {
      image = second
    } else {
      image = try ImageBuilder(table: first.table, limits: first.limits)
      second = image
    }
    try image.advance(to: window.crashPoint)
    secondKept = kept.words
    return try image.show(kept: ids, torn: torn)
  }

  /// Takes in the units that a window has won, and begins anew when it lost some: images that move
  /// over a sync show nothing.
  private mutating func follow(_ window: PendingWindow) {
    if window.count < knownPlaces || window.ids.first != oldestUnit {
      firstKept = []
      secondKept = []
      bytes = []
      knownPlaces = 0
      oldestUnit = window.ids.first
    }
    for place in knownPlaces..<window.count {
      if place & 63 == 0 { bytes.append(0) }
      let changesBytes = window.table.units[window.ids[place]].effects.contains {
        if case .data = $0 { true } else { false }
      }
      if changesBytes { bytes[place >> 6] |= 1 << UInt64(place & 63) }
    }
    knownPlaces = window.count
  }

  /// Number of units that change bytes and are in one of both sets.
  private func distance(_ wanted: [UInt64], _ shown: [UInt64]) -> Int {
    var sum = 0
    for (at, word) in wanted.enumerated() {
      let other = at < shown.count ? shown[at] : 0
      sum += ((word ^ other) & bytes[at]).nonzeroBitCount
    }
    return sum
  }
}
