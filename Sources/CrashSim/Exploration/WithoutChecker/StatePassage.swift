// StatePassage.swift: how a crash state becomes the files that are judged without a checker: as it
// is, mounted by the kernel, or after a recovery.

import Findings
import LabCore
import Recording

/// What becomes of a crash state before it is judged.
struct StatePassage: Sendable {
  /// The kinds.
  enum Kind: Sendable {
    /// The state is the files.
    case none
    /// The state is the image of a device.
    case device(DeviceCheck)
    /// A command runs on the state.
    case recovery(command: String, timeoutSeconds: Int, environment: [String: String])
  }

  /// What a state becomes.
  enum Result {
    case files(TreeImage)
    /// It needs no judgement.
    case verdict(CheckResult)
  }

  private let stage: DeviceStage?
  private let recovery: CommandChecker?

  /// Whether a recovery comes between.
  var recovers: Bool { recovery != nil }

  /// - Parameters:
  ///   - kind: The kind.
  ///   - slot: An existing directory.
  /// - Throws: `LabError` when a directory cannot be made.
  init(_ kind: Kind, slot: String) throws(LabError) {
    switch kind {
    case .none:
      stage = nil
      recovery = nil
    case .device(let device):
      stage = try DeviceStage(device, slot: slot)
      recovery = nil
    case .recovery(let command, let timeoutSeconds, let environment):
      stage = nil
      recovery = try CommandChecker(
        command: command, slot: slot, timeoutSeconds: timeoutSeconds, environment: environment)
    }
  }

  /// The files that a state becomes.
  /// - Throws: `LabError` when the lab fails, or is asked to stop.
  func files(
    of tree: TreeImage, _ acknowledged: [UInt8], _ variables: [String: String]
  ) throws(LabError) -> Result {
    if let stage { return try mounted(tree, stage) }
    guard let recovery else { return .files(tree) }
    let result = try recovery.check(tree, acknowledged: acknowledged, variables: variables)
    guard result.ending.isSuccess else {
      return .verdict(RecordedRecovery.refusal(result.ending, result.output))
    }
    return .files(try DirectoryReader.read(recovery.directory))
  }

  /// The files that the kernel shows of an image.
  private func mounted(_ tree: TreeImage, _ stage: DeviceStage) throws(LabError) -> Result {
    if let refusal = try stage.present(tree) { return .verdict(refusal) }
    let files: TreeImage
    do throws(LabError) {
      files = try DirectoryReader.read(stage.directory)
    } catch {
      _ = try? stage.withdraw()
      try Interruption.check()
      let words = error.message.replacing(stage.directory, with: "$FAULTLINE_DIR")
      return .verdict(
        CheckResult(
          ending: .exited(1), output: "after the crash a file cannot be read: \(words)",
          promised: "what could be read before can be read after a crash"))
    }
    if let refusal = try stage.withdraw() { return .verdict(refusal) }
    return .files(files)
  }
}
