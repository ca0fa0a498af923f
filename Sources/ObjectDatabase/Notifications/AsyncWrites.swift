// AsyncWrites.swift [U]: write transactions that begin and commit on a thread of their own, one
// after the other, while the realm's owner goes on.
// Invariants: transactions are asked for one after the other, and only after the owner's run loop,
// queue or actor has shown that it runs: no writer lock waits for a thread that never comes.
// Who begins a write on the owner's thread meanwhile takes the one that was asked for first, and
// that request asks again: else the owner would wait for a lock that waits for the owner.
// A transaction that a cancelled task asked for is cancelled by whoever has it.

import Dispatch
import Engine
import Synchronization

/// A transaction that was asked for elsewhere.
@safe final class WriteGrant: @unchecked Sendable {
  // Safety: the mutex guards the state, whose result is taken once.
  private struct State {
    var result: Result<WriteTransaction, Realm.Error>?
    /// Whether nobody wants it any more.
    var isAbandoned = false
    /// Called once, when it is there or nobody wants it.
    var waiter: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())
  private let isThere = DispatchSemaphore(value: 0)

  /// Has somebody called when it is there; at once, when nobody wants it already.
  func await(_ waiter: @escaping @Sendable () -> Void) {
    let isAbandoned = state.withLock { state in
      if !state.isAbandoned { state.waiter = waiter }
      return state.isAbandoned
    }
    if isAbandoned { waiter() }
  }

  /// Says that nobody wants it; a transaction that is there, or comes, is cancelled.
  func abandon() {
    state.withLock { $0.isAbandoned = true }
    if case .success(let write) = take() { write.cancel() }
    callWaiter()
  }

  private func callWaiter() {
    let waiter = state.withLock { state in
      let waiter = state.waiter
      state.waiter = nil
      return waiter
    }
    waiter?()
  }

  /// Begins a transaction; on a thread that may wait.
  func ask(_ database: Database) {
    defer { isThere.signal() }
    if state.withLock({ $0.isAbandoned }) { return }
    let asked: UncheckedBox<Result<WriteTransaction, Realm.Error>>
    do throws(EngineError) {
      let write = try database.beginWrite()
      write.assign(toCaller: false)
      asked = UncheckedBox(.success(write))
    } catch { asked = UncheckedBox(.failure(Realm.Error(error))) }
    state.withLock { $0.result = asked.value }
    if state.withLock({ $0.isAbandoned }) {
      abandon()
    } else {
      callWaiter()
    }
  }

  /// The transaction; nil when somebody took it.
  func take() -> Result<WriteTransaction, Realm.Error>? {
    state.withLock { state in
      defer { state.result = nil }
      return UncheckedBox(state.result)
    }.value
  }

  /// Waits for the transaction, and takes it.
  func waitAndTake() -> Result<WriteTransaction, Realm.Error>? {
    isThere.wait()
    isThere.signal()
    return take()
  }
}

/// The asynchronous writes of one realm; used by its owner only.
final class AsyncWrites {
  /// One that waits, or runs.
  final class Request: @unchecked Sendable {
    // Safety: used by the owner only.
    let id: Int
    var isCancelled = false
    /// Called with the transaction open, or with the error.
    let body: (Realm.Error?) -> Void
    /// The transaction that was asked for.
    var grant: WriteGrant?

    init(id: Int, _ body: @escaping (Realm.Error?) -> Void) {
      self.id = id
      self.body = body
    }
  }

  /// Where commits are synced; its threads may block.
  static let worker = DispatchQueue(label: "realm.commits", attributes: .concurrent)
  /// Where transactions wait for their turn, in order.
  private let asker = DispatchQueue(label: "realm.begins")

  private(set) var waiting: [Request] = []
  private var running: Request?
  /// What was asked for and not taken, in order.
  private var grants: [WriteGrant] = []
  /// Completions that wait for a commit, by identifier; nil when they were cancelled.
  private var completions: [Int: (((any Error)?) -> Void)?] = [:]
  private var lastID = 0

  /// Whether anything is under way.
  var isBusy: Bool { running != nil || !waiting.isEmpty || !completions.isEmpty }

  private func nextID() -> Int {
    lastID += 1
    return lastID
  }

  /// Asks for a transaction, after those that were asked for before.
  func begin(_ core: _RealmCore, _ body: @escaping (Realm.Error?) -> Void) -> Int {
    let request = Request(id: nextID(), body)
    waiting.append(request)
    core.runSoon { core in core.asyncWrites.startNext(core) }
    return request.id
  }

  private func startNext(_ core: _RealmCore) {
    // One at a time from begin to completion, so that completions keep the order of the calls.
    guard running == nil, completions.isEmpty, !waiting.isEmpty else { return }
    running = waiting.removeFirst()
    askAgain(core)
  }

  /// Asks for a transaction.
  /// - Parameters:
  ///   - grant: The transaction to be.
  ///   - database: Where.
  ///   - granted: Called on another thread when it is there, or nobody wants it any more.
  func ask(
    for grant: WriteGrant, _ database: Database, granted: @escaping @Sendable () -> Void
  ) {
    grants.append(grant)
    grant.await(granted)
    asker.async { grant.ask(database) }
  }

  /// The transaction; nil when a write on the owner's thread took it.
  func take(_ grant: WriteGrant) -> Result<WriteTransaction, Realm.Error>? {
    grants.removeAll { $0 === grant }
    return grant.take()
  }

  /// What was asked for first, for a write that the owner begins now.
  func stealGrant() -> Result<WriteTransaction, Realm.Error>? {
    while !grants.isEmpty {
      // One that nobody wants any more leaves those behind it on their way.
      if let taken = grants.removeFirst().waitAndTake() { return taken }
    }
    return nil
  }

  private func askAgain(_ core: _RealmCore) {
    guard let request = running else { return }
    let grant = WriteGrant()
    request.grant = grant
    ask(for: grant, core.store.database) {
      core.runSoon { core in core.asyncWrites.granted(request.id, core) }
    }
  }

  private func granted(_ id: Int, _ core: _RealmCore) {
    guard let request = running, request.id == id, let grant = request.grant else { return }
    request.grant = nil
    guard let result = take(grant) else { return askAgain(core) }
    do throws(Realm.Error) {
      let write = try result.get()
      if request.isCancelled {
        write.cancel()
      } else {
        try core.begin(with: write)
        request.body(nil)
        if core.write != nil { core.cancelWrite() }
      }
    } catch {
      if !request.isCancelled { request.body(error) }
    }
    running = nil
    startNext(core)
  }

  /// Commits the open transaction on another thread.
  func commit(_ core: _RealmCore, _ onComplete: (((any Error)?) -> Void)?) -> Int {
    let id = nextID()
    completions[id] = .some(onComplete)
    do throws(Realm.Error) {
      let taken = UncheckedBox(try core.takeWrite())
      Self.worker.async {
        let done: Result<UncheckedBox<Snapshot?>, Realm.Error>
        do throws(EngineError) {
          done = .success(UncheckedBox(try taken.value.commitHolding()))
        } catch { done = .failure(Realm.Error(error)) }
        core.runSoon { core in
          switch done {
          case .success(let held):
            core.finishTaken(held.value)
            core.asyncWrites.complete(id, nil, core)
          case .failure(let error): core.asyncWrites.complete(id, error, core)
          }
        }
      }
    } catch {
      let error = error
      core.runSoon { core in core.asyncWrites.complete(id, error, core) }
    }
    return id
  }

  private func complete(_ id: Int, _ error: Realm.Error?, _ core: _RealmCore) {
    if let completion = completions.removeValue(forKey: id) { completion?(error) }
    startNext(core)
  }

  /// Drops a request that has not begun, or the completion of a commit.
  func cancel(_ id: Int) {
    waiting.removeAll { $0.id == id }
    if running?.id == id { running?.isCancelled = true }
    if completions[id] != nil { completions[id] = .some(nil) }
  }
}

extension _RealmCore {
  /// Has the owner's run loop, queue or actor run a body.
  func runSoon(_ body: @escaping (_RealmCore) -> Void) {
    // Safety: the body runs for the owner only; the place was set by the owner before.
    let box = UncheckedBox(body)
    guard let place = wakeup.place else { return }
    place.run { [self] in box.value(self) }
  }
}
