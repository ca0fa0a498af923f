// HeldOutputs.swift: outputs that a machine holds until its file is durable. Invariant: an output
// is released after a store that contains the whole state at the time of the output; there is one
// store at a time.

/// Outputs that wait for a store.
struct HeldOutputs<Output: Hashable & Sendable>: Hashable, Sendable {
  /// Wait for the store that has not begun.
  private var next: [Output] = []
  /// Wait for the store that is under way.
  private var waiting: [Output] = []
  /// Whether a store is under way.
  private(set) var isStoring = false
  /// Whether the file has changed since the last store began.
  var isDirty = false

  mutating func append(_ output: Output) { next.append(output) }

  /// Drops obsolete outputs, such as messages of a closed connection.
  mutating func removeAll(where isVain: (Output) -> Bool) {
    next.removeAll(where: isVain)
    waiting.removeAll(where: isVain)
  }

  /// The store that was under way has ended.
  mutating func stored() -> [Output] {
    guard isStoring else { return [] }
    isStoring = false
    let outputs = waiting
    waiting = []
    return outputs
  }

  /// The outputs that may be released now.
  mutating func release(store: () -> Output) -> [Output] {
    guard !isStoring else { return [] }
    let outputs = next
    next = []
    guard isDirty else { return outputs }
    isDirty = false
    isStoring = true
    waiting = outputs
    return [store()]
  }
}

extension HeldOutputs: FixedHashable where Output: FixedHashable {
  func feed(_ hasher: inout FixedHasher) {
    hasher.feed(next)
    hasher.feed(waiting)
    hasher.feed(isStoring)
    hasher.feed(isDirty)
  }
}
