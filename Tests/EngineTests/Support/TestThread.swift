// TestThread.swift [U]: a thread of its own for a body that blocks.
// Safety: the thread gets a retained box, and gives it back.

import Glibc

/// A running thread.
struct TestThread {
  fileprivate let handle: pthread_t

  /// Waits for its end.
  func join() { pthread_join(handle, nil) }
}

private final class Body: Sendable {
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// Starts a thread.
@discardableResult
func startThread(_ body: @escaping @Sendable () -> Void) -> TestThread {
  var handle = pthread_t()
  let box = unsafe Unmanaged.passRetained(Body(body)).toOpaque()
  let code = unsafe pthread_create(
    &handle, nil,
    { box in
      guard let box = unsafe box else { return nil }
      unsafe Unmanaged<Body>.fromOpaque(box).takeRetainedValue().run()
      return nil
    }, box)
  precondition(code == 0, "a thread can be made")
  return TestThread(handle: handle)
}
