// Trace+Ignoring.swift: a trace with fewer syncs, as on a disk that acknowledges some syncs but
// ignores them, or with one more, as of a program that does not omit it.

import LabCore

extension Trace {
  /// Indices of the syncs that succeeded, in order; without injected faults.
  package var workingSyncs: [Int] {
    events.indices.filter { isWorkingSync($0) }
  }

  /// The trace as if the disk had ignored some of its syncs.
  /// - Parameter syncs: Indices of their events.
  /// - Returns: The trace with these syncs marked as ignored; the rest is unchanged.
  /// - Throws: `LabError` with code `.usage` when an event is not a sync that succeeded.
  /// - Complexity: O(events).
  package func ignoring(_ syncs: [Int]) throws(LabError) -> Trace {
    var trace = self
    for index in syncs {
      guard events.indices.contains(index), isWorkingSync(index) else {
        throw .usage(
          "event #\(index) is to be ignored, but it is not a sync that worked; the trace has "
            + "\(events.count) events: the token belongs to another run")
      }
      trace.events[index] = events[index].with(flags: events[index].flags.union(.ignored))
    }
    return trace
  }

  /// The trace with another operation inserted as the event with this index.
  /// - Complexity: O(events).
  package func inserting(_ operation: Operation, at index: Int) -> Trace {
    var trace = self
    for later in events.indices[index...] {
      // One more event now happened while a sync of everything waited.
      guard case .operation(.syncAll(let late)) = events[later].body, later - late < index else {
        continue
      }
      trace.events[later] = events[later].with(.operation(.syncAll(late: late + 1)))
    }
    trace.events.insert(TraceEvent(.operation(operation)), at: index)
    return trace
  }

  private func isWorkingSync(_ index: Int) -> Bool {
    let event = events[index]
    guard case .operation(let operation) = event.body else { return false }
    return operation.isSync && event.flags.isDisjoint(with: [.ignored, .failed])
  }
}
