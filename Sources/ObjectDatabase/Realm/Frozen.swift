// Frozen.swift [U]: what is frozen, as the compiler's checks of concurrency want it: Sendable.
// Invariant: the value is frozen, so it never changes, and any thread may read it.

/// A frozen object or collection that may go to other threads, tasks and actors.
@safe public struct Frozen<Value: ThreadConfined>: @unchecked Sendable {
  // Safety: reading a frozen value changes nothing but what a mutex guards.
  /// The frozen object or collection.
  public let value: Value

  /// Freezes an object or a collection.
  /// - Parameter threadConfined: A managed one; one that is frozen stays what it is.
  public init(_ threadConfined: Value) { value = threadConfined.freeze() }
}
