// MetFindings.swift: failures in the order in which they are found, before they are explained.
// Invariant: they are reported in the order of the states, regardless of the number of checkers: a
// failure waits until all states before it are judged.

import Findings
import LabCore
import Synchronization

/// The first failure of each class, as soon as it is known to be the first.
final class MetFindings: Sendable {
  private struct State {
    /// States that were passed to checkers, in order, and not processed yet.
    var waiting: ArraySlice<Int> = []
    var verdicts: [Int: CheckResult] = [:]
    var classes: Set<String>
  }

  private let state: Mutex<State>

  /// - Parameter known: Classes of failures that were found before.
  init(known: Set<String>) {
    state = Mutex(State(classes: known))
  }

  /// Records that a state was passed to a checker.
  func expect(_ ordinal: Int) {
    state.withLock { $0.waiting.append(ordinal) }
  }

  /// Records a verdict; can be called from any thread.
  func note(_ result: CheckResult, of ordinal: Int) {
    state.withLock { $0.verdicts[ordinal] = result }
  }

  /// The next failure that is the first of its class; nil when none is known yet.
  func next() -> (ordinal: Int, result: CheckResult)? {
    state.withLock { state in
      while let ordinal = state.waiting.first, let result = state.verdicts[ordinal] {
        state.waiting.removeFirst()
        state.verdicts[ordinal] = nil
        if result.ending.isSuccess { continue }
        if state.classes.insert(FailureClass.key(of: result)).inserted { return (ordinal, result) }
      }
      return nil
    }
  }
}
