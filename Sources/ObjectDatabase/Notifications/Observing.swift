// Observing.swift: `observe` on realms, objects and collections. Invariant: a callback is called on
// the owner of the realm, or on the requested queue.

import Dispatch
import Engine

extension Realm {
  /// Calls a block whenever the realm advances to another version.
  ///
  /// It is called before `write`, `commitWrite` or `refresh` returns, and, when the realm refreshes
  /// by itself, from the thread's run loop or the realm's queue or actor.
  /// - Parameter block: Called with the event, and the realm.
  /// - Returns: A token; the calls end when it is released.
  public func observe(_ block: @escaping NotificationBlock) -> NotificationToken {
    core.checkObservable()
    _ = Misuse.unthrowing { () throws(EngineError) in try core.currentSnapshot() }
    return core.startObserving(RealmObserver(core, block))
  }
}

extension _RealmCore {
  /// Adds an observer; a wrong caller is stopped.
  func startObserving(_ observer: Observer) -> NotificationToken {
    checkObservable()
    if !(observer is RealmObserver), !observer.hasInitial {
      observer.base = Misuse.unthrowing { () throws(EngineError) in try currentSnapshot() }
    }
    if notifications == nil { notifications = Notifications() }
    notifications?.add(observer)
    listen()
    if observer.hasInitial { wakeup.schedule() }
    return NotificationToken(observer)
  }

  /// The observers of tokens of this realm; another realm's token is a misuse.
  func observers(of tokens: [NotificationToken]) -> [Observer] {
    tokens.compactMap { token in
      guard let observer = token.observer else {
        if token.innerToken == nil { return nil }
        Misuse.stop("a token of another queue's realm cannot be left out; write on that queue")
      }
      guard observer.core === self else {
        Misuse.stop("a token of another realm cannot be left out; write in that realm")
      }
      return observer
    }
  }

  // MARK: newer versions

  /// Starts listening; new versions wake the owner's run loop, queue or actor.
  func listen() {
    guard wakeup.place == nil else { return }
    wakeup.core = self
    wakeup.place = scheduler ?? .currentThread
    do throws(EngineError) { try store.listen(wakeup) } catch { notifications?.fail(error) }
  }

  /// Starts listening as soon as the owner's queue or actor has shown that it runs.
  func listenOnceServed() {
    guard !isFrozen else { return }
    let known = scheduler ?? (Scheduler.isMainThread ? .currentThread : nil)
    known?.run { [weak self] in self?.listen() }
  }

  /// The run loop, the queue or the actor has time for the realm.
  func tick() {
    guard write == nil else {
      isTickMissed = true
      return
    }
    if refreshesByItself {
      _ = refresh()
      return
    }
    notifications?.deliverInitials(self)
    guard let heldSnapshot, store.database.version > heldSnapshot.version else { return }
    notifications?.requireRefresh()
  }
}

extension _RealmCore {
  /// Stops a caller that cannot observe anything of this realm.
  func checkObservable() {
    checkThread()
    if isFrozen { Misuse.stop("what is frozen never changes, and is not observed; thaw() it") }
    if configuration.readOnly {
      Misuse.stop("a realm that is open for reading only is not observed; open it for writing")
    }
    if write != nil {
      Misuse.stop("a write transaction is open; observe before it begins or after it ended")
    }
  }
}

extension RealmCollection {
  /// Calls a block with the current collection, and then with each change.
  ///
  /// The first call comes from the thread's run loop, from `refresh()`, or at the begin of the
  /// realm's next write transaction, with the content from before it. Changes by this realm
  /// are reported before `write` returns, others when the realm advances to a newer version.
  /// - Parameters:
  ///   - keyPaths: Properties whose changes are modifications, also through links, as `owner.name`;
  ///     nil for all properties of the objects and of objects reached through up to four links.
  ///   - queue: A serial queue to call on; nil for the realm's own thread, queue or actor.
  ///   - block: Called with the change.
  /// - Returns: A token; the calls end when it is released.
  /// - Complexity: Of each call: docs/reference/object-database.md, Notifications.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (RealmCollectionChange<Self>) -> Void
  ) -> NotificationToken {
    Self.observation(keyPaths).start(self, on: queue, block)
  }

  /// How collections are observed.
  static func observation(_ keyPaths: [String]?) -> Observation<Self, RealmCollectionChange<Self>> {
    Observation {
      .error($0)
    } makeObserver: { collection, block in
      guard let elements = collection._elements?.elements else {
        Misuse.stop("an unmanaged collection is not observed; add it, or its owner, first")
      }
      return CollectionObserver(collection, elements, keyPaths, block)
    }
  }
}

extension RealmCollection where Element: ObjectBase {
  /// Calls a block with the current collection, and then with each change.
  /// - Parameters:
  ///   - keyPaths: Properties of the elements whose changes are modifications.
  ///   - queue: A serial queue to call on; nil for the realm's own thread, queue or actor.
  ///   - block: Called with the change.
  /// - Returns: A token; the calls end when it is released.
  public func observe(
    keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
    _ block: @escaping (RealmCollectionChange<Self>) -> Void
  ) -> NotificationToken {
    observe(keyPaths: keyPaths.map { Element.name(of: $0) }, on: queue, block)
  }
}

extension Map {
  /// Calls a block with the current map, and then with the keys of each change.
  /// - Parameters:
  ///   - keyPaths: Properties of linked objects whose changes are modifications; nil for all.
  ///   - queue: A serial queue to call on; nil for the realm's own thread, queue or actor.
  ///   - block: Called with the change.
  /// - Returns: A token; the calls end when it is released.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (RealmMapChange<Map<Key, Value>>) -> Void
  ) -> NotificationToken {
    Observation {
      .error($0)
    } makeObserver: { map, block in
      guard let row = map._row else {
        Misuse.stop("an unmanaged map is not observed; add its owner first")
      }
      return MapObserver(map, row, keyPaths, block)
    }.start(self, on: queue, block)
  }
}

extension RealmCollectionValue where Self: ObjectBase {
  /// Has a block called with the properties that change, and when the object is deleted.
  /// - Parameters:
  ///   - keyPaths: The properties to observe, also through links, as `owner.name`; nil for the
  ///     object's own.
  ///   - queue: A serial queue to call on; nil for the realm's own thread, queue or actor.
  ///   - block: Called with the change.
  /// - Returns: A token; the calls end when it is released.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    Self.observation(keyPaths).start(self, on: queue, block)
  }

  /// How objects are observed.
  static func observation(_ keyPaths: [String]?) -> Observation<Self, ObjectChange<Self>> {
    Observation {
      .error($0)
    } makeObserver: { object, block in
      guard let access = object.tableAccess else {
        Misuse.stop("an unmanaged object is not observed; add it first")
      }
      guard !object.isInvalidated else { access.gone(object.rowKey) }
      return ObjectObserver(object, access, keyPaths, block)
    }
  }

  /// Has a block called with the properties that change, for blocks that take objects of a base
  /// class: `ObjectChange<ObjectBase>`.
  /// - Parameters:
  ///   - keyPaths: The properties to observe; nil for the object's own.
  ///   - queue: A serial queue to call on; nil for the realm's own thread, queue or actor.
  ///   - block: Called with the change.
  /// - Returns: A token; the calls end when it is released.
  @_disfavoredOverload
  public func observe<Base: ObjectBase>(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (ObjectChange<Base>) -> Void
  ) -> NotificationToken {
    observe(keyPaths: keyPaths, on: queue) { (change: ObjectChange<Self>) in
      switch change {
      case .error(let error): block(.error(error))
      case .deleted: block(.deleted)
      case .change(let object, let properties):
        guard let base = object as? Base else {
          Misuse.stop("an object of \(Self.self) is not of the type \(Base.self)")
        }
        block(.change(base, properties))
      }
    }
  }

  /// Has a block called with the properties that change, and when the object is deleted.
  /// - Parameters:
  ///   - keyPaths: The properties to observe.
  ///   - queue: A serial queue to call on; nil for the realm's own thread, queue or actor.
  ///   - block: Called with the change.
  /// - Returns: A token; the calls end when it is released.
  public func observe(
    keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue? = nil,
    _ block: @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    observe(keyPaths: keyPaths.map { Self.name(of: $0) }, on: queue, block)
  }

  static func name(of keyPath: PartialKeyPath<Self>) -> String {
    let info = Misuse.unthrowingRealm { () throws(Realm.Error) in
      try Discovery.info(for: Self.self)
    }
    guard let path = Discovery.path(of: keyPath, in: info) else {
      Misuse.stop("a key path of \(info.name) leads to something other than persisted properties")
    }
    return path.joined(separator: ".")
  }
}
