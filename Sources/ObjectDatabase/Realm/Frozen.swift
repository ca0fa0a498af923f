// Frozen.swift [U]: wraps a frozen value as Sendable, for the compiler's concurrency checks.
// Invariant: the value is frozen, so it never changes, and any thread may read it.

/// A frozen object or collection that may go to other threads, tasks and actors.
@safe public struct Frozen<Value: ThreadConfined>: @unchecked Sendable {
  // Safety: reading a frozen value changes only state that a mutex guards.
  /// The frozen object or collection.
  public let value: Value

  /// Freezes an object or a collection.
  /// - Parameter threadConfined: A managed value; a frozen one is kept unchanged.
  public init(_ threadConfined: Value) { value = threadConfined.freeze() }
}
