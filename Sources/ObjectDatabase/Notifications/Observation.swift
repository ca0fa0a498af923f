// Observation.swift [U]: starts an observation: in the observed value's own realm, or in that of a
// queue or an actor. Collections, maps and objects differ only in the arguments of their callbacks.

import Dispatch
import Engine

/// The parts that differ between the kinds of observable values.
struct Observation<Observed: ThreadConfined, Change> {
  /// The argument of a callback when the changes cannot be determined.
  let failure: (any Error) -> Change
  /// The observer of a managed value, in its own realm; misuse stops the process.
  let makeObserver: (Observed, @escaping (Change) -> Void) -> Observer

  /// Observes a value in its own realm, or in one of a queue.
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
  // Safety: it is made by one owner and then used only by another one, the queue or the actor.
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
