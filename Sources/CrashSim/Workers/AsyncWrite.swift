// AsyncWrite.swift: an asynchronous write of an actor's realm. It begins and commits on threads of
// the database; its blocks run on the actor's thread, whose run loop continues until the end.
// Invariant: used on the actor's thread only.

import Findings
import Foundation
import ObjectDatabase
import Oracles
import Workload

/// One asynchronous write.
final class AsyncWrite {
  private let transaction: PlannedTransaction
  private let actor: any ObjectActor
  private let didBegin: (@Sendable (PlannedTransaction, _ version: UInt64) -> Void)?
  /// Its result; nil until it ends.
  private var ending: Result<Void, any Error>?
  private var violation: Violation?

  init(
    _ transaction: PlannedTransaction, _ actor: any ObjectActor,
    _ didBegin: (@Sendable (PlannedTransaction, _ version: UInt64) -> Void)?
  ) {
    self.transaction = transaction
    self.actor = actor
    self.didBegin = didBegin
  }

  /// Runs it, and waits for its end; after that it is durable.
  /// - Returns: The promise that it broke, if any.
  /// - Throws: `Realm.Error`, or `ObjectMisfit` for an invalid statement.
  func perform() throws -> Violation? {
    actor.realm.writeAsync(write) { [self] error in
      // A write that was handed over ends by itself.
      if let error { ending = .failure(error) } else if !isHandedOver { end() }
    }
    while ending == nil {
      // Blocks are run by timers; a run loop without any returns at once.
      let step = Date(timeIntervalSinceNow: 0.05)
      if !RunLoop.current.run(mode: .default, before: step) { Thread.sleep(forTimeInterval: 0.001) }
    }
    try ending?.get()
    return violation
  }

  private func end() { if ending == nil { ending = .success(()) } }

  private var isHandedOver: Bool { transaction.number % 2 == 1 && !transaction.cancels }

  private func write() {
    let realm = actor.realm
    didBegin?(transaction, realm.nextVersion ?? 0)
    let before = isHandedOver ? actor.sight(of: realm) : nil
    do { try actor.apply(transaction.mutations) } catch {
      ending = .failure(error)
      return realm.cancelWrite()
    }
    if transaction.cancels { realm.cancelWrite() }
    guard let before else { return }
    realm.commitAsyncWrite { [self] error in
      if let error { ending = .failure(error) } else { end() }
    }
    violation = FrozenViewOracle.judge(
      handedOverBy: actor.name, was: before, is: actor.sight(of: realm))
  }
}
