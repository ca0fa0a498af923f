// OwnCallStacks.swift: [U] Faultline's own call stacks, for engine operations that it records in
// its own process (recoveries). Programs under test record their own (CallStackArea.swift).
// Safety: the buffers are as large as the call requires; paths are copied, and their modules stay
// loaded.

import CSystem
import Foundation
import LabCore

/// The call stacks of this process, in order of appearance.
package struct OwnCallStacks {
  private var seen = SeenCallStacks()
  /// The modules; a frame stores its module's index above its address.
  private var paths: [String] = []
  private let program = PathCalls.executable() ?? ""

  package init() {
  }

  /// The stack of the calling thread.
  /// - Returns: A number for `settle`; nil without a stack, or when there are too many.
  package mutating func number() -> Int? {
    var addresses = [UInt64](repeating: 0, count: CallStacks.framesMax)
    var names = unsafe [UnsafePointer<CChar>?](repeating: nil, count: CallStacks.framesMax)
    let depth = unsafe csystem_own_call_stack(&addresses, &names, Int32(CallStacks.framesMax))
    guard depth > 0 else { return nil }
    var frames: [UInt64] = []
    for index in 0..<Int(depth) {
      guard let name = unsafe names[index] else { break }
      frames.append(UInt64(module(unsafe String(cString: name))) << 48 | addresses[index])
    }
    return seen.number(of: LeftCallStack(image: 0, frames: frames))
  }

  /// Index of a module; the program itself has no name.
  private mutating func module(_ name: String) -> Int {
    let path = name.isEmpty ? program : name
    if let known = paths.firstIndex(of: path) { return known }
    paths.append(path)
    return paths.count - 1
  }

  /// Replaces these stack numbers in events with those of the trace's stacks.
  /// - Returns: The stacks that events refer to.
  package func settle(_ events: inout [TraceEvent]) -> CallStacks {
    let list = Data(paths.joined(separator: "\n").utf8)
    return seen.settle(&events) { _ in list }
  }
}
