// ContentOracles.swift: atomicity and the reference model, which both ask which version a content
// belongs to. A content of no version is part of a transaction (atomicity); a content of another
// version than the one under which it is found is a mix-up (reference model).

import Findings

enum AtomicityOracle {
  static func judge(
    _ seen: RecoveredState, _ allowed: AllowedOutcomes, _ timeline: OutcomeTimeline
  ) -> Violation? {
    guard let doubt = ContentDoubt(seen, allowed, timeline), doubt.found == nil else { return nil }
    return Violation(
      .atomicity, promised: "version \(doubt.version) holds \(doubt.expected), whole or not at all",
      got: "its content (hash \(doubt.hash)) is that of no version and of no transaction")
  }
}

enum ReferenceModelOracle {
  static func judge(
    _ seen: RecoveredState, _ allowed: AllowedOutcomes, _ timeline: OutcomeTimeline
  ) -> Violation? {
    guard let doubt = ContentDoubt(seen, allowed, timeline), let found = doubt.found else {
      return nil
    }
    return Violation(
      .referenceModel, promised: "version \(doubt.version) holds \(doubt.expected)",
      got: "it holds the content of \(found)")
  }
}

/// A content that differs from the one its version must have.
private struct ContentDoubt {
  let version: UInt64
  let hash: String
  let expected: String
  /// The version that the content belongs to, if any.
  let found: String?

  /// Nil when the content is right, or absent in a version that may be present.
  init?(_ seen: RecoveredState, _ allowed: AllowedOutcomes, _ timeline: OutcomeTimeline) {
    guard let version = seen.version, let contentHash = seen.contentHash else { return nil }
    let states = allowed.states.filter { $0.version == version }
    if states.contains(where: { $0.contentHash == contentHash }) { return nil }
    // Before the first acknowledgement the engine may choose the number of the empty version.
    if !allowed.mustExist, allowed.acked.contentHash == contentHash { return nil }
    if states.isEmpty, allowed.mustExist || version > allowed.acked.version { return nil }
    self.version = version
    hash = String(contentHash, radix: 16)
    let meant = states.isEmpty ? [allowed.acked] : states
    expected = meant.map(\.label).joined(separator: " or ")
    found = timeline.label(of: contentHash)
  }
}
