// RealmCore.swift [U]: the state shared by all references to one realm: its owner, its version, its
// open write transaction. Invariants: a live core is used by its owner only, which every access
// checks; a frozen one never changes after it is made, except for the list of tables, which a mutex
// guards. `snapshotStamp` changes when another version may be read, `contentStamp` when anything
// read may be different. A transaction with an error never commits: the first error is kept, and
// the commit throws it.

import Engine
import Synchronization

/// The state of a realm, shared by all references to it.
@safe public final class _RealmCore: @unchecked Sendable {
  // Safety: see the invariants.
  let store: Store
  let configuration: Realm.Configuration
  let owner: RealmOwner
  /// The owner in words, for messages to others.
  private let ownerText: String
  let isFrozen: Bool
  /// In a migration primary keys may change.
  private(set) var isMigrating = false
  /// The open write transaction; rows that were added in a batch may be missing from it.
  @safe @exclusivity(unchecked) private(set) var openWrite: WriteTransaction?
  /// The open write transaction, with every row that was added.
  var write: WriteTransaction? {
    if adding.lastType != nil { adding.lastType = nil }
    if adding.batch != nil { flushBatch() }
    return openWrite
  }
  @safe @exclusivity(unchecked) private(set) var snapshotStamp: UInt64 = 0
  @safe @exclusivity(unchecked) private(set) var contentStamp: UInt64 = 0
  private var snapshot: Snapshot?
  /// Whether a table made a cursor, which keeps the version, since the realm went to it.
  private var hasCursors = false
  private var failure: Realm.Error?
  private weak var frozen: _RealmCore?
  /// See RealmCore+Classes.swift.
  let classes = Mutex(KnownClasses())
  /// See Recording/; nil except in transactions of files that need one.
  @safe @exclusivity(unchecked) var recorder: (any ChangeRecorder)?
  /// The recorder of the last transaction that had one.
  var knownRecorder: (any ChangeRecorder)?
  /// See RealmCore+Adding.swift.
  @safe @exclusivity(unchecked) var adding = Adding()
  /// See Notifications/.
  var notifications: Notifications?
  let wakeup = Wakeup()
  var isTickMissed = false
  /// See Notifications/AsyncWrites.swift.
  let asyncWrites = AsyncWrites()
  var refreshesByItself = true
  /// Where the owner's work is queued; nil until a thread's run loop is needed.
  let scheduler: Scheduler?
  /// See RealmCore+Classes.swift.
  var recent: RecentTable?
  /// The realm itself, while a transaction of the main thread is open.
  ///
  /// `try Realm().beginWrite()` keeps no reference, and the next `Realm()` is to find the
  /// transaction (decisions/0759).
  private var openRealm: _RealmCore?
  /// The next key of each class with new objects in the open transaction.
  private var nextKeys: [String: Int64] = [:]

  /// A live realm.
  init(
    _ store: Store, _ configuration: Realm.Configuration, owner: RealmOwner,
    scheduler: Scheduler? = nil
  ) {
    self.store = store
    self.configuration = configuration
    self.owner = owner
    self.scheduler = scheduler
    ownerText = owner.text
    isFrozen = false
  }

  deinit { store.unlisten(wakeup) }

  /// A frozen realm.
  init(frozen snapshot: Snapshot, of live: _RealmCore, classes: [String: ClassInfo]) {
    store = live.store
    configuration = live.configuration
    owner = .nobody
    scheduler = nil
    ownerText = owner.text
    isFrozen = true
    self.snapshot = snapshot
    self.classes.withLock { $0.infos = classes }
  }

  /// The new side of a migration.
  init(migrating live: _RealmCore, _ write: WriteTransaction, classes: [String: ClassInfo]) {
    store = live.store
    configuration = live.configuration
    owner = live.owner
    scheduler = nil
    ownerText = live.ownerText
    isFrozen = false
    isMigrating = true
    openWrite = write
    self.classes.withLock { $0.infos = classes }
  }

  // MARK: the owner

  /// Stops a caller on another thread.
  @inline(__always)
  func checkThread() {
    if !owner.isCurrent { Misuse.stop(wrongThread) }
  }

  private var wrongThread: String {
    "a realm of \(ownerText) is used on thread \(RealmOwner.threadName); use it where it was "
      + "opened, or hand over a frozen one or a ThreadSafeReference"
  }

  func checkOwner() throws(Realm.Error) {
    if !owner.isCurrent { throw Realm.Error(.wrongThread, wrongThread) }
  }

  // MARK: versions

  /// The version that is read; the newest one, if none was read since it was given up.
  func currentSnapshot() throws(EngineError) -> Snapshot {
    if let snapshot { return snapshot }
    let made = try store.database.snapshot()
    snapshot = made
    wakeup.position.store(made.version.rawValue, ordering: .releasing)
    return made
  }

  /// The version that is read: the open write transaction, including pending rows, else the
  /// snapshot.
  func currentVersion() throws(EngineError) -> any ReadableVersion {
    if let write { return write }
    return try currentSnapshot()
  }

  /// The version that is held; in a write transaction the one it began with, for observers.
  var heldSnapshot: Snapshot? { snapshot }

  /// Advances to a held version, or to the newest one.
  private func pinNewest(or held: Snapshot? = nil) {
    forgetSnapshot()
    snapshot = held
    do throws(EngineError) { _ = try currentSnapshot() } catch {
      // The next read tries again, and reports the error.
      notifications?.fail(error)
    }
    if let snapshot {
      wakeup.position.store(snapshot.version.rawValue, ordering: .releasing)
    }
  }

  private func forgetSnapshot() {
    snapshot = nil
    snapshotStamp &+= 1
    contentStamp &+= 1
    guard hasCursors else { return }
    hasCursors = false
    classes.withLock { $0.forgetCursors() }
  }

  /// Notes that a table of a live realm made a cursor, to be dropped with the version.
  func noteCursor() { hasCursors = true }

  /// Goes to the newest version, and tells the observers.
  func refresh() -> Bool {
    guard openWrite == nil, !isFrozen else { return false }
    guard let snapshot, store.database.version > snapshot.version else {
      notifications?.deliverInitials(self)
      return false
    }
    pinNewest()
    notifications?.deliverInitials(self)
    return true
  }

  /// Releases the version, and invalidates all objects and collections.
  func invalidate() {
    if openWrite != nil { cancelWrite() }
    // No read uses a cursor that is released here.
    snapshotStamp &+= 1
    classes.withLock { $0.invalidate() }
    recent = nil
    notifications?.cutOff()
    forgetSnapshot()
  }

  /// The frozen realm of the version that is read.
  func freeze() -> _RealmCore {
    if isFrozen { return self }
    checkThread()
    guard openWrite == nil else {
      Misuse.stop("a realm cannot be frozen while its write transaction is open; commit first")
    }
    return Misuse.unthrowing { () throws(EngineError) in
      let snapshot = try currentSnapshot()
      if let frozen, frozen.snapshot === snapshot { return frozen }
      let made = _RealmCore(frozen: snapshot, of: self, classes: classes.withLock { $0.infos })
      frozen = made
      return made
    }
  }

  /// Whether both read the same version of the same database, or are the same realm.
  func isSameContent(as other: _RealmCore) -> Bool {
    if self === other { return true }
    guard isFrozen, other.isFrozen, store === other.store else { return false }
    return snapshot?.version == other.snapshot?.version
  }

  // MARK: writing

  func checkWriteStart() throws(Realm.Error) {
    if isFrozen {
      throw Realm.Error(.frozen, "a frozen realm is never written; thaw() it, and write that")
    }
    try checkOwner()
    if openWrite != nil {
      throw Realm.Error(
        .transaction, "the realm is in a write transaction; commit or cancel it first")
    }
  }

  func beginWrite() throws(Realm.Error) {
    try checkWriteStart()
    // The first calls of new observers have the version from before.
    notifications?.deliverInitials(self)
    // A callback may have begun one.
    try checkWriteStart()
    // A transaction that was begun for an asynchronous write, and is on its way here, would be
    // waited for without end.
    if let granted = asyncWrites.stealGrant() {
      try begin(with: try granted.get())
    } else {
      try begin(
        with: try translating { () throws(EngineError) in try store.database.beginWrite() })
    }
  }

  /// Takes a transaction as the realm's.
  func begin(with begun: WriteTransaction) throws(Realm.Error) {
    begun.assign(toCaller: true)
    forgetSnapshot()
    openWrite = begun
    if case .main = owner { openRealm = self }
    failure = nil
    nextKeys = [:]
    do throws(Realm.Error) {
      try startRecording(begun)
      try makeMissingTables(begun)
    } catch {
      cancelWrite()
      throw error
    }
    tellOfBegin()
  }

  /// Notifies the observers of other writers' changes from before the transaction began.
  private func tellOfBegin() {
    guard let notifications, !notifications.isEmpty else { return }
    // No other commit can happen now, so this is the version that the transaction began with.
    do throws(EngineError) { _ = try currentSnapshot() } catch { notifications.fail(error) }
    notifications.deliver(self)
  }

  func commitWrite(skipping skipped: [Observer] = []) throws(Realm.Error) {
    try checkOwner()
    guard let write else {
      throw Realm.Error(.transaction, "no write transaction is open; begin one before the commit")
    }
    if let failure {
      write.cancel()
      end()
      throw failure
    }
    do throws(EngineError) {
      try saveNextKeys()
      try recorder?.willCommit(write)
      end(try write.commitHolding(), skipping: skipped)
    } catch {
      write.cancel()
      end()
      throw Realm.Error(error)
    }
  }

  func cancelWrite() {
    openWrite?.cancel()
    end()
  }

  /// Gives the transaction away to be committed elsewhere; the realm reads what was there before.
  /// - Throws: The error that prevents the commit; the transaction is then cancelled.
  func takeWrite() throws(Realm.Error) -> WriteTransaction {
    try checkOwner()
    guard let taken = write else {
      throw Realm.Error(.transaction, "no write transaction is open; begin one before the commit")
    }
    do throws(EngineError) {
      if failure == nil {
        try saveNextKeys()
        try recorder?.willCommit(taken)
      }
    } catch {
      fail(Realm.Error(error))
    }
    if let failure {
      cancelWrite()
      throw failure
    }
    let before = snapshot
    reset()
    // The previous version is held until the end of the commit. It is pinned now, while no other
    // commit can happen, and not at the next read, which may come after the commit but before its
    // completion is delivered.
    pinNewest(or: before)
    taken.assign(toCaller: false)
    return taken
  }

  /// A transaction that was given away is durable.
  func finishTaken(_ held: Snapshot?) {
    guard openWrite == nil else { return }
    if let held, let snapshot, held.version <= snapshot.version { return }
    pinNewest(or: held)
    notifications?.deliverInitials(self)
  }

  private func reset(_ version: Version? = nil) {
    adding.batch?.checkIdle()
    stopRecording(version)
    openWrite = nil
    openRealm = nil
    failure = nil
    nextKeys = [:]
    adding = Adding()
    classes.withLock { $0.forgetUncommitted() }
  }

  private func end(_ held: Snapshot? = nil, skipping skipped: [Observer] = []) {
    reset(held?.version)
    pinNewest(or: held)
    guard let notifications else { return }
    if let held { notifications.skip(skipped, to: held, self) }
    notifications.deliver(self)
    if isTickMissed {
      isTickMissed = false
      wakeup.schedule()
    }
  }

  /// Stops a caller without a write transaction.
  func checkWritable() {
    checkThread()
    if isFrozen { Misuse.stop("a frozen object or collection never changes; thaw() it first") }
    if openWrite == nil {
      Misuse.stop("managed objects change in a write transaction only; use realm.write { }")
    }
  }

  /// Runs a change; an error is kept, and thrown by the commit.
  func change(_ body: (WriteTransaction) throws(EngineError) -> Void) {
    checkWritable()
    guard let write else { return }
    contentStamp &+= 1
    do throws(EngineError) { try body(write) } catch { fail(Realm.Error(error)) }
  }

  /// The transaction will not commit, but throw this; the first error counts.
  func fail(_ error: Realm.Error) {
    if failure == nil { failure = error }
  }

  /// The error that prevents the commit.
  var firstFailure: Realm.Error? { failure }

  // MARK: keys

  /// A key that no object of the class ever had.
  func nextKey(of name: String, _ write: WriteTransaction) throws(EngineError) -> Int64 {
    let next =
      if let known = nextKeys[name] { known } else { try FileSchema.nextKey(of: name, write) }
    guard next < .max else { throw FileSchema.noKeyLeft(name) }
    nextKeys[name] = next + 1
    return next
  }

  /// Sets the key of the class's next object, when a batch that tracked it ends.
  func setNextKey(_ key: Int64, of name: String) { nextKeys[name] = key }

  /// Content read from the transaction may differ from now on.
  func noteChange() { contentStamp &+= 1 }

  func saveNextKeys() throws(EngineError) {
    guard let write else { return }
    for name in nextKeys.keys.sorted() where write.hasTable(name) {
      if let next = nextKeys[name] { try FileSchema.setNextKey(next, of: name, write) }
    }
  }
}
