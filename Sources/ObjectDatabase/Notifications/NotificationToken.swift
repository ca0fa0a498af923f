// NotificationToken.swift [U]: controls how long a callback is called. Invariants: only the token
// keeps its observer alive, so an observation ends with its token; once `invalidate` has returned,
// no call begins, on whichever thread it was called.

import Synchronization

/// Keeps a callback registered; the calls end when it is released or invalidated.
@safe public final class NotificationToken: @unchecked Sendable {
  // Safety: the mutex guards the state, and an observer is used by the realm's owner only.
  private struct State {
    var observer: Observer?
    /// The token on the requested queue.
    var inner: NotificationToken?
    var isInvalidated = false
  }

  private let state: Mutex<State>

  init(_ observer: Observer?) {
    let box = UncheckedBox(State(observer: observer))
    state = Mutex(box.value)
  }

  deinit { invalidate() }

  /// Ends the calls; any thread may.
  public func invalidate() {
    let dropped = state.withLock { state in
      let dropped = UncheckedBox((state.observer, state.inner))
      state.isInvalidated = true
      state.observer = nil
      state.inner = nil
      return dropped
    }
    dropped.value.0?.end()
    dropped.value.1?.invalidate()
  }

  /// The observer; nil when the token was invalidated.
  var observer: Observer? { state.withLock { UncheckedBox($0.observer) }.value }

  /// The token on a queue, once there is one.
  var innerToken: NotificationToken? { state.withLock { $0.inner } }

  /// Makes this token control another one.
  func adopt(_ token: NotificationToken) {
    let isLate = state.withLock { state in
      if !state.isInvalidated { state.inner = token }
      return state.isInvalidated
    }
    if isLate { token.invalidate() }
  }
}

/// Wraps a value where the compiler requires Sendable; each use documents why that is safe.
@safe struct UncheckedBox<Value>: @unchecked Sendable {
  // Safety: documented at each use.
  let value: Value

  init(_ value: Value) { self.value = value }
}
