// Deduplicator.swift: the contents seen under the current acknowledgements.
// The number of marks only grows, so contents seen before the latest mark can be forgotten.

/// The contents seen since the latest mark.
struct Deduplicator {
  /// Whether a content is new, with its state's ordinal.
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

  /// Forgets all contents, since the acknowledgements changed; ordinals continue.
  mutating func removeAll() { ordinals.removeAll(keepingCapacity: true) }
}
