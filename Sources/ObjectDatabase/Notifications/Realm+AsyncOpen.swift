// Realm+AsyncOpen.swift: opening a realm without blocking the caller, for files whose migration or
// compaction takes long.

import Dispatch
import Synchronization

extension Realm {
  /// What an open waits for in RealmSwift; of no meaning here, where nothing is downloaded.
  public enum OpenBehavior: Sendable {
    /// Opens at once.
    case never
    /// Waits for a file that is made.
    case once
    /// Always waits.
    case always
  }

  /// Opens a realm on another thread, with migration and compaction, and then on a queue, where it
  /// is used.
  /// - Parameters:
  ///   - configuration: How.
  ///   - callbackQueue: A serial queue, which the realm belongs to.
  ///   - callback: Gets the realm, or the error.
  /// - Returns: The task, for cancelling it.
  @discardableResult
  public static func asyncOpen(
    configuration: Configuration = .defaultConfiguration,
    callbackQueue: DispatchQueue = .main,
    callback: @escaping (Result<Realm, any Swift.Error>) -> Void
  ) -> AsyncOpenTask {
    let task = AsyncOpenTask()
    // Safety: it is called once, on the caller's queue.
    let callback = UncheckedBox(callback)
    DispatchQueue.global().async {
      // A realm in memory has nothing that takes long, and would be gone with this thread's.
      let prepared = Result {
        guard configuration.inMemoryIdentifier == nil, !task.isCancelled else { return }
        _ = try Realm(configuration: configuration)
      }
      callbackQueue.async {
        guard !task.isCancelled else { return }
        callback.value(
          prepared.flatMap {
            Result { try Realm(configuration: configuration, queue: callbackQueue) }
          })
      }
    }
    return task
  }

  /// Opens the realm of the actor that the caller runs on.
  /// - Parameters:
  ///   - configuration: How.
  ///   - downloadBeforeOpen: Of no meaning: nothing is downloaded.
  ///   - isolation: The actor.
  /// - Returns: The realm.
  /// - Throws: `Realm.Error`.
  public static func open(
    configuration: Configuration = .defaultConfiguration,
    downloadBeforeOpen: OpenBehavior = .never, isolation: isolated any Actor = #isolation
  ) async throws -> Realm {
    Realm(try core(configuration, of: isolation))
  }
}

/// An open that was not reported yet.
public final class AsyncOpenTask: Sendable {
  private let cancelled = Mutex(false)

  var isCancelled: Bool { cancelled.withLock { $0 } }

  /// Has the callback not called; the file stays as it was opened.
  public func cancel() { cancelled.withLock { $0 = true } }
}
