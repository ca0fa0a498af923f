// TraceChecker.swift: judges a crash state without a checker, from what the recording knows.
// Invariant: the verdict depends on the recording, the state and the output before it alone.

import Findings
import LabCore
import Recording

/// Judges crash states of one recording by its own contents.
final class TraceChecker: StateChecker {
  let knowledge: TraceKnowledge
  private let reader: FormatReader

  /// - Parameters:
  ///   - trace: The recording.
  ///   - options: What the user says.
  ///   - slot: An existing directory of its own.
  /// - Throws: `LabError` when a reader cannot be asked.
  init(_ trace: Trace, _ options: JudgingOptions, slot: String) throws(LabError) {
    reader = FormatReader(directory: slot)
    knowledge = try TraceKnowledge(trace, options, reader)
  }

  /// One more, with its own readers.
  init(like other: TraceChecker, slot: String) {
    reader = FormatReader(directory: slot)
    knowledge = other.knowledge
  }

  func check(
    _ tree: TreeImage, acknowledged: [UInt8], variables: [String: String], isSample: Bool
  ) throws(LabError) -> CheckResult {
    let complaints = try knowledge.complaints(
      about: tree, outputBytes: acknowledged.count, reader)
    guard let worst = complaints.first else { return .answer([], worst: nil) }
    return .answer(complaints, worst: worst)
  }
}

extension CheckResult {
  /// Complaints as a checker's answer: an error fails, anything less is said only.
  fileprivate static func answer(_ complaints: [Complaint], worst: Complaint?) -> CheckResult {
    let isBroken = worst?.level == .error
    let lines = complaints.enumerated().flatMap { index, complaint in
      let level = isBroken && index == 0 ? "" : "\(complaint.level.name): "
      return [level + complaint.text] + (complaint.detail.map { ["  \($0)"] } ?? [])
    }
    return CheckResult(
      ending: .exited(isBroken ? 1 : 0), output: lines.joined(separator: "\n"),
      promised: worst?.rule.promise, rule: worst.map { $0.rule.rawValue })
  }

  /// The warnings and notes of an answer that breaks nothing.
  var remarks: [(level: String, text: String)] {
    guard ending.isSuccess, rule != nil else { return [] }
    return output.split(separator: "\n").compactMap { line in
      for level in ["warning", "note"] where line.hasPrefix("\(level): ") {
        return (level, String(line.dropFirst(level.count + 2)))
      }
      return nil
    }
  }
}
