// TracePhase.swift: which phase of its work a process had come to, as the process itself announced.

/// A phase that a process has come to, or the end of its phases.
public struct TracePhase: Hashable, Sendable {
  /// Events before it; it lasts until the next one of its process.
  public var position: Int
  /// The process.
  public var process: Int32
  /// The phase in the process's own words; nil when the process is in none any more.
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
