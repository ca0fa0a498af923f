// Scenario+Failures.swift: can a scenario's steps go on when any of its file operations fails?

import LabCore
import Workload

extension Scenario {
  /// Whether every step still makes sense when an earlier one may have failed: whether `sweep`
  /// could stand in the file.
  package var goesOnAfterFailures: Bool {
    guard faults.isEmpty, history == nil else { return false }
    var disturbed = self
    disturbed.kill = nil
    disturbed.sweep = FaultDeclaration(
      position: SourcePosition(line: 1, column: 1), on: .sync, which: .each,
      effect: .error("EIO"))
    let reader = ScenarioReader(file: file)
    StepOrder(disturbed, reader).check()
    return reader.diagnostics.isEmpty
  }
}
