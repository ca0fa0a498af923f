// UnitTable.swift: all pending units of a trace under one model, and when each becomes durable.
// Invariants: built once, never changed; units are in order of events; the set of units durable at
// a crash point is closed under the dependencies in force there (except for superseded units). A
// superseded unit counts as durable although its dependencies may not be: a later durable truncate
// hides its effect. A dropped unit (a failed sync marked its pages clean) is never made durable by
// its own sync, and metadata no longer waits for it.

import Recording

/// All pending units of a trace under one model, and when each becomes durable.
public struct UnitTable: Sendable {
  /// The recorded run.
  public let trace: Trace
  /// The rules.
  public let model: PersistenceModel
  /// Units by id.
  public let units: [PendingUnit]
  /// Units of event e are `firstUnit[e]..<firstUnit[e + 1]`.
  let firstUnit: [Int]
  /// Number of marks before each crash point.
  let marksBefore: [Int]
  /// Event whose completion made the unit durable; `never` if no sync did.
  let durableFrom: [Int]
  /// Failed sync that dropped the unit's data; `never` if none did.
  let droppedFrom: [Int]
  /// Units that each sync made durable, ascending.
  let becomesDurable: [Int: [Int]]
  /// Durable units whose effect must wait for smaller pending units of the same inode, with the
  /// event until which they wait (a truncate that cuts through pending data).
  let deferredUntil: [Int: Int]
  /// Units that are durable only because a later durable size hides them.
  let superseded: Set<Int>
  /// The attributes with which each inode of the trace was created.
  let creations: [InodeNumber: InodeImage]
  /// The units that change the same bytes or sizes.
  let overlaps: UnitOverlaps

  /// Stands for an event that never happens.
  static let never = Int.max

  /// Number of crash points: before the first event, and after each.
  public var crashPointCount: Int { trace.events.count + 1 }

  /// Units of one event.
  public func units(ofEvent event: Int) -> Range<Int> { firstUnit[event]..<firstUnit[event + 1] }

  /// Number of units issued before a crash point.
  public func issuedCount(at crashPoint: Int) -> Int { firstUnit[crashPoint] }

  /// Number of marks acknowledged before a crash point.
  public func acknowledgedMarks(at crashPoint: Int) -> Int { marksBefore[crashPoint] }

  /// True when a unit survives every crash at a crash point.
  public func isDurable(_ unit: Int, at crashPoint: Int) -> Bool { durableFrom[unit] < crashPoint }

  /// Ids of the units that may or may not survive a crash at a crash point, ascending.
  /// - Complexity: O(units issued before).
  public func pendingUnits(at crashPoint: Int) -> [Int] {
    (0..<firstUnit[crashPoint]).filter { durableFrom[$0] >= crashPoint }
  }

  /// True when `unit` still waits for `dependency` at a crash point, durable or not.
  func isInForce(_ unit: Int, on dependency: Int, at crashPoint: Int) -> Bool {
    droppedFrom[dependency] >= crashPoint
      || units[unit].changesContent(ofFileIn: units[dependency])
  }

  /// Pending units that must persist before a pending unit, at a crash point.
  public func pendingDependencies(of unit: Int, at crashPoint: Int) -> [Int] {
    units[unit].dependencies.filter {
      durableFrom[$0] >= crashPoint && isInForce(unit, on: $0, at: crashPoint)
    }
  }
}
