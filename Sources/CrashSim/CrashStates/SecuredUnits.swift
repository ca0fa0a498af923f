// SecuredUnits.swift: the pending units that some syncs secure: durable with them and pending
// without. A crash without the syncs that loses none of these units is also possible with them, so
// it proves nothing about the syncs.

/// The units that syncs secure, and from when.
struct SecuredUnits: Sendable {
  /// With the syncs, each unit is durable after this event.
  private let durableFrom: [Int]
  /// Crash points at which something is secured.
  let crashPoints: Range<Int>

  /// Compares the units of a trace with its syncs and without some of them.
  /// - Returns: Nil when the two cannot be compared unit by unit; then every state may matter.
  init?(with baseline: UnitTable, without table: UnitTable) {
    guard baseline.firstUnit == table.firstUnit,
      zip(baseline.units, table.units).allSatisfy({ $0.effects == $1.effects })
    else { return nil }
    durableFrom = baseline.durableFrom
    var first = Int.max
    var last = 0
    for unit in table.units.indices where durableFrom[unit] < table.durableFrom[unit] {
      first = min(first, durableFrom[unit] + 1)
      last = max(last, min(table.durableFrom[unit], table.crashPointCount - 1))
    }
    crashPoints = first <= last ? first..<last + 1 : 0..<0
  }

  /// Places of a window whose units would be durable with the syncs.
  func places(in window: PendingWindow) -> [Int] {
    guard crashPoints.contains(window.crashPoint) else { return [] }
    return window.ids.indices.filter { durableFrom[window.ids[$0]] < window.crashPoint }
  }
}
