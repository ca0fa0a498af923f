// Realm.swift: the face of the database: opening, writing, finding, versions, files.

import Dispatch
import Engine
import FoundationEssentials

/// A database of objects, for one thread, one queue or one frozen version.
///
/// It belongs to the thread, or the serial queue, that opened it, and so do its objects, lists and
/// results; use elsewhere stops the process with both names. A frozen one has no owner.
public struct Realm: Equatable {
  let core: _RealmCore

  init(_ core: _RealmCore) { self.core = core }

  // MARK: opening

  /// Opens the realm of the default configuration.
  /// - Parameter queue: A serial queue as owner, instead of the calling thread.
  /// - Throws: `Realm.Error`.
  public init(queue: DispatchQueue? = nil) throws {
    try self.init(configuration: .defaultConfiguration, queue: queue)
  }

  /// Opens a realm.
  /// - Parameters:
  ///   - configuration: How.
  ///   - queue: A serial queue as owner, instead of the calling thread.
  /// - Throws: `Realm.Error`.
  public init(configuration: Configuration, queue: DispatchQueue? = nil) throws {
    let owner = queue.map { RealmOwner.owner($0) } ?? .currentThread
    guard owner.isCurrent else {
      throw Error(
        .wrongThread,
        "a realm for \(owner.text) is opened on thread \(RealmOwner.threadName); open it on the "
          + "queue")
    }
    core = try Store.open(configuration).core(
      configuration, owner: owner, scheduler: queue.map { .queue($0) })
  }

  /// Opens the realm in a file, with the default configuration otherwise.
  /// - Parameter fileURL: The file.
  /// - Throws: `Realm.Error`.
  public init(fileURL: URL) throws {
    var configuration = Configuration.defaultConfiguration
    configuration.fileURL = fileURL
    try self.init(configuration: configuration)
  }

  /// How the realm was opened.
  public var configuration: Configuration { core.configuration }

  /// The classes: those of the configuration's `objectTypes`, or without it those of the process.
  ///
  /// Classes that joined since are included.
  public var schema: Schema {
    var infos = core.classes.withLock { $0.infos }
    if core.configuration.objectTypes == nil {
      for info in ProcessClasses.all where infos[info.name] == nil { infos[info.name] = info }
    }
    return Schema(objectSchema: infos.values.sorted { $0.name < $1.name }.map { ObjectSchema($0) })
  }

  /// Whether both are the same realm: the same database with the same owner.
  public static func == (left: Realm, right: Realm) -> Bool { left.core === right.core }

  // MARK: writing

  /// Whether a write transaction is open.
  public var isInWriteTransaction: Bool { core.openWrite != nil }

  /// Runs a block in a write transaction, and commits it.
  ///
  /// If the block throws, or a change in it violates the schema, the transaction is cancelled.
  /// - Parameters:
  ///   - tokens: Tokens of this realm whose callbacks are not notified of these changes.
  ///   - block: Makes the changes.
  /// - Returns: What the block returns.
  /// - Throws: What the block throws, or `Realm.Error`.
  ///
  /// Durability: when the call returns, the changes survive any crash.
  @discardableResult
  public func write<Result>(
    withoutNotifying tokens: [NotificationToken] = [], _ block: () throws -> Result
  ) throws -> Result {
    try core.beginWrite()
    let result: Result
    do { result = try block() } catch {
      if core.write != nil { core.cancelWrite() }
      throw error
    }
    if core.write != nil { try commitWrite(withoutNotifying: tokens) }
    return result
  }

  /// Opens a write transaction; waits until no other thread or process has one open.
  ///
  /// An error stops the process, because the call cannot throw: use `write`, which throws it.
  public func beginWrite() { Misuse.unthrowingRealm { () throws(Error) in try core.beginWrite() } }

  /// Makes the changes durable and visible to others.
  /// - Parameter tokens: Tokens of this realm whose callbacks are not notified of these changes.
  /// - Throws: `Realm.Error`; the transaction is then cancelled.
  ///
  /// Durability: when the call returns, the changes survive any crash.
  public func commitWrite(withoutNotifying tokens: [NotificationToken] = []) throws {
    try core.commitWrite(skipping: core.observers(of: tokens))
  }

  /// Drops the changes.
  public func cancelWrite() {
    core.checkThread()
    guard core.write != nil else { Misuse.stop("no write transaction is open; begin one first") }
    core.cancelWrite()
  }

  // MARK: versions

  /// Whether the realm advances to newer versions automatically and notifies its observers.
  ///
  /// It does so from the run loop of its thread, from its queue or from its actor. On a thread
  /// whose run loop does not run, it advances only at `refresh()` or a write transaction. A
  /// thread's run loop, other than the main one, is used from the first `observe`, `writeAsync` or
  /// setting of this property on.
  public var autorefresh: Bool {
    get {
      core.checkThread()
      return !core.isFrozen && core.refreshesByItself
    }
    nonmutating set {
      core.checkThread()
      guard !core.isFrozen else { Misuse.stop("a frozen realm never refreshes; thaw() it first") }
      core.refreshesByItself = newValue
      core.listen()
      core.wakeup.schedule()
    }
  }

  /// Advances to the newest version, and calls the observers.
  /// - Returns: Whether there was a newer one.
  @discardableResult
  public func refresh() -> Bool {
    core.checkThread()
    return core.refresh()
  }

  /// Releases the version, so that its space can be reused; all objects and collections of the
  /// realm are invalidated, and the next read uses the newest version.
  public func invalidate() {
    core.checkThread()
    guard !core.isFrozen else {
      Misuse.stop("a frozen realm cannot be invalidated; drop the reference to it instead")
    }
    core.invalidate()
  }

  /// Whether the realm is frozen.
  public var isFrozen: Bool { core.isFrozen }

  /// The version that is read, never to change, for any thread.
  public func freeze() -> Realm { Realm(core.freeze()) }

  /// The live realm of the calling thread.
  public func thaw() -> Realm { Realm(core.thawed()) }

  /// The frozen form of an object or a collection.
  public func freeze<Confined: ThreadConfined>(_ value: Confined) -> Confined { value.freeze() }

  /// The live form of a frozen object or collection; nil when it was deleted.
  public func thaw<Confined: ThreadConfined>(_ value: Confined) -> Confined? { value.thaw() }

  /// The live or frozen object of this realm's version; for objects of other realms of the file.
  public func resolve<Confined: ThreadConfined>(
    _ reference: ThreadSafeReference<Confined>
  ) -> Confined? {
    reference.resolve(in: self)
  }

  // MARK: finding

  /// All objects of a class.
  public func objects<Class: ObjectBase>(_ type: Class.Type) -> Results<Class> {
    core.checkThread()
    return Results(Elements(.table(core.access(to: type))))
  }

  /// All objects of a class, or projections of them.
  public func objects<Fetched: RealmFetchable>(_ type: Fetched.Type) -> Results<Fetched> {
    core.checkThread()
    return Results(Elements(.table(core.access(to: Fetched._fetchedClass))))
  }

  /// The object with a primary key, or nil.
  /// - Complexity: O(log objects).
  public func object<Class: Object, Key>(ofType type: Class.Type, forPrimaryKey key: Key) -> Class?
  {
    core.checkThread()
    let access = core.access(to: type)
    guard let number = access.info.primaryKey else {
      Misuse.stop("class \(access.name) has no primary key; declare one")
    }
    // An integer without a detour over `Any`, which costs as much as the lookup's first step.
    if Key.self == Int.self, access.info.properties[number].type == .int, let key = key as? Int {
      return access.firstKey(number, equalTo: .int(Int64(key))).map {
        Class._cast(access.makeObject($0))
      }
    }
    guard let value = DynamicValue.plain(key, access.info.properties[number]) else {
      Misuse.stop(
        "the primary key \(access.name).\(access.info.properties[number].words) is asked for "
          + "\(key)")
    }
    return access.firstKey(number, equalTo: value).map { Class._cast(access.makeObject($0)) }
  }

  /// Whether no class has an object.
  public var isEmpty: Bool {
    core.checkThread()
    return Misuse.unthrowing { () throws(EngineError) in
      let version = try core.currentVersion()
      for table in version.tables where !table.name.hasPrefix(ClassInfo.reservedPrefix) {
        if try version.count(of: table.name) > 0 { return false }
      }
      return true
    }
  }
}
