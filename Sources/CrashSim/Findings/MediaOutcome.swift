// MediaOutcome.swift: counts damaged states that were detected, harmless, or set back to an older
// version.

/// The results for a medium's faults.
public struct MediaOutcome: Codable, Sendable, Hashable {
  /// States in which an error reported the damage.
  public var detectedCount = 0
  /// States with the newest version intact.
  public var unharmedCount = 0
  /// States with an older version, as the fault budget allows.
  public var wentBackCount = 0

  package init(detectedCount: Int = 0, unharmedCount: Int = 0, wentBackCount: Int = 0) {
    self.detectedCount = detectedCount
    self.unharmedCount = unharmedCount
    self.wentBackCount = wentBackCount
  }

  /// Counts a state; one that broke a promise becomes a finding.
  package mutating func add(_ verdict: MediaVerdict) {
    switch verdict {
    case .detected: detectedCount += 1
    case .unharmed: unharmedCount += 1
    case .wentBack: wentBackCount += 1
    case .broken: break
    }
  }

  /// Adds the counts of another part.
  package mutating func add(_ other: MediaOutcome) {
    detectedCount += other.detectedCount
    unharmedCount += other.unharmedCount
    wentBackCount += other.wentBackCount
  }
}

/// How a database handled damage.
package enum MediaVerdict: String, Codable, Sendable, CaseIterable {
  /// An error reported it.
  case detected
  /// The newest version is present.
  case unharmed
  /// An older version is present, as the budget allows.
  case wentBack
  /// A promise was broken.
  case broken
}
