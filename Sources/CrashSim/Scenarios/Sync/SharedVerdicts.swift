// SharedVerdicts.swift: verdicts on crash states of synchronized realms, each shared by all states
// that leave the same of a node (`LabRemains`), whatever the persistence model.

import Findings
import LabCore
import SyncLab

/// The verdicts of one scenario's states.
final class SharedVerdicts {
  /// What states have in common that share a verdict.
  struct Key: Hashable {
    let node: String
    let life: Int
    let remains: LabRemains
  }

  private var verdicts: [Key: CheckResult] = [:]

  /// The verdict of a key, which is made once.
  func verdict(
    _ key: Key, _ make: () throws(LabError) -> CheckResult
  ) throws(LabError) -> CheckResult {
    if let known = verdicts[key] { return known }
    let made = try make()
    verdicts[key] = made
    return made
  }
}
