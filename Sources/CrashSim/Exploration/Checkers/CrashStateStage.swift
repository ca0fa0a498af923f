// CrashStateStage.swift: provides a crash state to a checker: as files in a directory, or as a file
// system mounted from an image.

import CrashStates
import Findings
import Glibc
import LabCore
import Recording

/// Prepares a crash state for a checker, and cleans up after it.
protocol CrashStateStage: Sendable {
  /// The checker's working directory.
  var directory: String { get }

  /// Prepares a state.
  /// - Returns: Nil, or a verdict that needs no checker.
  func present(_ tree: TreeImage) throws(LabError) -> CheckResult?

  /// Clears up after the checker.
  /// - Returns: A verdict on what it left, if there is one.
  func withdraw() throws(LabError) -> CheckResult?
}

/// Which stage there is.
enum StateStages {
  /// A stage below `slot`, an existing directory, for images of a device or of files.
  static func make(
    _ device: DeviceCheck?, slot: String
  ) throws(LabError) -> any CrashStateStage {
    if let device { return try DeviceStage(device, slot: slot) }
    return try DirectoryStage(slot: slot)
  }
}

/// Crash states whose files lie in a directory, which stays: only what differs is rewritten.
struct DirectoryStage: CrashStateStage {
  let directory: String

  /// A stage below `slot`, an existing directory.
  init(slot: String) throws(LabError) {
    directory = "\(slot)/image"
    try PathCalls.makeDirectory(directory)
  }

  func present(_ tree: TreeImage) throws(LabError) -> CheckResult? {
    try DirectoryUpdater.update(directory, to: tree)
    return nil
  }

  func withdraw() throws(LabError) -> CheckResult? { nil }
}
