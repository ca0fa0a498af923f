// Listener.swift [U]: the one thread per open database that waits in the kernel for commits of
// other threads and processes, and wakes the realms that are at older versions. Invariants: it runs
// while a realm listens; it keeps neither realms nor their store alive; `stop` returns when the
// thread has released the database.

import Dispatch
import Engine
import Glibc
import Synchronization

/// Waits for versions on behalf of the realms of one database.
@safe final class Listener: @unchecked Sendable {
  // Safety: the mutex guards the list; the thread shares nothing else.
  private struct Rung: Sendable {
    var wakeups: [Wakeup] = []
    /// Why the thread ended although realms listen.
    var failure: EngineError?
  }

  private let rung = Mutex(Rung())
  private let watcher: Mutex<ChangeWatcher?>
  private let ended = DispatchSemaphore(value: 0)
  private let process = getpid()
  private let thread = Atomic<UInt>(0)

  private init(_ watcher: ChangeWatcher) { self.watcher = Mutex(watcher) }

  /// Starts the thread.
  /// - Throws: `EngineError` when the database is closed, or no thread can be made.
  static func start(_ database: Database) throws(EngineError) -> Listener {
    let listener = Listener(try database.makeChangeWatcher())
    var thread = pthread_t()
    let known = database.version
    let work = unsafe Unmanaged.passRetained(Work(listener: listener, known: known))
    // Safety: the work is retained until the thread takes it over.
    let failure = unsafe pthread_create(
      &thread, nil,
      { argument in
        guard let argument = unsafe argument else { return nil }
        // Safety: the argument is the retained work, which is taken over here, once.
        let work = unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
        work.listener.run(after: work.known)
        return nil
      }, work.toOpaque())
    guard failure == 0 else {
      unsafe work.release()
      throw EngineError(
        code: .io, message: "no thread can be made to wait for changes; end others first",
        errno: failure)
    }
    pthread_detach(thread)
    return listener
  }

  private final class Work {
    let listener: Listener
    let known: Version

    init(listener: Listener, known: Version) {
      self.listener = listener
      self.known = known
    }
  }

  /// Rings for a realm from now on.
  func add(_ wakeup: Wakeup) {
    let failure = rung.withLock { rung in
      if !rung.wakeups.contains(where: { $0 === wakeup }) { rung.wakeups.append(wakeup) }
      return rung.failure
    }
    // A version published before this call caused no wake-up for it.
    if let failure { wakeup.fail(failure) } else { wakeup.schedule() }
  }

  /// Stops waking a realm.
  /// - Returns: Whether it was the last one.
  func remove(_ wakeup: Wakeup) -> Bool {
    rung.withLock { rung in
      rung.wakeups.removeAll { $0 === wakeup }
      return rung.wakeups.isEmpty
    }
  }

  /// Longest time until observers are notified that the file was removed.
  private static let lookMilliseconds = 1000

  private func run(after known: Version) {
    thread.store(UInt(pthread_self()), ordering: .releasing)
    Self.nameThread()
    listen(after: known)
    // Before the signal: its waiter may rely on the database being released.
    watcher.withLock { $0 = nil }
    ended.signal()
  }

  static let threadName = "realm-listener"

  /// The name is only for tools that inspect the process.
  private static func nameThread() {
    // Safety: the path is a literal.
    let file = unsafe Glibc.open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    let name = Array(threadName.utf8)
    // Safety: the array outlives the call, which reads no more than its count.
    _ = unsafe name.withUnsafeBytes { bytes in
      unsafe Glibc.write(file, bytes.baseAddress, bytes.count)
    }
    Glibc.close(file)
  }

  private func listen(after known: Version) {
    guard let watcher = watcher.withLock({ $0 }) else { return }
    var known = known
    var nextLook = ContinuousClock.now
    while !watcher.isCancelled {
      do throws(EngineError) {
        known = try watcher.wait(after: known, timeoutMilliseconds: Self.lookMilliseconds)
        // Not at each of many commits in a row, but also when there is never a pause.
        if ContinuousClock.now >= nextLook {
          try watcher.checkPlace()
          nextLook = .now + .milliseconds(Self.lookMilliseconds)
        }
      } catch { return fail(error) }
      for wakeup in rung.withLock({ $0.wakeups })
      where wakeup.position.load(ordering: .acquiring) < known.rawValue {
        wakeup.schedule()
      }
    }
  }

  /// There will be no more wake-ups: the realms have to report it.
  private func fail(_ error: EngineError) {
    let wakeups = rung.withLock { rung in
      rung.failure = error
      return rung.wakeups
    }
    for wakeup in wakeups { wakeup.fail(error) }
  }

  /// Ends the thread; returns when it is over, unless the thread itself is the caller.
  func stop() {
    watcher.withLock { $0 }?.cancel()
    // A child of fork has no such thread.
    guard process == getpid() else { return }
    if thread.load(ordering: .acquiring) != UInt(pthread_self()) { ended.wait() }
  }
}
