// CommandChecker.swift: [U] judges a crash state with any program: its exit status is the verdict.
// The program gets the crashed directory as its working directory and in $FAULTLINE_DIR, and
// everything the workload had acknowledged before the crash in the file $FAULTLINE_OUTPUT (an idea
// from ALICE).
// Invariant: a checker that traps, hangs or leaves processes running gives a verdict for that
// state, and affects no other state.
// Safety: buffers are passed to one system call each and not kept.

import CSystem
import Findings
import Foundation
import Glibc
import LabCore
import Recording

/// Runs a checker command on crash states, one after another, in its own directory.
public final class CommandChecker: Sendable {
  /// A checker's output is cut at this length.
  public static let outputLimitBytes = 64 << 10

  /// Where crash states are.
  package var directory: String { stage.directory }

  private let command: String
  private let stage: any CrashStateStage
  private let acknowledgedPath: String
  private let outputPath: String
  private let errorPath: String
  private let timeoutSeconds: Int
  private let environment: [String: String]

  /// Makes a checker that works below `slot`, an existing empty directory.
  /// - Parameters:
  ///   - command: Shell command that judges.
  ///   - slot: Its directory.
  ///   - timeoutSeconds: After this time the checker has failed.
  ///   - environment: Variables in addition to those of every checker.
  ///   - device: The content of the images of a device; nil if crash images are directories.
  /// - Throws: `LabError` when the directory cannot be created.
  package init(
    command: String, slot: String, timeoutSeconds: Int, environment: [String: String] = [:],
    device: DeviceCheck? = nil
  ) throws(LabError) {
    self.command = command
    self.environment = environment
    stage = try StateStages.make(device, slot: slot)
    acknowledgedPath = "\(slot)/acknowledged"
    outputPath = "\(slot)/output"
    errorPath = "\(slot)/errors"
    self.timeoutSeconds = timeoutSeconds
  }

  /// Writes the state and runs the checker on it.
  /// - Parameters:
  ///   - tree: The crash image.
  ///   - acknowledged: The workload's output before the crash.
  ///   - variables: Environment variables for this state only.
  /// - Returns: How the checker ended, and its output.
  /// - Throws: `LabError` when the state cannot be written or the checker not started, and when
  ///   Faultline is asked to stop before the checker has answered.
  public func check(
    _ tree: TreeImage, acknowledged: [UInt8], variables: [String: String] = [:]
  ) throws(LabError) -> CheckResult {
    if let refusal = try stage.present(tree) { return refusal }
    let result: CheckResult
    do throws(LabError) {
      result = try run(acknowledged: acknowledged, variables)
    } catch {
      _ = try? stage.withdraw()
      throw error
    }
    let afterwards = try stage.withdraw()
    return result.ending.isSuccess ? afterwards ?? result : result
  }

  /// Runs the checker on the content of the directory.
  private func run(
    acknowledged: [UInt8], _ variables: [String: String]
  ) throws(LabError) -> CheckResult {
    try AcknowledgedFile.write(acknowledged, to: acknowledgedPath)
    let output = Descriptors.create(outputPath)
    let errors = Descriptors.create(errorPath)
    defer { for descriptor in [output, errors] { Glibc.close(descriptor) } }
    guard output >= 0, errors >= 0 else {
      throw .lab("open \(outputPath): \(describe(errno: errno))")
    }
    var launch = ChildProcess.Launch(shell: command)
    launch.workingDirectory = stage.directory
    launch.standardOutput = output
    launch.standardError = errors
    launch.environment = environment.merging(variables) { $1 }
    launch.environment["FAULTLINE_DIR"] = stage.directory
    launch.environment["FAULTLINE_OUTPUT"] = acknowledgedPath
    let child = try ChildProcess(launch)
    let ending = child.wait(timeoutSeconds: timeoutSeconds)
    child.killGroup()
    // A checker killed because Faultline stops has given no verdict on the state.
    try Interruption.check()
    // The checker's own output comes first: error messages of the tools that it calls must not
    // become the headline by which findings are grouped.
    return CheckResult(ending: ending, output: portable(Self.read(output) + Self.read(errors)))
  }

  /// The text without the names of this run's directories, so that two runs give the same text.
  private func portable(_ text: String) -> String {
    text.replacing(stage.directory, with: "$FAULTLINE_DIR")
      .replacing(acknowledgedPath, with: "$FAULTLINE_OUTPUT")
  }

  private static func read(_ descriptor: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: outputLimitBytes)
    let count = unsafe bytes.withUnsafeMutableBytes { buffer in
      unsafe pread(descriptor, buffer.baseAddress, buffer.count, 0)
    }
    let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    return text.isEmpty || text.hasSuffix("\n") ? text : text + "\n"
  }
}
