// TraceChecker.swift: judges a crash state without a checker, from what the recording knows.
// On a real file system the kernel mounts the state first, and what is judged is what it shows.
// With a recovery, that runs first, and what is judged is what it leaves.
// Invariant: the verdict depends on the recording, the state and the output before it alone.

import Findings
import LabCore
import Recording

/// Judges crash states of one recording by its own contents.
final class TraceChecker: StateChecker {
  /// The variable of a state whose output is not the workload's alone: so many bytes are.
  static let workloadBytes = "FAULTLINE_WORKLOAD_BYTES"

  let knowledge: TraceKnowledge
  private let reader: FormatReader
  private let passage: StatePassage

  /// - Parameters:
  ///   - trace: The recording of files.
  ///   - options: What the user says.
  ///   - slot: An existing directory of its own.
  ///   - kind: What becomes of a state before it is judged.
  ///   - undisturbed: States without any crash besides those of the recording, and the output
  ///     before each.
  /// - Throws: `LabError` when a reader cannot be asked.
  init(
    _ trace: Trace, _ options: JudgingOptions, slot: String,
    passage kind: StatePassage.Kind = .none,
    undisturbed: [(tree: TreeImage, acknowledged: [UInt8])] = []
  ) throws(LabError) {
    reader = FormatReader(directory: slot)
    passage = try StatePassage(kind, slot: slot)
    var knowledge = try TraceKnowledge(trace, options, reader)
    var found: [(files: TreeImage, outputBytes: Int, before: TreeImage?)] = []
    for (tree, acknowledged) in undisturbed {
      switch try passage.files(of: tree, acknowledged, [:]) {
      case .verdict(let refusal):
        throw .usage("without any crash: \(refusal.ending)\n\(refusal.output.quotedLines)")
      case .files(let files):
        found.append((files, acknowledged.count, passage.recovers ? tree : nil))
        if passage.recovers { try knowledge.learnRecovered(files, before: tree, reader) }
      }
    }
    // A file may be readable after one of them, and not after the other.
    for (files, outputBytes, before) in found {
      try knowledge.leaveOutBroken(files, outputBytes: outputBytes, reader, before: before)
    }
    self.knowledge = knowledge
  }

  /// One more, with its own readers.
  init(
    like other: TraceChecker, slot: String, passage kind: StatePassage.Kind = .none
  ) throws(LabError) {
    reader = FormatReader(directory: slot)
    passage = try StatePassage(kind, slot: slot)
    knowledge = other.knowledge
  }

  func check(
    _ tree: TreeImage, acknowledged: [UInt8], variables: [String: String], isSample: Bool
  ) throws(LabError) -> CheckResult {
    switch try passage.files(of: tree, acknowledged, variables) {
    case .verdict(let result): return result
    case .files(let files):
      let outputBytes = variables[Self.workloadBytes].flatMap { Int($0) } ?? acknowledged.count
      let complaints = try knowledge.complaints(
        about: files, outputBytes: outputBytes, reader, before: passage.recovers ? tree : nil)
      return .answer(complaints, worst: complaints.first)
    }
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
