// StressCounts.swift: how much a stress run did, for its last lines.

/// How much a stress run did.
struct StressCounts {
  var cuts = 0
  var kills = 0
  var operations = 0
  var marks = 0
  var ownEnds = 0

  mutating func add(_ record: RoundRecord) {
    if record.failure == nil { cuts += 1 }
    kills += max(0, record.stops.count - 1)
    marks += record.trace.markCount
    operations += record.trace.events.count - record.trace.markCount
    if record.ownEnd != nil { ownEnds += 1 }
  }
}
