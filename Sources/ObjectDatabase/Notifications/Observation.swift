// Observation.swift [U]: how something is observed: in its own realm, or in that of a queue or of
// an actor. Collections, maps and objects differ in what a callback is told, and in nothing else.

import Dispatch
import Engine

/// What sets one kind of thing that can be observed apart from the others.
struct Observation<Observed: ThreadConfined, Change> {
  /// What a callback is told when the changes cannot be found.
  let failure: (any Error) -> Change
  /// The observer of something managed, in its own realm; a wrong caller is stopped.
  let makeObserver: (Observed, @escaping (Change) -> Void) -> Observer

  /// Observes something in its own realm, or in one of a queue.
  func start(
    _ observed: Observed, on queue: DispatchQueue? = nil, _ block: @escaping (Change) -> Void
  ) -> NotificationToken {
    guard let queue else {
      let observer = makeObserver(observed, block)
      return observer.core.startObserving(observer)
    }
    let elsewhere = Elsewhere(self, observed, block)
    let token = NotificationToken(nil)
    let begin = { [weak token] in
      guard let token else { return }
      token.adopt(
        elsewhere.start { configuration in try Realm(configuration: configuration, queue: queue) })
    }
    // Safety: the closures are called on the queue only.
    let box = UncheckedBox(begin)
    queue.async { box.value() }
    return token
  }

  /// Observes something in a realm of an actor.
  func start<Owner: Actor>(
    _ observed: Observed, for actor: Owner, isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated Owner, Change) -> Void
  ) async -> NotificationToken {
    // Safety: the realm calls for its owner, which the actor is; `assumeIsolated` checks it.
    let call = { (change: Change) in
      let box = UncheckedBox(change)
      actor.assumeIsolated { actor in block(actor, box.value) }
    }
    return await Elsewhere(self, observed, call).start(for: actor)
  }

  /// Something on its way to a realm of another owner.
  // Safety: it is made by one owner and used by another one only, which the queue or the actor is.
  private struct Elsewhere: @unchecked Sendable {
    private let observation: Observation
    private let configuration: Realm.Configuration
    private let reference: ThreadSafeReference<Observed>
    private let block: (Change) -> Void

    init(
      _ observation: Observation, _ observed: Observed, _ block: @escaping (Change) -> Void
    ) {
      guard let realm = observed.realm else {
        Misuse.stop("only what is managed can be observed; add it first")
      }
      realm.core.checkObservable()
      self.observation = observation
      configuration = realm.configuration
      reference = ThreadSafeReference(to: observed)
      self.block = block
    }

    /// Observes in a realm of the caller's.
    func start(_ open: (Realm.Configuration) throws -> Realm) -> NotificationToken {
      do {
        guard let here = try open(configuration).resolve(reference) else {
          return NotificationToken(nil)
        }
        return observation.start(here, block)
      } catch {
        block(observation.failure(error))
        return NotificationToken(nil)
      }
    }

    func start<Owner: Actor>(for actor: isolated Owner) -> NotificationToken {
      start { configuration in Realm(try Realm.core(configuration, of: actor)) }
    }
  }
}
