// StructureOracle.swift: the file opens, and the engine's own verification finds no error.
// Applies to every state. Before an open was acknowledged there may be no database, or an
// unfinished one, which an open completes; even then it must verify.

import Findings

enum StructureOracle {
  static func judge(_ seen: RecoveredState, _ allowed: AllowedOutcomes) -> Violation? {
    if let damage = seen.damage {
      return Violation(.structure, promised: "verify finds nothing", got: damage)
    }
    if let error = seen.openError, !allowed.mustExist {
      return Violation(
        .structure, promised: "what a crash leaves of a creation can be opened",
        got: "open failed: \(error)")
    }
    guard allowed.mustExist else { return nil }
    let promised = "\(allowed.acked.label) was acknowledged, so the database exists"
    if seen.isMissing { return Violation(.structure, promised: promised, got: "there is no file") }
    if let error = seen.openError {
      return Violation(.structure, promised: promised, got: "open failed: \(error)")
    }
    if seen.wasCreated {
      return Violation(
        .structure, promised: promised, got: "the file held none, and open made a new one")
    }
    return nil
  }
}
