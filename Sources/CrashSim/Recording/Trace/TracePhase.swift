// TracePhase.swift: the phase of its work that a process was in, as announced by the process.

/// The start of a phase of a process, or the end of its phases.
public struct TracePhase: Hashable, Sendable {
  /// Number of events before it; it lasts until the next one of its process.
  public var position: Int
  /// The process.
  public var process: Int32
  /// The phase as named by the process; nil when the process leaves its phase.
  public var phase: String?

  /// Makes an entry.
  public init(position: Int, process: Int32, phase: String?) {
    self.position = position
    self.process = process
    self.phase = phase
  }
}

extension Trace {
  /// The phase that the process of an event was in.
  package func phase(at number: Int) -> String? {
    let process = events[number].process
    return phases.last { $0.process == process && $0.position <= number }?.phase
  }
}
