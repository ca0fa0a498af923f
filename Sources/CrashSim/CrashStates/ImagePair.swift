// ImagePair.swift: two images of one crash point, so that a state is shown from the nearer one:
// most states keep nearly all or nearly no pending units, and strategies propose both in turn.
// Invariant: which image shows a state affects only the time that it takes.

import LabCore

/// Two images of one crash point.
struct ImagePair {
  private static let windowMin = 64
  /// For trees with more touched bytes there is only one image.
  private static let touchedBytesMax = 64 << 20

  private let first: ImageBuilder
  private var second: ImageBuilder?
  /// The places of the window that each shows; all others are off.
  private var firstKept: [UInt64] = []
  private var secondKept: [UInt64] = []
  /// Places of units that change bytes, which cost more than others.
  private var bytes: [UInt64] = []
  private var knownPlaces = 0
  private var oldestUnit: Int?

  init(_ first: ImageBuilder) { self.first = first }

  /// Shows a state in the image that is nearer to it.
  /// - Parameters:
  ///   - kept: The units, by places of the window.
  ///   - ids: The ids of the same units.
  ///   - torn: One more unit, which arrived in part.
  ///   - window: The window of the crash point of the first image.
  /// - Returns: The hash of the reachable tree.
  /// - Throws: `LabError` when an image exceeds its limits.
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
      image = try ImageBuilder(
        table: first.table, limits: first.limits, comparesTimes: first.comparesTimes)
      second = image
    }
    try image.advance(to: window.crashPoint)
    secondKept = kept.words
    return try image.show(kept: ids, torn: torn)
  }

  /// Adds units that are new in a window, and starts over when it lost some: an image that is moved
  /// past a sync shows no state.
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

  /// Number of units that change bytes and are in exactly one of the sets.
  private func distance(_ wanted: [UInt64], _ shown: [UInt64]) -> Int {
    var sum = 0
    for (at, word) in wanted.enumerated() {
      let other = at < shown.count ? shown[at] : 0
      sum += ((word ^ other) & bytes[at]).nonzeroBitCount
    }
    return sum
  }
}
