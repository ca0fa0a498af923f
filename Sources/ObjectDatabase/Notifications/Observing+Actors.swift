// Observing+Actors.swift: `observe(on: actor)`: callbacks that run on an actor, with the actor's
// own realm.

extension RealmCollection {
  /// Calls a block on an actor with the current collection, and then with each change.
  /// - Parameters:
  ///   - keyPaths: Properties whose changes are modifications, as without an actor.
  ///   - actor: The actor on which the block runs; its collection belongs to a realm of that actor.
  ///   - isolation: The actor of this collection's realm.
  ///   - block: Called with the actor and the change.
  /// - Returns: A token; the calls end when it is released.
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
  ///   - keyPaths: The properties to observe; nil for the object's own.
  ///   - actor: The actor on which the block runs; its object belongs to a realm of that actor.
  ///   - isolation: The actor of this object's realm.
  ///   - block: Called with the actor and the change.
  /// - Returns: A token; the calls end when it is released.
  public func observe<Owner: Actor>(
    keyPaths: [String]? = nil, on actor: Owner,
    isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated Owner, ObjectChange<Self>) -> Void
  ) async -> NotificationToken {
    await Self.observation(keyPaths).start(self, for: actor, block)
  }
}

extension RealmCollection where Element: ObjectBase {
  /// Calls a block on an actor with the current collection, and then with each change.
  /// - Parameters:
  ///   - keyPaths: Properties of the elements whose changes are modifications.
  ///   - actor: The actor on which the block runs; its collection belongs to a realm of that actor.
  ///   - isolation: The actor of this collection's realm.
  ///   - block: Called with the actor and the change.
  /// - Returns: A token; the calls end when it is released.
  public func observe<Owner: Actor>(
    keyPaths: [PartialKeyPath<Element>], on actor: Owner,
    isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated Owner, RealmCollectionChange<Self>) -> Void
  ) async -> NotificationToken {
    let names = keyPaths.map { Element.name(of: $0) }
    return await Self.observation(names).start(self, for: actor, block)
  }
}

extension RealmCollectionValue where Self: ObjectBase {
  /// Has a block called for an actor with the properties that change, and when the object is
  /// deleted.
  /// - Parameters:
  ///   - keyPaths: The properties to observe.
  ///   - actor: The actor on which the block runs; its object belongs to a realm of that actor.
  ///   - isolation: The actor of this object's realm.
  ///   - block: Called with the actor and the change.
  /// - Returns: A token; the calls end when it is released.
  public func observe<Owner: Actor>(
    keyPaths: [PartialKeyPath<Self>], on actor: Owner,
    isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated Owner, ObjectChange<Self>) -> Void
  ) async -> NotificationToken {
    let names = keyPaths.map { Self.name(of: $0) }
    return await Self.observation(names).start(self, for: actor, block)
  }
}
