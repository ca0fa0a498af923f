// StressCounts.swift: the counts of a stress run, for its board, its metrics and its last lines,
// and what the run comes to.

import Findings

/// The counts of a stress run.
struct StressCounts {
  var cuts = 0
  var kills = 0
  var operations = 0
  var marks = 0
  var ownEnds = 0
  var lives = 0
  /// Power cuts that the built-in checker could not judge.
  var unjudged = 0
  /// Acknowledged commits and read-only transactions of the built-in load.
  var commits = 0
  var looks = 0
  /// Faults that hit, by kind.
  var faults: [String: Int] = [:]

  mutating func add(_ record: RoundRecord) {
    if record.failure == nil { cuts += 1 }
    kills += max(0, record.stops.count - 1)
    marks += record.trace.markCount
    operations += record.trace.events.count - record.trace.markCount
    if record.ownEnd != nil { ownEnds += 1 }
    for mark in record.trace.marks {
      if mark.bytes.starts(with: "commit ".utf8) { commits += 1 }
      if mark.bytes.starts(with: "seen ".utf8) { looks += 1 }
    }
    for (kind, count) in record.faults where count > 0 { faults[kind, default: 0] += count }
  }
}

extension CaseReport {
  /// Decides the outcome of a stress run by its findings and complaints.
  mutating func decideStress() {
    if !findings.isEmpty {
      outcome = .broken
    } else if !complaints.isEmpty {
      outcome = .labFailed
    } else {
      outcome = isInterrupted ? .interrupted : .held
    }
  }
}
