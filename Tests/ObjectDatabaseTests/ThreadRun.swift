// ThreadRun.swift [U]: a thread of its own for a block; tasks and queues may share theirs.

import Glibc
import Synchronization

enum ThreadRun {
  private final class Job: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
    let slot = Slot<Value>()
    let job = Job { slot.set(Result { try body() }) }
    var thread = pthread_t()
    let started = unsafe pthread_create(
      &thread, nil,
      { argument in
        guard let argument = unsafe argument else { return nil }
        let job = unsafe Unmanaged<Job>.fromOpaque(argument).takeRetainedValue()
        job.body()
        return nil
      }, Unmanaged.passRetained(job).toOpaque())
    guard started == 0 else { throw Failure("pthread_create: \(started)") }
    pthread_join(thread, nil)
    guard let value = slot.value else { throw Failure("the thread gave no result") }
    return try value.get()
  }

  private final class Slot<Value: Sendable>: Sendable {
    private let stored = Mutex<Result<Value, any Error>?>(nil)
    var value: Result<Value, any Error>? { stored.withLock { $0 } }
    func set(_ value: Result<Value, any Error>) { stored.withLock { $0 = value } }
  }
}

/// Takes what belongs to a thread to another one, which no program should.
@safe struct Smuggled<Value>: @unchecked Sendable {
  // Safety: the tests look at what the library does about it.
  let value: Value

  init(_ value: Value) { self.value = value }
}
