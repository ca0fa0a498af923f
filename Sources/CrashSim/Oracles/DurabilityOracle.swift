// DurabilityOracle.swift: what was acknowledged is there: the recovered version is not below it.

enum DurabilityOracle {
  static func judge(_ seen: RecoveredState, _ allowed: AllowedOutcomes) -> Violation? {
    guard allowed.mustExist, let version = seen.version, version < allowed.acked.version else {
      return nil
    }
    return Violation(
      .durability, promised: "\(allowed.acked.label) was acked",
      got: "the recovered version is \(version)")
  }
}
