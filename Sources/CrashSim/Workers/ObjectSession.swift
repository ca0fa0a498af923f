// ObjectSession.swift [U]: the state of a worker process for actors that use objects: one open
// file, a realm for each actor, and named frozen realms.
// Invariants: each actor's realm is created and used on its thread; a transaction that opens a
// realm makes exactly one commit, an empty one if nothing had to be changed, so that the reference
// model knows the version; before a file is closed, everything that refers to it is released.

import Engine
import Findings
import Foundation
import LabCore
import ObjectDatabase
import Oracles
import Synchronization
import Workload

/// The realms of one process on one file.
final class ObjectSession: Sendable {
  // @unchecked: a frozen realm may be used on any thread.
  private struct Frozen: @unchecked Sendable {
    let realm: Realm
    let sight: ObjectSight
    let owner: any ObjectActor
  }

  private struct State {
    var file: RealmFile?
    var actors: [String: any ObjectActor] = [:]
    var declarations: [String: ObjectDeclaration] = [:]
    /// The content of an actor's realm when last read, unless the realm has moved since.
    var seen: [String: ObjectSight] = [:]
    var frozen: [String: Frozen] = [:]
    /// The observers of each actor.
    var observers: [String: [any ObjectObserver]] = [:]
  }

  private let configuration: Realm.Configuration
  private let didBegin: (@Sendable (PlannedTransaction, _ version: UInt64) -> Void)?
  private let state = Mutex(State())
  private static let count = Mutex(0)

  /// The engine's database below the realms; nil once it was released.
  var database: Database? { state.withLock { $0.file?.database } }

  /// Opens the file as declared, without a realm.
  /// - Parameters:
  ///   - declaration: The options.
  ///   - path: The file's path, or nil when only `open` knows it.
  ///   - open: The engine's open, with options that a realm's configuration does not have.
  ///   - didBegin: Called for each transaction that gets its turn.
  /// - Throws: `Realm.Error`.
  init(
    _ declaration: DatabaseDeclaration, path: String?,
    open: @escaping WorkerSession.OpenDatabase,
    didBegin: (@Sendable (PlannedTransaction, _ version: UInt64) -> Void)?
  ) throws(Realm.Error) {
    self.didBegin = didBegin
    let number = Self.count.withLock { count in
      count += 1
      return count
    }
    let file = URL(filePath: path ?? "/in-process/\(number)/\(DatabaseFile.name)")
    var configuration = Realm.Configuration(
      fileURL: file, encryptionKey: declaration.key.bytes.map { Data($0) },
      readOnly: declaration.isReadOnly)
    if declaration.compactsOnLaunch {
      configuration.shouldCompactOnLaunch = { _, _ in true }
    }
    configuration.maximumNumberOfActiveVersions = declaration.activeVersionsMax.map { UInt($0) }
    if let seed = declaration.objects?.seed {
      configuration.seedFilePath =
        file.deletingLastPathComponent().appending(path: CopyStep(name: seed).fileName)
    }
    configuration.engineOpener = EngineOpener(number: number) { (options) throws(EngineError) in
      try open(declaration.taking(options))
    }
    self.configuration = configuration
    let opened = try RealmFile(configuration)
    state.withLock { $0.file = opened }
  }

  // MARK: coming and going

  /// Adds an actor, and opens its realm unless a transaction will open it.
  /// - Throws: `Realm.Error`.
  func join(_ actor: String, _ declaration: ObjectDeclaration) throws {
    state.withLock { $0.declarations[actor] = declaration }
    if declaration.joins { _ = try self.actor(actor) }
  }

  /// Releases an actor's realm.
  func leave(_ actor: String) {
    state.withLock { state in
      state.actors.removeValue(forKey: actor)?.realm.giveUpVersion()
      state.declarations[actor] = nil
      state.seen[actor] = nil
      state.observers[actor] = nil
    }
  }

  /// Releases everything; the actors' declarations are kept for a reopen.
  func letGo() {
    state.withLock { state in
      // A thread that is stopped at a trap keeps the realm that it misused.
      for actor in state.actors.values { actor.realm.giveUpVersion() }
      state.actors = [:]
      state.observers = [:]
      state.seen = [:]
      state.frozen = [:]
      state.file = nil
    }
  }

  /// Moves the actors to the file that another session has opened.
  func handOver(to session: ObjectSession) {
    let declarations = state.withLock { $0.declarations }
    session.state.withLock { $0.declarations = declarations }
  }

  /// The actor, whose realm is opened on the calling thread if it has none.
  private func actor(_ name: String) throws -> any ObjectActor {
    if let actor = state.withLock({ $0.actors[name] }) { return actor }
    let declaration = state.withLock { $0.declarations[name] } ?? ObjectDeclaration()
    let made = try declaration.open(configuration, for: name)
    state.withLock { $0.actors[name] = made }
    return made
  }

  // MARK: commands

  /// Performs a command of an actor on its thread.
  /// - Returns: The answer; nil for a command that concerns only the engine.
  func perform(_ command: WorkerCommand) -> WorkerAnswer? {
    do {
      return try answer(command)
    } catch {
      return Self.failure(error)
    }
  }

  private func answer(_ command: WorkerCommand) throws -> WorkerAnswer? {
    let name = command.actor
    switch command.action {
    case .createTables:
      return try open(command.database?.objects ?? ObjectDeclaration(), name)
    case .transaction(let transaction):
      if let schema = transaction.schema { return try open(schema, name) }
      return try run(transaction, try actor(name))
    case .pin(let pin): return try freeze(as: pin, try actor(name))
    case .release(let pin):
      let answer = compare(pin)
      if case .done = answer { state.withLock { _ = $0.frozen.removeValue(forKey: pin) } }
      return answer
    case .expect(.pinnedUnchanged(let pin)): return compare(pin)
    case .verify: return try verify(try actor(name))
    case .query(let query): return try judge(query, try actor(name))
    case .observe(let query):
      let observer = try actor(name).observe(query)
      state.withLock { $0.observers[name, default: []].append(observer) }
      return .done()
    case .refresh: return try refresh(try actor(name))
    case .invalidate:
      try actor(name).realm.invalidate()
      state.withLock { state in
        state.seen[name] = nil
        // Invalidation has ended their tokens.
        state.observers[name] = nil
      }
      return .done()
    case .misuse(let owner): return try misuse(of: owner, by: name)
    default: return nil
    }
  }

  /// The answer for an error.
  static func failure(_ error: any Error) -> WorkerAnswer {
    guard let error = error as? Realm.Error else {
      if let misfit = error as? ObjectMisfit {
        return .failed(code: misfit.code, message: misfit.message)
      }
      return .failed(code: WorkerAnswer.protocolCode, message: "\(error)")
    }
    return .failed(code: code(of: error), message: error.message)
  }

  private static func code(of error: Realm.Error) -> String {
    // Which of the two ways of adding an object failed depends on the statement.
    if error.code == .invalidValue { return "keyExists" }
    return error.engineError?.code.description ?? "\(error.code)"
  }

  /// Opens an actor's realm, with one commit.
  private func open(_ schema: ObjectDeclaration, _ name: String) throws -> WorkerAnswer {
    state.withLock { state in
      state.actors.removeValue(forKey: name)?.realm.giveUpVersion()
      state.observers[name] = nil
      state.declarations[name] = schema
      state.seen[name] = nil
    }
    let before = database?.version
    let actor = try self.actor(name)
    if database?.version == before { try actor.realm.write {} }
    return .done(version: database?.version.rawValue)
  }

  private func run(
    _ transaction: PlannedTransaction, _ actor: any ObjectActor
  ) throws -> WorkerAnswer {
    let realm = actor.realm
    state.withLock { $0.seen[actor.name] = nil }
    if transaction.isAsync {
      let violation = try AsyncWrite(transaction, actor, didBegin).perform() ?? heard(by: actor)
      return violation.map { .broken($0) } ?? .done(version: database?.version.rawValue)
    }
    let isThrown = transaction.cancels && transaction.number % 2 == 1
    do {
      try realm.write {
        didBegin?(transaction, realm.nextVersion ?? 0)
        try actor.apply(transaction.mutations)
        if isThrown { throw ObjectMisfit(code: Self.thrown, message: "thrown as asked") }
        if transaction.cancels { realm.cancelWrite() }
      }
    } catch let misfit as ObjectMisfit where misfit.code == Self.thrown {
      if let violation = heard(by: actor) { return .broken(violation) }
      return .done(version: database?.version.rawValue)
    }
    if let violation = heard(by: actor) { return .broken(violation) }
    guard !isThrown else {
      return .broken(
        Violation(
          .objects, promised: "a write block that throws gives its error on", got: "it ended well"))
    }
    return .done(version: database?.version.rawValue)
  }

  private static let thrown = "thrown"

  // MARK: versions

  private func freeze(as name: String, _ actor: any ObjectActor) throws -> WorkerAnswer {
    guard state.withLock({ $0.frozen[name] == nil }) else {
      return .failed(code: WorkerAnswer.protocolCode, message: "pin '\(name)' exists")
    }
    if case .broken(let violation) = try refresh(actor) { return .broken(violation) }
    let realm = actor.realm.freeze()
    let kept = Frozen(realm: realm, sight: actor.sight(of: realm), owner: actor)
    let snapshot = try realm.engineSnapshot()
    state.withLock { $0.frozen[name] = kept }
    return .done(
      version: snapshot.version.rawValue, contentHash: try snapshot.contentHash())
  }

  /// Reads a frozen realm again: it must be unchanged.
  private func compare(_ name: String) -> WorkerAnswer {
    guard let frozen = state.withLock({ $0.frozen[name] }) else {
      return .failed(code: WorkerAnswer.protocolCode, message: "no pin '\(name)'")
    }
    let now = frozen.owner.sight(of: frozen.realm)
    return FrozenViewOracle.judge(frozen: name, was: frozen.sight, is: now).map { .broken($0) }
      ?? .done()
  }

  /// The live realm must not have moved before, and is at the newest version afterwards.
  private func refresh(_ actor: any ObjectActor) throws -> WorkerAnswer {
    let sight = actor.sight(of: actor.realm)
    let was = state.withLock { $0.seen[actor.name] }
    if let was, let violation = FrozenViewOracle.judge(live: actor.name, was: was, is: sight) {
      return .broken(violation)
    }
    _ = actor.realm.refresh()
    if let violation = heard(by: actor, isRefreshed: true) { return .broken(violation) }
    let snapshot = try actor.realm.engineSnapshot()
    guard let newest = database?.version, snapshot.version == newest else {
      return .broken(
        Violation(
          .objects, promised: "a refreshed realm reads the newest version",
          got: "it reads version \(snapshot.version.rawValue)"))
    }
    let now = actor.sight(of: actor.realm)
    state.withLock { $0.seen[actor.name] = now }
    return ObjectViewOracle.judge(now, try ObjectRows(snapshot)).map { .broken($0) }
      ?? .done(version: snapshot.version.rawValue)
  }

  /// Judges the actor's observers; all of them have received the version that is read.
  private func heard(
    by actor: any ObjectActor, isRefreshed: Bool = false
  ) -> Violation? {
    let observers = state.withLock { $0.observers[actor.name] } ?? []
    return observers.lazy.compactMap { $0.judge(isRefreshed: isRefreshed) }.first
  }

  // MARK: judging

  /// Most ages whose dogs are queried through the index.
  private static let agesMax = 64

  private func verify(_ actor: any ObjectActor) throws -> WorkerAnswer {
    guard let database else { return .failed(code: "closed", message: "it is closed") }
    if let violation = try LiveCheck(database).damage() { return .broken(violation) }
    let rows = try ObjectRows(try actor.realm.engineSnapshot())
    let sight = actor.sight(of: actor.realm)
    let was = state.withLock { state in
      defer { state.seen[actor.name] = sight }
      return state.seen[actor.name]
    }
    let found =
      was.flatMap { FrozenViewOracle.judge(live: actor.name, was: $0, is: sight) }
      ?? LinkOracle.judge(rows) ?? EmbeddedOracle.judge(rows)
      ?? CollectionOracle.judge(rows)
      ?? ObjectViewOracle.judge(sight, rows)
      ?? QueryOracle.judge(actor.queries(atMost: Self.agesMax, sight), sight)
    if let found { return .broken(found) }
    let newest = try database.snapshot()
    defer { newest.release() }
    return .done(version: newest.version.rawValue, contentHash: try newest.contentHash())
  }

  private func judge(_ query: ObjectQuery, _ actor: any ObjectActor) throws -> WorkerAnswer {
    let found = try actor.find(query)
    let promised = "'\(query.text)' finds "
    if let keys = query.keys {
      guard found.map({ Int64($0) }) != keys else { return .done() }
      return .broken(
        Violation(.expectation, promised: promised + "\(keys)", got: "it finds \(found)"))
    }
    if let count = query.count {
      guard found.count != count else { return .done() }
      return .broken(
        Violation(
          .expectation, promised: promised + Formatting.counted(count, "object"),
          got: "it finds \(found.count)"))
    }
    return try QueryOracle.judge(query, found: found, try actor.realm.engineSnapshot())
      .map { .broken($0) } ?? .done()
  }

  private func misuse(of owner: String, by caller: String) throws -> WorkerAnswer {
    guard let other = state.withLock({ $0.actors[owner] }) else {
      return .failed(code: WorkerAnswer.protocolCode, message: "'\(owner)' has no realm open")
    }
    for misuse in other.misuses() {
      let message = MisuseProbe.message {
        ProcessCalls.nameThisThread(caller)
        misuse.use()
      }
      let violation = ConfinementOracle.judge(
        misuse.name, owner: owner, caller: caller, message: message)
      if let violation { return .broken(violation) }
    }
    return .done()
  }
}

/// Why a statement is invalid, or a planned error thrown from a block.
struct ObjectMisfit: Error {
  let code: String
  let message: String
}

extension DatabaseDeclaration {
  /// The same with the engine's options that a realm's configuration resulted in.
  fileprivate func taking(_ options: Database.Options) -> DatabaseDeclaration {
    var declaration = self
    declaration.key =
      DeclaredKey.allCases.first { $0.bytes == options.encryptionKey } ?? .none
    declaration.isReadOnly = options.readOnly
    declaration.compactsOnLaunch = options.shouldCompactOnLaunch?(1, 1) ?? false
    declaration.activeVersionsMax =
      options.maximumNumberOfActiveVersions == .max ? nil : options.maximumNumberOfActiveVersions
    return declaration
  }
}
