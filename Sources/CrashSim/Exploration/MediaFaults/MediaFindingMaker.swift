// MediaFindingMaker.swift: makes findings about files that a medium damaged at rest.

import CrashStates
import Findings
import Foundation
import LabCore
import Recording

extension MediaState {
  /// One of the faults that breaks a promise alone, or the original state.
  /// - Parameters:
  ///   - result: The judgement of the state.
  ///   - judge: Judges a state with one fault; nil when it breaks no promise.
  /// - Returns: The state, and its judgement.
  /// - Throws: Whatever `judge` throws.
  package func smallest(
    _ result: CheckResult, _ judge: (MediaState) throws(LabError) -> CheckResult?
  ) throws(LabError) -> (MediaState, CheckResult) {
    guard faults.count > 1, !Interruption.isRequested else { return (self, result) }
    for fault in faults {
      let single = MediaState(eventCount: eventCount, faults: [fault])
      if let answer = try judge(single) { return (single, answer) }
    }
    return (self, result)
  }
}

/// A file before and after damage.
package struct DamagedBytes {
  let path: String
  let before: [UInt8]
  let after: [UInt8]
  /// Its parts, if known.
  let map: StructureMap?

  package init(path: String, before: [UInt8], after: [UInt8], map: StructureMap?) {
    self.path = path
    self.before = before
    self.after = after
    self.map = map
  }
}

/// Describes damaged states in words.
package struct MediaFindingMaker {
  let trace: Trace

  package init(trace: Trace) {
    self.trace = trace
  }

  /// Shown instead of the models that allow the state.
  static let models = ["any, when the medium changes after the last sync"]
  /// Most differences that are shown.
  private static let differencesMax = 3

  /// A finding for a state.
  /// - Parameters:
  ///   - number: Its number in the run.
  ///   - state: The state.
  ///   - damaged: The file of its faults.
  ///   - result: The judgement of it.
  ///   - stateCount: Number of states with the same failure.
  ///   - token: Its replay token.
  /// - Returns: The finding.
  package func finding(
    number: Int, _ state: MediaState, _ damaged: DamagedBytes, _ result: CheckResult,
    stateCount: Int, token: String
  ) -> Finding {
    let marks = trace.events.prefix(state.eventCount).compactMap { event -> String? in
      guard case .mark(let mark) = event.body else { return nil }
      return mark.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
    var finding = Finding(
      number: number,
      promised: result.promised ?? "damage at rest does no harm, or is noticed",
      headline: result.headline,
      got: result.output.split(separator: "\n").map(String.init),
      ending: "the judge ended with \(result.ending)",
      crash: "none: at rest after \(moment(state)), all of it durable",
      acknowledgedCount: marks.count, lastAcknowledged: marks.last,
      lost: state.faults.map { fault in
        fault.sentence + (damaged.map.map { " (\($0.name(at: fault.offsetBytes)))" } ?? "")
      },
      missingSync: [], models: Self.models, stateCount: stateCount, token: token)
    finding.evidence = Self.evidence(state, damaged)
    // Checkers have a word for each damaged byte; what is missing is one check of the file. The
    // parts of files whose structure is known are protected one by one.
    if damaged.map == nil {
      let kinds = Set(state.faults.map(\.phrase)).sorted().joined(separator: " and ")
      finding.rootCause = "\(kinds) in '\(damaged.path.withRandomPartsReplaced)'"
    }
    return finding
  }

  private func moment(_ state: MediaState) -> String {
    let number = state.eventCount - 1
    guard trace.events.indices.contains(number) else { return "0 events" }
    switch trace.events[number].body {
    case .operation(let operation):
      let paths = PathIndex(trace)
      return "#\(number) \(operation.sentence(at: number, paths: paths))"
    case .mark(let mark):
      return "#\(number) mark '\(mark.text.trimmingCharacters(in: .whitespacesAndNewlines))'"
    }
  }

  private static func evidence(
    _ state: MediaState, _ damaged: DamagedBytes
  ) -> FindingEvidence {
    let (before, after) = (damaged.before, damaged.after)
    var ranges: [FileChange.Range] = []
    var differences: [FileChange.Difference] = []
    for fault in state.faults.sorted(by: { $0.offsetBytes < $1.offsetBytes })
    where fault.file == damaged.path {
      let start = Int(clamping: fault.offsetBytes)
      let count = fault.kind == .truncatedTail ? before.count - start : fault.countBytes
      ranges.append(
        FileChange.Range(offset: fault.offsetBytes, count: UInt64(count), fate: .lost))
      let first = start / 16 * 16
      let window = first..<max(first, min(start + min(count, 4096), before.count))
      let difference = EvidenceMaker.difference(
        at: UInt64(first), Array(before[window]), Array(after[window.clamped(to: after.indices)]))
      if let difference, differences.count < differencesMax { differences.append(difference) }
    }
    let change = FileChange(
      path: damaged.path, pathAfter: damaged.path, size: UInt64(before.count),
      sizeAfter: UInt64(after.count),
      ranges: ranges, omittedRangeCount: 0, differences: differences)
    return FindingEvidence(
      crashPoint: state.eventCount, lost: [], lostCount: 0, partlyLost: [], keptAfter: [],
      keptAfterCount: 0, missingAfter: nil, missingBefore: nil, missingPath: nil,
      files: [change], omittedFileCount: 0)
  }
}
