// Minimizer.swift: finds the fewest lost units with which a failing state still fails.
// Invariant: every state that is tried is allowed by the model; the last failing one is returned,
// so a limit on calls costs only minimality.

import LabCore
import Recording

/// Finds the fewest lost units with which a failing state still fails.
public struct Minimizer {
  private let table: UnitTable
  private let maximumCalls: Int

  /// Makes a minimizer that calls its check at most `maximumCalls` times per state.
  public init(table: UnitTable, maximumCalls: Int = 256) {
    self.table = table
    self.maximumCalls = maximumCalls
  }

  /// Restores as many lost units as possible while the state keeps failing.
  ///
  /// First the torn write is completed or dropped; then ever smaller groups of files and
  /// directories get back all that they lost, then of operations, then of lost units, each with its
  /// dependencies.
  /// - Parameters:
  ///   - state: A failing state of the table.
  ///   - stillFails: Checks a state.
  /// - Returns: The smallest failing state found; restoring any one of its lost units makes it
  ///   pass, unless the calls ran out.
  /// - Throws: Whatever the check throws.
  public func minimized(
    _ state: CrashState, stillFails: (CrashState) throws(LabError) -> Bool
  ) throws(LabError) -> CrashState {
    var best = state
    var calls = 0
    func fails(_ candidate: CrashState) throws(LabError) -> Bool {
      guard calls < maximumCalls else { return false }
      calls += 1
      return try stillFails(candidate)
    }
    if let torn = best.torn {
      for kept in [(best.kept + [torn.unit]).sorted(), best.kept] {
        let candidate = try table.state(at: state.crashPoint, keeping: kept)
        if try fails(candidate) {
          best = candidate
          break
        }
      }
    }
    /// Restores ever smaller parts of what is lost; a group of units is never split.
    func restore(_ groups: (CrashState) -> [[Int]]) throws(LabError) {
      var parts = 2
      var open = groups(best)
      while !open.isEmpty, calls < maximumCalls {
        let size = max(1, (open.count + parts - 1) / parts)
        var isSmaller = false
        for start in stride(from: 0, to: open.count, by: size) {
          let part = open[start..<min(start + size, open.count)].flatMap { $0 }
          guard let candidate = try restoring(part, in: best) else { continue }
          if try fails(candidate) {
            best = candidate
            isSmaller = true
            break
          }
        }
        if isSmaller {
          open = groups(best)
          parts = max(2, parts - 1)
        } else if size == 1 {
          break
        } else {
          parts = min(open.count, parts * 2)
        }
      }
    }
    try restore(lostByInode)
    try restore(lostByEvent)
    try restore { state in state.lost.map { [$0] } }
    return best
  }

  /// Lost units by the file or directory on which a sync would have to be called, in order of the
  /// first unit of each; empty when there is only one.
  package func lostByInode(_ state: CrashState) -> [[Int]] {
    var places: [InodeNumber: Int] = [:]
    var groups: [[Int]] = []
    for unit in state.lost {
      guard let inode = table.units[unit].effects.first?.syncedInode else { continue }
      if let place = places[inode] {
        groups[place].append(unit)
      } else {
        places[inode] = groups.count
        groups.append([unit])
      }
    }
    return groups.count > 1 ? groups : []
  }

  /// Lost units by their operation, in order; empty when each operation has only one.
  private func lostByEvent(_ state: CrashState) -> [[Int]] {
    var groups: [[Int]] = []
    for unit in state.lost.sorted() {
      if let last = groups.last?.last, table.units[last].event == table.units[unit].event {
        groups[groups.count - 1].append(unit)
      } else {
        groups.append([unit])
      }
    }
    return groups.count < state.lost.count ? groups : []
  }

  /// The state that also keeps some lost units and their dependencies; nil when that would require
  /// the whole torn unit.
  package func restoring(
    _ restored: [Int], in state: CrashState
  ) throws(LabError) -> CrashState? {
    var kept = Set(state.kept)
    var open = restored
    while let unit = open.popLast() {
      if unit == state.torn?.unit { return nil }
      guard kept.insert(unit).inserted else { continue }
      open += table.pendingDependencies(of: unit, at: state.crashPoint)
    }
    return try table.state(at: state.crashPoint, keeping: kept.sorted(), torn: state.torn)
  }
}
