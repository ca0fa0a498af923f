// Trace+Without.swift: a trace as if some files had never existed. A database's lock file is shared
// memory that happens to have a name: the first process that opens the database after a crash
// recreates it whatever it holds (the engine's invariant E8, with its own test), so its content
// after a crash does not matter.

extension Trace {
  /// The trace without every file created or found under a name for which `isLeftOut` is true.
  /// - Complexity: O(events).
  package func without(_ isLeftOut: (FileName) -> Bool) -> Trace {
    var trace = self
    var leftOut: Set<InodeNumber> = []
    for (number, inode) in trace.initial.inodes where !inode.entries.isEmpty {
      for (name, child) in inode.entries where isLeftOut(name) {
        leftOut.insert(child)
        trace.initial.inodes[number]?.entries[name] = nil
      }
    }
    for number in leftOut { trace.initial.inodes[number] = nil }
    trace.events = []
    var newIndex: [Int] = []
    for event in events {
      newIndex.append(trace.events.count)
      if case .operation(let operation) = event.body {
        if case .create(let inode, _, let name, _, _, _, _) = operation, isLeftOut(name) {
          leftOut.insert(inode)
        }
        if leftOut.contains(operation.inode) { continue }
        if case .syncAll(let late) = operation, late > 0 {
          let begin = newIndex[newIndex.count - 1 - late]
          trace.events.append(
            event.with(.operation(.syncAll(late: trace.events.count - begin))))
          continue
        }
      }
      trace.events.append(event)
    }
    newIndex.append(trace.events.count)
    for fault in trace.faults.indices {
      let old = trace.faults[fault].position
      let isGone =
        old < events.count && newIndex[old + 1] == newIndex[old]
      trace.faults[fault].position = newIndex[min(old, events.count)]
      if isGone { trace.faults[fault].isOfEvent = false }
    }
    for place in trace.phases.indices {
      trace.phases[place].position = newIndex[min(trace.phases[place].position, events.count)]
    }
    return trace
  }
}
