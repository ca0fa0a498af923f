// CallSites.swift: the places in the program's source that called the operations of a trace.
// Symbols are looked up on first use, that is, when there is something to report.

import Recording

/// The call sites of one trace.
package final class CallSites {
  /// Most frames of a call site.
  private static let framesMax = 4

  private let trace: Trace
  private lazy var sites: [[SourceFrame]] = Symbolizer.shared.frames(of: trace.callStacks).map {
    SourceFrame.telling($0, count: Self.framesMax)
  }

  /// Call sites of a trace, with call stacks or without.
  package init(_ trace: Trace) { self.trace = trace }

  /// The call site of an event; nil if the trace does not have it.
  func site(of event: Int) -> CallSite? {
    guard trace.events.indices.contains(event), let stack = trace.events[event].stack,
      sites.indices.contains(stack), !sites[stack].isEmpty
    else { return nil }
    return CallSite(event: event, frames: sites[stack])
  }

  /// The source lines that called an event, for example `Save.swift:88 ← main.swift:3`.
  package func places(of event: Int) -> String? {
    site(of: event).map { $0.frames.map(\.place).joined(separator: " ← ") }
  }
}
