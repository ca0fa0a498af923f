// MediaOutcome.swift: how many damaged states were detected, harmless, or set back to an older
// version.

/// What came of the faults of a medium.
public struct MediaOutcome: Codable, Sendable, Hashable {
  /// States in which an error told of the damage.
  public var detectedCount = 0
  /// States in which the newest version was there, whole.
  public var unharmedCount = 0
  /// States in which an older version was there, as the fault budget lets it.
  public var wentBackCount = 0

  package init(detectedCount: Int = 0, unharmedCount: Int = 0, wentBackCount: Int = 0) {
    self.detectedCount = detectedCount
    self.unharmedCount = unharmedCount
    self.wentBackCount = wentBackCount
  }

  /// Counts a state; one that broke a promise is a finding's.
  package mutating func add(_ verdict: MediaVerdict) {
    switch verdict {
    case .detected: detectedCount += 1
    case .unharmed: unharmedCount += 1
    case .wentBack: wentBackCount += 1
    case .broken: break
    }
  }

  /// Takes the counts of another part in.
  package mutating func add(_ other: MediaOutcome) {
    detectedCount += other.detectedCount
    unharmedCount += other.unharmedCount
    wentBackCount += other.wentBackCount
  }
}

/// How a database took a damage.
package enum MediaVerdict: String, Codable, Sendable, CaseIterable {
  /// An error told of it.
  case detected
  /// The newest version is there.
  case unharmed
  /// An older version is there, as the budget lets it.
  case wentBack
  /// A promise was broken.
  case broken
}
