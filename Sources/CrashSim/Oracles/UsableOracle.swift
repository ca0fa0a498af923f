// UsableOracle.swift: a database that recovered goes on working: it takes a commit, verifies, and
// shows what it held and the commit after it is opened again. Tried only on states that are right
// otherwise.

import Findings

enum UsableOracle {
  static func judge(_ seen: RecoveredState) -> Violation? {
    guard let error = seen.useError else { return nil }
    return Violation(
      .usableAfterRecovery, promised: "the recovered database takes and keeps a commit", got: error)
  }
}
