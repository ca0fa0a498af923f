// PrefixOracle.swift: the commits present are a prefix of those that were begun: the recovered
// version is not above the last one allowed.

import Findings

enum PrefixOracle {
  static func judge(_ seen: RecoveredState, _ allowed: AllowedOutcomes) -> Violation? {
    guard let version = seen.version else { return nil }
    let last = allowed.states.map(\.version).max() ?? 0
    guard version > last, allowed.mustExist || seen.contentHash != allowed.acked.contentHash else {
      return nil
    }
    return Violation(
      .prefix, promised: "nothing after version \(last) was begun",
      got: "the recovered version is \(version)")
  }
}
