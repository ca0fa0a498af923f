// StateChecker.swift: what judges crash states: a process for each, one that stays, or the
// recording's own contents.

import Findings
import LabCore
import Recording

/// Judges crash states, one after another.
package protocol StateChecker: AnyObject, Sendable {
  /// Judges a state.
  /// - Parameters:
  ///   - tree: The crash image.
  ///   - acknowledged: The workload's output before the crash.
  ///   - variables: Variables of the environment for this state alone.
  ///   - isSample: Whether the checker that stays is compared with a fresh one.
  /// - Returns: How the checker ended, or would have ended, and what it said.
  /// - Throws: `LabError` when the state cannot be written or the checker not started, and when the
  ///   lab is asked to stop before the checker has answered.
  func check(
    _ tree: TreeImage, acknowledged: [UInt8], variables: [String: String], isSample: Bool
  ) throws(LabError) -> CheckResult
}

extension StateChecker {
  /// Judges a state that is no sample.
  package func check(
    _ tree: TreeImage, acknowledged: [UInt8], variables: [String: String] = [:]
  ) throws(LabError) -> CheckResult {
    try check(tree, acknowledged: acknowledged, variables: variables, isSample: false)
  }
}

extension CommandChecker: StateChecker {
  /// The same: every process is a fresh one.
  package func check(
    _ tree: TreeImage, acknowledged: [UInt8], variables: [String: String], isSample: Bool
  ) throws(LabError) -> CheckResult {
    try check(tree, acknowledged: acknowledged, variables: variables)
  }
}
