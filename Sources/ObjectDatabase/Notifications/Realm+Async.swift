// Realm+Async.swift: writes that do not block their caller, with callbacks and in tasks; realms of
// actors. Invariant: a realm sees only durable changes: from an asynchronous commit until its
// completion the realm reads the previous version.

import Engine

/// The identifier of an asynchronous write.
public typealias AsyncTransactionId = Int

extension Realm {
  // MARK: callbacks

  /// Runs a block in a write transaction that begins when others have ended, and commits it, both
  /// without blocking the caller.
  /// - Parameters:
  ///   - block: Makes the changes; called on the realm's thread, queue or actor.
  ///   - onComplete: Called there too, when the changes are durable or have failed.
  /// - Returns: The number to pass to `cancelAsyncWrite` to skip the block.
  ///
  /// Durability: when `onComplete` is called without an error, the changes survive any crash.
  @discardableResult
  public func writeAsync(
    _ block: @escaping () -> Void, onComplete: (((any Swift.Error)?) -> Void)? = nil
  ) -> AsyncTransactionId {
    startAsync()
    let core = core
    return core.asyncWrites.begin(core) { error in
      if let error {
        onComplete?(error)
        return
      }
      block()
      if core.write != nil {
        _ = core.asyncWrites.commit(core, onComplete)
      } else {
        onComplete?(nil)
      }
    }
  }

  /// Has a block called in a write transaction that begins when others have ended.
  ///
  /// The block ends with `commitAsyncWrite` or `commitWrite`; otherwise the transaction is
  /// cancelled. If no transaction can begin, the process is stopped, because the error cannot be
  /// reported; `writeAsync` reports it.
  /// - Parameter asyncWriteBlock: Called on the realm's thread, queue or actor.
  /// - Returns: The number to pass to `cancelAsyncWrite` to skip the block.
  @discardableResult
  public func beginAsyncWrite(_ asyncWriteBlock: @escaping () -> Void) -> AsyncTransactionId {
    startAsync()
    return core.asyncWrites.begin(core) { error in
      if let error { Misuse.stop("an asynchronous write cannot begin: \(error)") }
      asyncWriteBlock()
    }
  }

  /// Commits the open transaction without blocking the caller.
  /// - Parameters:
  ///   - allowGrouping: Of no meaning: each commit is durable by itself.
  ///   - onComplete: Called when the changes are durable or have failed.
  /// - Returns: The number to pass to `cancelAsyncWrite` to skip the completion.
  ///
  /// Durability: when `onComplete` is called without an error, the changes survive any crash.
  @discardableResult
  public func commitAsyncWrite(
    allowGrouping: Bool = false, _ onComplete: (((any Swift.Error)?) -> Void)? = nil
  ) -> AsyncTransactionId {
    startAsync()
    guard core.write != nil else {
      Misuse.stop("no write transaction is open; begin one before the commit")
    }
    return core.asyncWrites.commit(core, onComplete)
  }

  /// Skips a block that was not called yet, or the completion of a commit; the commit itself
  /// continues.
  /// - Parameter asyncTransactionId: The result of one of the calls above.
  public func cancelAsyncWrite(_ asyncTransactionId: AsyncTransactionId) {
    core.checkThread()
    core.asyncWrites.cancel(asyncTransactionId)
  }

  /// Whether an asynchronous write or commit is under way.
  public var isPerformingAsynchronousWriteOperations: Bool {
    core.checkThread()
    return core.asyncWrites.isBusy
  }

  private func startAsync() {
    core.checkThread()
    guard !core.isFrozen else { Misuse.stop("a frozen realm is never written; thaw() it") }
    core.listen()
  }

  // MARK: actors

  /// Opens the realm of the main actor, which is also that of the main thread.
  /// - Parameters:
  ///   - configuration: How.
  ///   - downloadBeforeOpen: Of no meaning: nothing is downloaded.
  /// - Throws: `Realm.Error`.
  @MainActor
  public init(
    configuration: Configuration = .defaultConfiguration, downloadBeforeOpen: OpenBehavior = .never
  ) async throws {
    core = try Self.core(configuration, of: MainActor.shared)
  }

  /// Opens a realm that belongs to an actor.
  /// - Parameters:
  ///   - configuration: How.
  ///   - actor: The actor whose code may use it.
  ///   - downloadBeforeOpen: Of no meaning: nothing is downloaded.
  /// - Throws: `Realm.Error`.
  public init(
    configuration: Configuration = .defaultConfiguration, actor: isolated any Actor,
    downloadBeforeOpen: OpenBehavior = .never
  ) async throws {
    core = try Self.core(configuration, of: actor)
  }

  /// The realm of an actor, made if there is none.
  static func core(
    _ configuration: Configuration, of actor: any Actor
  ) throws(Error) -> _RealmCore {
    try Store.open(configuration).core(
      configuration, owner: .owner(actor), scheduler: .serving(actor))
  }

  /// Runs a block in a write transaction; the task waits for its turn and for the commit, and its
  /// actor is not blocked meanwhile.
  ///
  /// A task that is cancelled before its turn stops waiting and does not call the block. Once the
  /// block was called its changes are committed.
  /// - Parameters:
  ///   - isolation: The actor of the realm.
  ///   - block: Makes the changes.
  /// - Returns: What the block returns.
  /// - Throws: What the block throws, `CancellationError` or `Realm.Error`; the transaction is then
  ///   cancelled.
  ///
  /// Durability: when the call returns, the changes survive any crash.
  @discardableResult
  public func asyncWrite<Result>(
    isolation: isolated (any Actor)? = #isolation, _ block: () throws -> Result
  ) async throws -> Result {
    startAsync()
    try core.checkOwner()
    try Task.checkCancellation()
    var begun: UncheckedBox<WriteTransaction>?
    while begun == nil {
      let grant = await grant()
      // A write of the actor's other tasks may have taken it.
      begun = try core.asyncWrites.take(grant).map { UncheckedBox(try $0.get()) }
      if Task.isCancelled {
        begun?.value.cancel()
        throw CancellationError()
      }
    }
    guard let write = begun?.value else { preconditionFailure("the loop ends with one") }
    try core.begin(with: write)
    let result: Result
    do { result = try block() } catch {
      if core.write != nil { core.cancelWrite() }
      throw error
    }
    guard core.write != nil else { return result }
    let taken = UncheckedBox(try core.takeWrite())
    let held = try await Self.commit(taken)
    core.finishTaken(held.value)
    return result
  }

  /// Advances to the newest version, and calls the observers.
  /// - Parameter isolation: The actor of the realm.
  /// - Returns: Whether there was a newer one.
  @discardableResult
  public func asyncRefresh(isolation: isolated (any Actor)? = #isolation) async -> Bool {
    refresh()
  }

  /// Requests a transaction, and waits until it is ready or the task is cancelled.
  private func grant(isolation: isolated (any Actor)? = #isolation) async -> WriteGrant {
    let grant = WriteGrant()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        core.asyncWrites.ask(for: grant, core.store.database) { continuation.resume() }
      }
    } onCancel: {
      grant.abandon()
    }
    return grant
  }

  private static func commit(
    _ taken: UncheckedBox<WriteTransaction>
  ) async throws -> UncheckedBox<Snapshot?> {
    try await withCheckedThrowingContinuation { continuation in
      AsyncWrites.worker.async {
        do throws(EngineError) {
          continuation.resume(returning: UncheckedBox(try taken.value.commitHolding()))
        } catch { continuation.resume(throwing: Error(error)) }
      }
    }
  }
}
