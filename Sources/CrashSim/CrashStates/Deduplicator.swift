// Deduplicator.swift: which contents were seen under the present acknowledgements.
// Marks only ever rise in number, so that what was seen before the latest mark need not be kept.

/// Which contents were seen since the latest mark.
struct Deduplicator {
  /// Whether a content is new, with the ordinal of its state.
  enum Verdict {
    case new(Int)
    case old(Int)
  }

  private var ordinals: [ContentHash: Int] = [:]
  private var nextOrdinal = 0

  mutating func insert(_ hash: ContentHash) -> Verdict {
    if let ordinal = ordinals[hash] { return .old(ordinal) }
    let ordinal = nextOrdinal
    ordinals[hash] = ordinal
    nextOrdinal += 1
    return .new(ordinal)
  }

  /// Forgets all contents, since the acknowledgements changed; ordinals go on.
  mutating func removeAll() { ordinals.removeAll(keepingCapacity: true) }
}
