// TraceStep.swift: which phase a process had come to, as it announced it.

/// A step that a process has come to, or the end of its commit.
public struct TraceStep: Hashable, Sendable {
  /// Events before it; it lasts until the next one of its process.
  public var position: Int
  /// The process.
  public var process: Int32
  /// Raw value of the engine's `CommitStep`; nil when the process is in none any more.
  public var step: Int?

  /// Makes an entry.
  public init(position: Int, process: Int32, step: Int?) {
    self.position = position
    self.process = process
    self.step = step
  }
}
