// UsableOracle.swift: a recovered database continues to work: it accepts a commit, verifies, and
// after reopening has its previous content and that commit. Tried only on states without other
// violations.

import Findings

enum UsableOracle {
  static func judge(_ seen: RecoveredState) -> Violation? {
    guard let error = seen.useError else { return nil }
    return Violation(
      .usableAfterRecovery, promised: "the recovered database takes and keeps a commit", got: error)
  }
}
