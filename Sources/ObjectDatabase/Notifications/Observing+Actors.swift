// Observing+Actors.swift [U]: `observe(on: actor)`: callbacks that run for an actor, with a realm
// of its own.

import Engine

/// What is to be done for an actor.
// Safety: it is made by one owner and used by another one only, which the actor is.
private struct ActorObservation: @unchecked Sendable {
  let configuration: Realm.Configuration
  let start: (Realm) -> NotificationToken
  let fail: (any Error) -> Void

  func run<Owner: Actor>(for actor: isolated Owner) -> NotificationToken {
    do throws(Realm.Error) {
      return start(Realm(try Realm.core(configuration, of: actor)))
    } catch {
      fail(error)
      return NotificationToken(nil)
    }
  }
}

extension ThreadConfined {
  /// Prepares to observe what this is, in another realm.
  fileprivate func observation(
    _ start: @escaping (Self) -> NotificationToken, fail: @escaping (any Error) -> Void
  ) -> ActorObservation {
    guard let realm else { Misuse.stop("only what is managed can be observed; add it first") }
    realm.core.checkObservable()
    let reference = ThreadSafeReference(to: self)
    return ActorObservation(configuration: realm.configuration) { realm in
      realm.resolve(reference).map(start) ?? NotificationToken(nil)
    } fail: {
      fail($0)
    }
  }
}

extension RealmCollection where Self: ThreadConfined {
  /// Has a block called for an actor with the collection as it is, and then with each change.
  /// - Parameters:
  ///   - keyPaths: Properties whose changes are modifications, as without an actor.
  ///   - actor: Whose code the block is; the collection it gets is of a realm of the actor.
  ///   - isolation: The actor of this collection's realm.
  ///   - block: Called with the actor and the change.
  /// - Returns: A token; the calls end when it is let go.
  public func observe<Owner: Actor>(
    keyPaths: [String]? = nil, on actor: Owner,
    isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated Owner, RealmCollectionChange<Self>) -> Void
  ) async -> NotificationToken {
    // Safety: the realm calls for its owner, which the actor is; `assumeIsolated` checks it.
    let call = { (change: RealmCollectionChange<Self>) in
      let box = UncheckedBox(change)
      actor.assumeIsolated { actor in block(actor, box.value) }
    }
    let observation = observation {
      $0.observe(keyPaths: keyPaths, call)
    } fail: {
      call(.error($0))
    }
    return await observation.run(for: actor)
  }
}

extension RealmCollectionValue where Self: ObjectBase {
  /// Has a block called for an actor with the properties that change, and when the object is
  /// deleted.
  /// - Parameters:
  ///   - keyPaths: The properties to hear of; nil for the object's own.
  ///   - actor: Whose code the block is; the object it gets is of a realm of the actor.
  ///   - isolation: The actor of this object's realm.
  ///   - block: Called with the actor and the change.
  /// - Returns: A token; the calls end when it is let go.
  public func observe<Owner: Actor>(
    keyPaths: [String]? = nil, on actor: Owner,
    isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated Owner, ObjectChange<Self>) -> Void
  ) async -> NotificationToken {
    // Safety: the realm calls for its owner, which the actor is; `assumeIsolated` checks it.
    let call = { (change: ObjectChange<Self>) in
      let box = UncheckedBox(change)
      actor.assumeIsolated { actor in block(actor, box.value) }
    }
    let observation = observation {
      $0.observe(keyPaths: keyPaths, call)
    } fail: {
      call(.error($0))
    }
    return await observation.run(for: actor)
  }
}
