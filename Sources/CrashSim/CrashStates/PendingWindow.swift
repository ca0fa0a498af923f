// PendingWindow.swift: the pending units of one crash point with their order; moves through the
// trace.
// Invariant: `ids` ascends; local dependencies are smaller than the unit; durable units are
// removed, and dependencies cut by a failed sync are left out.

/// The pending units of one crash point with their order.
package struct PendingWindow {
  let table: UnitTable
  private(set) var crashPoint = 0
  private(set) var ids: [Int] = []
  private(set) var dependencies: [[Int]] = []
  private(set) var dependents: [[Int]] = []
  private(set) var bound = ChainBound()
  /// Places of the units of the newest operation.
  private(set) var newest = 0..<0
  /// First place issued after the latest sync.
  private(set) var firstAfterSync = 0
  /// True: all states of this crash point count as new, not only those that keep a newest unit.
  var isFull = true
  private var placeOf: [Int: Int] = [:]

  package init(table: UnitTable) { self.table = table }

  package var count: Int { ids.count }

  /// Moves to the next crash point.
  package mutating func advance() {
    let event = crashPoint
    crashPoint += 1
    if hasChangedOrder(event) { rebuild() }
    let first = ids.count
    for unit in table.units(ofEvent: event) { append(unit) }
    newest = first..<ids.count
    if isSync(event) { firstAfterSync = ids.count }
  }

  /// True when the event at a crash point, which has not happened yet, is a sync.
  var isBeforeSync: Bool { crashPoint < table.trace.events.count && isSync(crashPoint) }

  private func isSync(_ event: Int) -> Bool {
    guard case .operation(let operation) = table.trace.events[event].body else { return false }
    return operation.isSync
  }

  private func hasChangedOrder(_ event: Int) -> Bool {
    table.becomesDurable[event] != nil
      || (isSync(event) && table.trace.events[event].flags.contains(.failed))
  }

  private mutating func rebuild() {
    let old = ids
    let boundary = firstAfterSync < old.count ? old[firstAfterSync] : Int.max
    ids.removeAll(keepingCapacity: true)
    dependencies.removeAll(keepingCapacity: true)
    dependents.removeAll(keepingCapacity: true)
    placeOf.removeAll(keepingCapacity: true)
    bound = ChainBound()
    for unit in old where !table.isDurable(unit, at: crashPoint) { append(unit) }
    firstAfterSync = ids.firstIndex { $0 >= boundary } ?? ids.count
  }

  private mutating func append(_ unit: Int) {
    let place = ids.count
    let local = table.pendingDependencies(of: unit, at: crashPoint).compactMap { placeOf[$0] }
    ids.append(unit)
    dependencies.append(local)
    dependents.append([])
    for dependency in local { dependents[dependency].append(place) }
    placeOf[unit] = place
    bound.append(place, after: local)
  }

  // MARK: Closures

  /// Adds a place and all of its dependencies.
  func keep(_ place: Int, in kept: inout KeptSet) {
    if kept.contains(place) { return }
    var open = [place]
    kept.insert(place)
    while let next = open.popLast() {
      for dependency in dependencies[next] where !kept.contains(dependency) {
        kept.insert(dependency)
        open.append(dependency)
      }
    }
  }

  /// Removes a place and all that depends on it.
  func lose(_ place: Int, in kept: inout KeptSet) {
    if !kept.contains(place) { return }
    var open = [place]
    kept.remove(place)
    while let next = open.popLast() {
      for dependent in dependents[next] where kept.contains(dependent) {
        kept.remove(dependent)
        open.append(dependent)
      }
    }
  }

  /// True when a kept set is first possible at this crash point.
  func isNew(_ kept: KeptSet) -> Bool { isFull || kept.hasMember(from: newest.lowerBound) }

  /// Up to `limit` places: when there are more, half of the limit from each end.
  func places(atMost limit: Int, in range: Range<Int>? = nil) -> [Int] {
    let range = range ?? 0..<count
    guard range.count > limit else { return Array(range) }
    let half = limit / 2
    return Array(range.prefix(half)) + Array(range.suffix(limit - half))
  }
}
