// FailureWalk.swift: the recordings of one failure, one after another: of the workload, and for a
// crash during recovery of each recovery that leads to it.
// Invariants: an event has one name throughout: N in the workload, R:N in recovery R; each
// recording starts with the state that the power cut in the previous one left.

import CrashStates
import LabCore

/// An event of a failure's recordings: `17` of the workload, `1:17` of the first recovery.
package struct EventPlace: Sendable, Hashable, CustomStringConvertible {
  /// Number of the recovery; 0 is the workload.
  package var recovery: Int
  /// Its number in that recording, from 0.
  package var number: Int

  /// Makes a place.
  package init(recovery: Int = 0, number: Int) {
    self.recovery = recovery
    self.number = number
  }

  /// Parses `N` or `R:N`; nil for anything else.
  package init?(parsing text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { $0.allSatisfy(\.isWholeNumber) ? Int($0) : nil }
    guard numbers.count == parts.count, (1...2).contains(parts.count) else { return nil }
    self.init(recovery: parts.count == 2 ? numbers[0] : 0, number: numbers[parts.count - 1])
  }

  /// In the form that is parsed.
  package var description: String { recovery == 0 ? "\(number)" : "\(recovery):\(number)" }
}

/// A recording, and the crash state in which the power cut left it.
package struct CutRecording {
  package let table: UnitTable
  package let state: CrashState

  package init(table: UnitTable, state: CrashState) {
    self.table = table
    self.state = state
  }

  /// The number of events after which the power fails.
  fileprivate var cut: String { "after \(Formatting.counted(state.crashPoint, "event"))" }

  fileprivate func failure(followedBy next: String) -> TraceWalk.Failure {
    TraceWalk.Failure(
      crashPoint: state.crashPoint, losses: Explainer(table: table).losses(of: state),
      text: "power fails \(cut)\(next)")
  }
}

/// A position in the recordings of a failure.
package final class FailureWalk {
  private let recordings: [TraceWalk]
  /// The lines printed before each of them.
  private let headings: [[String]]
  /// The current recording; 0 is the workload.
  private(set) var recovery = 0

  /// The workload alone.
  package init(_ workload: TraceWalk) {
    recordings = [workload]
    headings = [workload.introduction]
  }

  /// The workload and the recoveries from consecutive power cuts.
  /// - Parameters:
  ///   - cuts: The workload, and the recoveries in which power fails again.
  ///   - marks: The actor of each mark of the workload, if known.
  ///   - refusal: The recovery after them that fails by itself, with its ending, if that is the
  ///     failure.
  /// - Throws: `LabError` when a trace is invalid.
  package init(
    _ cuts: [CutRecording], marks: ActorMarks? = nil,
    refusal: (table: UnitTable, text: String)? = nil
  ) throws(LabError) {
    let recoveryCount = cuts.count - 1 + (refusal == nil ? 0 : 1)
    var recordings: [TraceWalk] = []
    for (number, recording) in cuts.enumerated() {
      let next = number < recoveryCount ? ", and recovery \(number + 1) begins" : ""
      recordings.append(
        try TraceWalk(
          recording.table, marks: number == 0 ? marks : nil,
          failure: recording.failure(followedBy: next), recovery: number))
    }
    if let refusal {
      let end = TraceWalk.Failure(crashPoint: refusal.table.trace.events.count, text: refusal.text)
      recordings.append(
        try TraceWalk(refusal.table, marks: nil, failure: end, recovery: cuts.count))
    }
    var headings = recordings.map(\.introduction)
    if recoveryCount > 0 {
      let recoveries = recoveryCount == 1 ? "1 recovery" : "\(recoveryCount) recoveries"
      headings[0].append(
        "the workload, and then \(recoveries): event N of recovery R is #R:N")
    }
    for number in 0..<recoveryCount {
      let whose = number == 0 ? "the workload" : "recovery \(number)"
      let key = StateKey(cuts[number].state, of: cuts[number].table)
      headings[number + 1].insert(
        "recovery \(number + 1) of \(recoveryCount), from the power cut \(cuts[number].cut) of "
          + "\(whose), crash state \(key)", at: 0)
    }
    self.recordings = recordings
    self.headings = headings
  }

  /// The workload's recording.
  package var workload: TraceWalk { recordings[0] }
  /// The current recording.
  package var recording: TraceWalk { recordings[recovery] }
  /// The current position: the recording, and the number of its events that are done.
  package var place: EventPlace { EventPlace(recovery: recovery, number: recording.position) }
  /// Number of recoveries.
  package var recoveryCount: Int { recordings.count - 1 }
  /// A description of the current recording, and of the power cut that it starts with.
  package var heading: [String] { headings[recovery] }

  /// Where the current recording ends, in words.
  package var end: String {
    "the recording\(recovery == 0 ? "" : " of recovery \(recovery)") ends after "
      + Formatting.counted(recording.count, "event")
  }

  /// Performs the next event, or enters the recovery after the power cut.
  ///
  /// Events recorded after a power cut are skipped: they are not part of the failure.
  /// - Returns: False at the end.
  /// - Throws: `LabError` when a trace is invalid.
  package func advance() throws(LabError) -> Bool {
    let isCut = recording.position == recording.failurePosition
    if isCut || recording.position == recording.count, try enterNext() { return true }
    return try recording.advance()
  }

  /// Goes to the failure of this recording; from there to that of the next; and finally to the end.
  /// - Returns: False at the end.
  /// - Throws: `LabError` when a trace is invalid.
  package func goOn() throws(LabError) -> Bool {
    var target = recording.failurePosition
    if recording.position >= target {
      if try enterNext() {
        target = recording.failurePosition
      } else {
        target = recording.count
        guard recording.position < target else { return false }
      }
    }
    try recording.go(to: target)
    return true
  }

  /// Goes forward or back to where this many events of a recording are done.
  /// - Parameter place: The recording, which must exist, and the number of events.
  /// - Throws: `LabError` when a trace is invalid.
  package func go(to place: EventPlace) throws(LabError) {
    precondition(recordings.indices.contains(place.recovery), "no recovery \(place.recovery)")
    recovery = place.recovery
    try recording.go(to: place.number)
  }

  /// Goes to the start of the next recording, if there is one.
  private func enterNext() throws(LabError) -> Bool {
    guard recovery < recoveryCount else { return false }
    try go(to: EventPlace(recovery: recovery + 1, number: 0))
    return true
  }
}
