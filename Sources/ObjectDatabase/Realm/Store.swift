// Store.swift [U]: one open database and the realms of this process on it. Invariants: one store
// per file while it is in use and its path leads to it; one realm per store and owner, so that a
// thread's writes through one reference are visible through all; neither is kept alive by the
// registry.

import Engine
import FoundationEssentials
import Synchronization

@safe final class Store: Sendable {
  let database: Database
  let identity: String
  let path: String?
  private let encryptionKey: Data?
  private let readOnly: Bool
  private let cores = Mutex<[RealmOwner: WeakCore]>([:])
  /// The thread that waits for commits, while a realm listens.
  private let listener = Mutex<Listener?>(nil)

  // Safety: a core checks its owner at each use; the reference alone is shared.
  private struct WeakCore: @unchecked Sendable {
    weak var core: _RealmCore?
  }

  private struct WeakStore {
    weak var store: Store?
  }

  private static let stores = Mutex<[String: WeakStore]>([:])

  private init(_ configuration: Realm.Configuration) throws(Realm.Error) {
    identity = configuration.identity
    path = configuration.path
    encryptionKey = configuration.encryptionKey
    readOnly = configuration.readOnly
    let options = configuration.engineOptions
    if let identifier = configuration.inMemoryIdentifier {
      database = try translating { () throws(EngineError) in
        try Database.open(inMemory: identifier, options: options)
      }
      return
    }
    let path = configuration.path ?? ""
    if let seed = configuration.seedFilePath?.standardizedFileURL.path,
      !configuration.readOnly, !FileManager.default.fileExists(atPath: path)
    {
      try Self.copy(seed, to: path, options)
    }
    let opener = configuration.engineOpener
    database = try translating { () throws(EngineError) in
      if let opener { return try opener.open(options) }
      return try Database.open(path: path, options: options)
    }
  }

  private static func copy(
    _ seed: String, to path: String, _ options: Database.Options
  ) throws(Realm.Error) {
    var reading = options
    reading.readOnly = true
    reading.createsMissing = false
    reading.shouldCompactOnLaunch = nil
    try translating { () throws(EngineError) in
      let database = try Database.open(path: seed, options: reading)
      try database.writeCopy(to: path, encryptionKey: options.encryptionKey)
      try database.close()
    }
  }

  /// The store of a configuration, opened if the file at its path is not open yet.
  static func open(_ configuration: Realm.Configuration) throws(Realm.Error) -> Store {
    do throws(Realm.Error) { return try opened(configuration) } catch {
      throw error.of(configuration.fileURL)
    }
  }

  private static func opened(_ configuration: Realm.Configuration) throws(Realm.Error) -> Store {
    try configuration.check()
    return try stores.withLock { stores throws(Realm.Error) in
      stores = stores.filter { $0.value.store != nil }
      if let store = stores[configuration.identity]?.store,
        try translating({ () throws(EngineError) in try store.database.isInPlace() })
      {
        try store.check(configuration)
        return store
      }
      let store = try Store(configuration)
      stores[store.identity] = WeakStore(store: store)
      return store
    }
  }

  private func check(_ configuration: Realm.Configuration) throws(Realm.Error) {
    guard encryptionKey == configuration.encryptionKey else {
      throw Realm.Error(
        .invalidDatabase, "\(identity) is open in this process with another encryption key")
    }
    guard readOnly == configuration.readOnly else {
      throw Realm.Error(
        .alreadyOpen,
        "\(identity) is open in this process with readOnly=\(readOnly), and is to be opened with "
          + "readOnly=\(configuration.readOnly)")
    }
  }

  /// Whether this process has a database open.
  static func isOpen(_ configuration: Realm.Configuration) -> Bool {
    stores.withLock { $0[configuration.identity]?.store != nil }
  }

  /// The realm of an owner, made if there is none.
  func core(
    _ configuration: Realm.Configuration, owner: RealmOwner, scheduler: Scheduler? = nil
  ) throws(Realm.Error) -> _RealmCore {
    if let core = cores.withLock({ $0[owner]?.core }) {
      guard core.configuration.schemaVersion == configuration.schemaVersion else {
        throw Realm.Error(
          .schemaMismatch,
          "\(identity) is open on this thread with schema version "
            + "\(core.configuration.schemaVersion), and is to be opened with "
            + "\(configuration.schemaVersion)")
      }
      guard (core.configuration.recording == nil) == (configuration.recording == nil) else {
        throw Realm.Error(
          .alreadyOpen,
          "\(identity) is open on this thread with a configuration that is "
            + "\(configuration.recording == nil ? "" : "not ")synchronized; use one for all")
      }
      return core
    }
    let core = _RealmCore(self, configuration, owner: owner, scheduler: scheduler)
    try SchemaUpdate.open(core)
    cores.withLock { cores in
      cores = cores.filter { $0.value.core != nil }
      cores[owner] = WeakCore(core: core)
    }
    core.listenOnceServed()
    return core
  }

  /// The live realm of the caller's owner: a queue or an actor that has one, or the thread.
  func currentCore(_ configuration: Realm.Configuration) throws(Realm.Error) -> _RealmCore {
    let known = cores.withLock { cores in
      cores.values.compactMap(\.core).filter(\.owner.isCurrent)
    }
    // At most one of each kind: the running code runs on one thread, one queue and one actor.
    if let nearest = known.min(by: { $0.owner.rank < $1.owner.rank }) { return nearest }
    return try core(configuration, owner: .currentThread)
  }

  // MARK: listening

  /// Has a realm rung for when there is a newer version.
  /// - Throws: `EngineError` when the database is closed, or no thread can be made.
  func listen(_ wakeup: Wakeup) throws(EngineError) {
    try listener.withLock { listener throws(EngineError) in
      let started = if let listener { listener } else { try Listener.start(database) }
      listener = started
      started.add(wakeup)
    }
  }

  /// Ends that; with the last realm the thread ends.
  func unlisten(_ wakeup: Wakeup) {
    listener.withLock { current in
      guard let listener = current else { return }
      if listener.remove(wakeup) {
        current = nil
        listener.stop()
      }
    }
  }
}
