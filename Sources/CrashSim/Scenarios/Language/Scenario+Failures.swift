// Scenario+Failures.swift: checks whether steps can continue when any file operation fails.

import LabCore
import Workload

extension Scenario {
  /// Whether every step remains valid if an earlier one may have failed, which `sweep` requires.
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
