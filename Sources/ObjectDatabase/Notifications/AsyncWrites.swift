// AsyncWrites.swift [U]: write transactions that begin and commit on a separate thread, one after
// the other, while the realm's owner continues. Invariants: transactions are requested one after
// the other, and only after the owner's run loop, queue or actor has shown that it runs: the writer
// lock is never held for a thread that does not come back. A write begun on the owner's thread
// meanwhile takes the transaction requested first, and that request is repeated: otherwise the
// owner would wait for a lock that waits for the owner. The transaction of a cancelled task is
// cancelled by the code that holds it.

import Dispatch
import Engine
import Synchronization

/// A transaction requested from the other thread.
@safe final class WriteGrant: @unchecked Sendable {
  // Safety: the mutex guards the state, whose result is taken once.
  private struct State {
    var result: Result<WriteTransaction, Realm.Error>?
    /// Whether the request was abandoned.
    var isAbandoned = false
    /// Called once, when the transaction is ready or the request abandoned.
    var waiter: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())
  private let isThere = DispatchSemaphore(value: 0)

  /// Sets the closure to call when the transaction is ready; called at once if the request is
  /// already abandoned.
  func await(_ waiter: @escaping @Sendable () -> Void) {
    let isAbandoned = state.withLock { state in
      if !state.isAbandoned { state.waiter = waiter }
      return state.isAbandoned
    }
    if isAbandoned { waiter() }
  }

  /// Abandons the request; its transaction is cancelled, now or when it is ready.
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

  /// The transaction; nil when it was already taken.
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
    /// The requested transaction.
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
  /// Requests not taken yet, in order.
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

  /// Requests a transaction, after all earlier requests.
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

  /// Requests a transaction.
  /// - Parameters:
  ///   - grant: The transaction to be.
  ///   - database: Where.
  ///   - granted: Called on another thread when it is ready, or the request was abandoned.
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

  /// The transaction requested first, for a write that the owner begins now.
  func stealGrant() -> Result<WriteTransaction, Realm.Error>? {
    while !grants.isEmpty {
      // An abandoned request does not affect those after it.
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

  /// Drops a request that has not started, or the completion of a commit.
  func cancel(_ id: Int) {
    waiting.removeAll { $0.id == id }
    if running?.id == id { running?.isCancelled = true }
    if completions[id] != nil { completions[id] = .some(nil) }
  }
}

extension _RealmCore {
  /// Runs a body on the owner's run loop, queue or actor.
  func runSoon(_ body: @escaping (_RealmCore) -> Void) {
    // Safety: the body runs for the owner only; the place was set by the owner before.
    let box = UncheckedBox(body)
    guard let place = wakeup.place else { return }
    place.run { [self] in box.value(self) }
  }
}
