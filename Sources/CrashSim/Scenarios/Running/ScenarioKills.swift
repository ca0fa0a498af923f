// ScenarioKills.swift: converts a scenario's kills to rules of the faulty file system.

import CrashStates
import FaultFS
import LabCore
import Workload

extension KillDeclaration {
  /// Kills the process at the n-th place.
  func planned(number: Int, before: Bool) -> PlannedKill {
    switch place {
    case .everyCommand: return PlannedKill(process: process, moment: .command(number))
    case .everyCommitStep:
      return PlannedKill(
        process: process, moment: .commitStep(number, stops: manner == .stop))
    case .everyOperation, .everySync, .everyWrite, .everyTruncate, .operation: break
    }
    let kinds = self.kinds
    if manner == .stop {
      return PlannedKill(
        process: process,
        moment: .standstill { process in
          FaultRule(
            when: FaultRule.Match(kinds, process: process, nth: number), what: .hang)
        })
    }
    return PlannedKill(
      process: process,
      moment: .operation { process in
        FaultRule(
          when: FaultRule.Match(kinds, process: process, nth: number),
          what: .kill(before ? .before : .after))
      })
  }

  /// The name of the n-th place in reports.
  func text(number: Int, before: Bool) -> String {
    switch place {
    case .everyCommand: "the process was killed instead of its command \(number)"
    case .everyCommitStep:
      "the process was \(manner == .stop ? "stopped" : "killed") before its commit step \(number)"
    case .everyOperation, .everySync, .everyWrite, .everyTruncate, .operation:
      manner == .stop
        ? "the process was stopped before its file operation \(number)"
        : "the process was killed \(before ? "before" : "after") its file operation \(number)"
    }
  }

  /// The sides to try.
  var sides: [Bool] {
    if place == .everyCommand || place == .everyCommitStep || manner == .stop { return [true] }
    return switch side {
    case .before: [true]
    case .after: [false]
    case .both: [true, false]
    }
  }

  /// The operations at which it happens.
  var kinds: Set<OperationKind> {
    switch place {
    case .everySync: [.sync, .syncDirectory]
    case .everyWrite: [.write]
    case .everyTruncate: [.truncate]
    case .everyCommand, .everyCommitStep: []
    case .everyOperation, .operation:
      [
        .write, .truncate, .allocate, .create, .link, .remove, .rename, .setOwnership,
        .setExtendedAttribute, .sync, .syncDirectory,
      ]
    }
  }
}
