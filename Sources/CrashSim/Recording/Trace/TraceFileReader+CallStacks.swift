// TraceFileReader+CallStacks.swift: reads and validates the call stacks of a trace file.

extension TraceFileReader {
  /// Reads all stacks and assigns them to the events that refer to them.
  func readCallStacks(into trace: inout Trace) throws {
    var result = CallStacks()
    try each("modules", orderedBy: "number") { row in
      guard try row.number(0) == UInt64(result.modules.count),
        result.modules.count < CallStacks.modulesMax
      else { throw row.wrong("number is not the row's number, counted from 0") }
      let path = try row.text(1)
      guard CallStacks.isModulePath(path) else { throw row.wrong("no absolute path in one line") }
      result.modules.append(path)
    }
    try each("stacks", orderedBy: "stack, depth") { row in
      let stack = try row.number(0)
      let depth = try row.number(1, in: 0...UInt64(CallStacks.framesMax - 1))
      let module = try row.number(2)
      guard module < result.modules.count else { throw row.wrong("there is no module \(module)") }
      let frame = CodeAddress(
        module: Int(module), address: try row.number(3, in: 0...CallStacks.addressEnd - 1))
      if depth == 0, stack == result.stacks.count {
        result.stacks.append([frame])
      } else if result.stacks.last?.count == Int(depth), stack == result.stacks.count - 1 {
        result.stacks[result.stacks.count - 1].append(frame)
      } else {
        throw row.wrong("stack=\(stack) depth=\(depth) does not follow the row before")
      }
    }
    var events = trace.events
    try each("event_stacks", orderedBy: "seq") { row in
      let event = try row.number(0)
      let stack = try row.number(1)
      guard event < events.count, stack < result.stacks.count else {
        throw row.wrong(
          "seq=\(event) stack=\(stack), and there are \(events.count) events and "
            + "\(result.stacks.count) stacks")
      }
      guard case .operation = events[Int(event)].body else {
        throw row.wrong("event \(event) is a mark, which no call stack belongs to")
      }
      events[Int(event)].stack = Int(stack)
    }
    trace.events = events
    trace.callStacks = result
  }
}
