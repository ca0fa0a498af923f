// Trace+Ignoring.swift: a trace on a disk that acknowledges some of its syncs and ignores them.

extension Trace {
  /// Indices of the syncs that worked, in order; injected faults left out.
  var workingSyncs: [Int] {
    events.indices.filter { isWorkingSync($0) }
  }

  /// The trace as it would be had the disk ignored some of its syncs.
  /// - Parameter syncs: Indices of their events.
  /// - Returns: The trace with these syncs marked as ignored; all else is as it was.
  /// - Throws: `LabError` with code `.usage` when an event is no sync that worked.
  /// - Complexity: O(events).
  func ignoring(_ syncs: [Int]) throws(LabError) -> Trace {
    var trace = self
    for index in syncs {
      guard events.indices.contains(index), isWorkingSync(index) else {
        throw .usage(
          "event #\(index) is to be ignored, but it is no sync that worked; the trace has "
            + "\(events.count) events: the token belongs to another run")
      }
      let event = events[index]
      trace.events[index] = TraceEvent(
        event.body, flags: event.flags.union(.ignored), process: event.process,
        thread: event.thread, timeNanoseconds: event.timeNanoseconds, stack: event.stack)
    }
    return trace
  }

  private func isWorkingSync(_ index: Int) -> Bool {
    let event = events[index]
    guard case .operation(let operation) = event.body else { return false }
    return operation.isSync && event.flags.isDisjoint(with: [.ignored, .failed])
  }
}
