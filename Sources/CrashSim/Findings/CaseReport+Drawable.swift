// CaseReport+Drawable.swift: checks whether a report read from a file can be drawn: its numbers
// must be in the range of reports made by this program, so that no sum and no index traps.

extension CaseReport {
  /// True when every place exists and no sum overflows.
  package var isDrawable: Bool {
    timelines.allSatisfy(\.isDrawable) && messages?.isDrawable ?? true
      && explorations.allSatisfy { report in
        report.isDrawable && report.recording.map { timelines.indices.contains($0) } ?? true
      }
  }
}

/// Limit of the number of events, states or seconds in a report.
private let countMax = 1 << 40

private func areCounts(_ numbers: [Int?]) -> Bool {
  numbers.allSatisfy { $0.map { (0...countMax).contains($0) } ?? true }
}

extension ExplorationReport {
  fileprivate var isDrawable: Bool {
    areCounts([
      operationCount, markCount, crashPointCount, candidateCount, distinctCount, exploredCount,
      recoveryCount, media?.detectedCount, media?.unharmedCount, media?.wentBackCount,
    ])
      && (0...Double(countMax)).contains(seconds) && statesPerSecond <= Double(countMax)
      && (crashPoints ?? []).allSatisfy {
        areCounts([$0.crashPoint, $0.distinct, $0.checked, $0.failing])
      }
      && findings.allSatisfy {
        areCounts([$0.stateCount] + ($0.alsoSeenAs ?? []).map(\.stateCount))
      }
  }
}

extension Timeline {
  /// True when events ascend, and each has an actor.
  fileprivate var isDrawable: Bool {
    guard areCounts([eventCount]), events.count <= Self.eventsMax,
      actors.count <= Self.actorsMax + 1
    else { return false }
    var next = 0
    for event in events {
      guard event.number >= next, event.number < eventCount, actors.indices.contains(event.actor)
      else { return false }
      next = event.number + 1
    }
    return true
  }
}
