// Observing+Actors.swift: `observe(on: actor)`: callbacks that run for an actor, with a realm
// of its own.

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
    await Self.observation(keyPaths).start(self, for: actor, block)
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
    await Self.observation(keyPaths).start(self, for: actor, block)
  }
}
