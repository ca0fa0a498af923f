// ThreadSanitizerMutex.swift [U]: a mutex that ThreadSanitizer understands, in place of the one in
// Synchronization, whose code is not instrumented: all state that it protects would be reported as
// a race. Only in a build with THREAD_SANITIZER (`make test-thread`).

#if THREAD_SANITIZER
  import Glibc

  /// Protects a value, as `Synchronization.Mutex` does.
  @safe struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    // Safety: the value is touched under the lock only; both exist until deinit, when no other
    // thread has a reference.
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    init(_ initial: consuming sending Value) {
      unsafe lock = .allocate(capacity: 1)
      unsafe pthread_mutex_init(lock, nil)
      unsafe value = .allocate(capacity: 1)
      unsafe value.initialize(to: initial)
    }

    deinit {
      unsafe value.deinitialize(count: 1)
      unsafe value.deallocate()
      unsafe pthread_mutex_destroy(lock)
      unsafe lock.deallocate()
    }

    borrowing func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      unsafe pthread_mutex_lock(lock)
      defer { unsafe pthread_mutex_unlock(lock) }
      return try unsafe body(&value.pointee)
    }
  }
#endif
