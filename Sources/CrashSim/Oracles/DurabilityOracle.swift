// DurabilityOracle.swift: acknowledged commits are present: the recovered version is not below the
// last of them. Without a power cut it is not below what an open found before, acknowledged or not.

import Findings

enum DurabilityOracle {
  static func judge(_ seen: RecoveredState, _ allowed: AllowedOutcomes) -> Violation? {
    guard allowed.mustExist, let version = seen.version, version < allowed.acked.version else {
      return nil
    }
    return Violation(
      .durability, promised: "\(allowed.acked.label) was acked",
      got: "the recovered version is \(version)")
  }

  /// Without a power failure, what an open has found remains: it was read from the medium.
  static func judge(_ seen: RecoveredState, foundBefore: UInt64) -> Violation? {
    guard let version = seen.version, version < foundBefore else { return nil }
    return Violation(
      .durability, promised: "an open found version \(foundBefore), and no power was cut",
      got: "the recovered version is \(version)")
  }
}
