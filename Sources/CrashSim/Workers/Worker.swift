// Worker.swift: the process that runs the engine while Faultline observes its file.
// Invariants: commands run in lockstep, one at a time, each on the thread of its actor; every
// command gets one answer; for any input there is an answer or the process ends, without a trap. A
// process has one handle of the database, shared by its actors, because the engine locks the file
// per handle.

import CSystem
import Engine
import FaultFS
import Findings
import LabCore
import Synchronization
import Workload

/// The process that runs the engine under test.
package struct WorkerProgram: ChildProgram {
  package static let name = "worker"
  package static let parameters = ["DIRECTORY"]
  /// The folder of the database file.
  let directory: String

  package var arguments: [String] { [directory] }

  /// Sets the directory.
  package init(directory: String) { self.directory = directory }

  package init(_ arguments: inout ChildArguments) { self.init(directory: arguments.text()) }

  /// Runs commands from standard input until it ends.
  package func run() -> Int32 {
    let status = EngineWorker.run(input: 0, output: 1, directory: directory)
    return status == 0 ? 0 : ExitCode.labFailed.rawValue
  }
}

/// The worker's main loop.
package enum EngineWorker {
  /// Most actors of one worker.
  static let actorCountMax = ScenarioBounds.names

  /// Reads commands, runs them and answers, until the input ends.
  /// - Parameters:
  ///   - input: Descriptor of the commands, one JSON object per line.
  ///   - output: Descriptor of the answers, one per line.
  ///   - directory: The folder of the database file.
  /// - Returns: The exit code of the process: 0 at the end of the input, 3 when a descriptor fails.
  package static func run(input: Int32, output: Int32, directory: String) -> Int32 {
    // A limit of the address space must not apply to a thread without a heap.
    csystem_share_one_heap()
    var channel = LineChannel(input: input, output: output)
    let phases = PhaseAnnouncer(directory: directory)
    let path = "\(directory)/\(DatabaseFile.name)"
    let crew = WorkerCrew(WorkerSession(path: path, announcing: phases))
    defer { crew.end() }
    do throws(LabError) {
      while let line = try channel.readLine() {
        try channel.write(JSONLine.encode(answer(line, crew)))
      }
      return ExitCode.held.rawValue
    } catch {
      return error.exitCode.rawValue
    }
  }

  private static func answer(_ line: [UInt8], _ crew: WorkerCrew) -> WorkerAnswer {
    do throws(LabError) {
      return try crew.answer(try WorkerWire.command(line))
    } catch {
      return .failed(code: WorkerAnswer.protocolCode, message: error.message)
    }
  }
}

/// A session and the threads of its actors, which answer one command at a time.
package final class WorkerCrew {
  private let session: WorkerSession
  private var threads: [String: ActorThread] = [:]

  package init(_ session: WorkerSession) { self.session = session }

  /// Has the command's actor run it.
  /// - Parameters:
  ///   - command: The command.
  ///   - timeoutSeconds: After this time it counts as hung; nil waits for ever.
  /// - Returns: The actor's answer.
  /// - Throws: `LabError` when the actor does not answer in time.
  package func answer(
    _ command: WorkerCommand, timeoutSeconds: Int? = nil
  ) throws(LabError) -> WorkerAnswer {
    if threads[command.actor] == nil {
      guard threads.count < EngineWorker.actorCountMax else {
        return .failed(
          code: WorkerAnswer.protocolCode,
          message: "actor '\(command.actor)' would be number \(threads.count + 1)")
      }
      threads[command.actor] = ActorThread(name: command.actor)
    }
    // Its actor has a thread by now, for which the limit might leave no memory.
    if case .process(.limit(let limit)) = command.action { return ProcessControl.apply(limit) }
    let session = self.session
    guard
      let answer = threads[command.actor]?.run(timeoutSeconds, { session.run(command) })
    else {
      throw .lab(
        "\(command.name): '\(command.actor)' did not answer in "
          + "\(timeoutSeconds ?? 0) s")
    }
    return answer
  }

  /// Releases everything, like the end of a process.
  package func end() {
    for thread in threads.values { thread.end() }
    session.end()
  }
}

/// The open handles of the process.
package final class WorkerSession: Sendable {
  private struct Pin {
    let snapshot: Snapshot
    let contentHash: UInt64
    let owner: String
  }

  private struct State {
    var database: Database?
    /// The realms over the database, in a scenario over objects.
    var objects: ObjectSession?
    var actors: Set<String> = []
    var pins: [String: Pin] = [:]
  }

  private let makeDatabase: OpenDatabase
  private let path: String?
  private let phases: PhaseAnnouncer?
  private let didBegin: (@Sendable (PlannedTransaction, _ version: UInt64) -> Void)?
  private let state = Mutex(State())

  /// Opens a database as declared.
  package typealias OpenDatabase =
    @Sendable (DatabaseDeclaration) throws(EngineError) -> Database

  /// Starts with nothing open.
  /// - Parameters:
  ///   - open: Called for the first open and for each reopen.
  ///   - phases: Where the steps of commits are announced.
  ///   - didBegin: Called when a transaction gets its turn, before its first statement, with its
  ///     future version.
  ///   - path: The file's path; nil when only `open` knows it.
  package init(
    open: @escaping OpenDatabase, announcing phases: PhaseAnnouncer? = nil,
    didBegin: (@Sendable (PlannedTransaction, _ version: UInt64) -> Void)? = nil,
    path: String? = nil
  ) {
    self.path = path
    makeDatabase = open
    self.phases = phases
    self.didBegin = didBegin
  }

  convenience init(path: String, announcing phases: PhaseAnnouncer? = nil) {
    self.init(
      open: { (declaration) throws(EngineError) -> Database in
        try Database.open(path: path, options: declaration.options(announcing: phases))
      }, announcing: phases, path: path)
  }

  /// Runs one command on the calling thread.
  package func run(_ command: WorkerCommand) -> WorkerAnswer {
    defer { phases?.end() }
    do throws(EngineError) {
      switch command.action {
      case .process(.exit): ProcessControl.exitAtOnce()
      case .open, .close, .reopen:
        return try state.withLock { state throws(EngineError) in try enter(command, &state) }
      default: return try perform(command)
      }
    } catch {
      return .failed(code: error.code.description, message: error.message)
    }
  }

  /// Releases everything, like the end of a process.
  package func end() {
    state.withLock { state in
      for pin in state.pins.values { pin.snapshot.release() }
      state.objects?.letGo()
      try? state.database?.close()
      state = State()
    }
  }

  private func refusal(_ command: WorkerCommand, _ actors: Set<String>) -> WorkerAnswer? {
    guard !actors.contains(command.actor) else { return nil }
    return .failed(
      code: WorkerAnswer.protocolCode,
      message: "'\(command.actor)' does not have the database open")
  }

  /// Opens, closes or reopens: the only operations that only one actor may do at a time.
  private func enter(
    _ command: WorkerCommand, _ state: inout State
  ) throws(EngineError) -> WorkerAnswer {
    if case .open = command.action { return try open(command, &state) }
    if let refusal = refusal(command, state.actors) { return refusal }
    guard let database = state.database else {
      // A reopen failed; the next one, or an open, may succeed.
      if case .reopen = command.action { return try open(command, &state) }
      throw Self.closed
    }
    if case .reopen = command.action {
      state.objects?.letGo()
      try database.close()
      state.database = nil
      return try open(command, &state)
    }
    state.actors.remove(command.actor)
    state.objects?.leave(command.actor)
    guard state.actors.isEmpty else { return .done() }
    state.objects?.letGo()
    state.objects = nil
    // A handle that fails to close stays open, and its owner must know that.
    do throws(EngineError) { try database.close() } catch {
      state.actors.insert(command.actor)
      throw error
    }
    state.database = nil
    return .done()
  }

  private static var closed: EngineError {
    EngineError(code: .closed, message: "the last reopen failed; reopen again")
  }

  /// Uses the open database; no lock is held meanwhile, so actors may do so concurrently.
  private func perform(_ command: WorkerCommand) throws(EngineError) -> WorkerAnswer {
    if let refusal = state.withLock({ self.refusal(command, $0.actors) }) { return refusal }
    guard let database = state.withLock({ $0.database }) else { throw Self.closed }
    if let objects = state.withLock({ $0.objects }), let answer = objects.perform(command) {
      return answer
    }
    switch command.action {
    case .open, .close, .reopen: preconditionFailure("these are done under the lock")
    case .createTables(let tables): return try createTables(tables, database)
    case .pin(let name): return try pin(name, command.actor, database)
    case .release(let name):
      let answer = try compare(name)
      guard case .failed = answer else {
        state.withLock { $0.pins.removeValue(forKey: name) }?.snapshot.release()
        return answer
      }
      return answer
    case .diff(let name): return try compareChanges(since: name, database)
    case .transaction(let transaction):
      return try run(transaction, database, command.database ?? DatabaseDeclaration())
    case .verify: return try verify(database)
    case .compact:
      guard try database.compact() else {
        return .failed(
          code: WorkerAnswer.refusedCode,
          message: "the compaction did nothing: others use the file")
      }
      return try verify(database)
    case .copy(let copy): return try write(copy, command, database)
    case .expect(.pinnedUnchanged(let name)): return try compare(name)
    case .expect(let claim): return try LiveCheck(database).judge(claim)
    case .fork: return try ForkedChild.judge(database, command.database ?? DatabaseDeclaration())
    case .process, .file:
      return .failed(code: WorkerAnswer.protocolCode, message: "only Faultline itself can do this")
    case .query, .observe, .refresh, .invalidate, .misuse:
      return .failed(code: WorkerAnswer.protocolCode, message: "there are no objects here")
    }
  }

  /// Opens the file, or shares the open handle.
  ///
  /// Only an open that read the file returns a version: it acknowledges the content found.
  private func open(
    _ command: WorkerCommand, _ state: inout State
  ) throws(EngineError) -> WorkerAnswer {
    let declaration = command.database ?? DatabaseDeclaration()
    if let objects = declaration.objects { return openObjects(command, objects, &state) }
    guard state.database == nil else {
      state.actors.insert(command.actor)
      return .done()
    }
    let database = try makeDatabase(declaration)
    state.database = database
    state.actors.insert(command.actor)
    return .done(version: database.version.rawValue)
  }

  /// The same with the realms over it.
  private func openObjects(
    _ command: WorkerCommand, _ declaration: ObjectDeclaration, _ state: inout State
  ) -> WorkerAnswer {
    let isFirst = state.database == nil
    do {
      if isFirst {
        let made = try ObjectSession(
          command.database ?? DatabaseDeclaration(), path: path, open: makeDatabase,
          didBegin: didBegin)
        state.objects?.handOver(to: made)
        state.objects = made
        state.database = made.database
      }
      let version = state.database?.version.rawValue
      if case .open = command.action { try state.objects?.join(command.actor, declaration) }
      state.actors.insert(command.actor)
      return .done(version: isFirst ? version : nil)
    } catch {
      state.objects?.leave(command.actor)
      if isFirst {
        state.objects?.letGo()
        try? state.database?.close()
        state.database = nil
        if state.actors.isEmpty { state.objects = nil }
      }
      return ObjectSession.failure(error)
    }
  }

  // MARK: - Pins

  private func pin(
    _ name: String, _ actor: String, _ database: Database
  ) throws(EngineError) -> WorkerAnswer {
    guard state.withLock({ $0.pins[name] == nil }) else {
      return .failed(code: WorkerAnswer.protocolCode, message: "pin '\(name)' exists")
    }
    let snapshot = try database.snapshot()
    let contentHash = try snapshot.contentHash()
    state.withLock { state in
      state.pins[name] = Pin(snapshot: snapshot, contentHash: contentHash, owner: actor)
    }
    return .done(version: snapshot.version.rawValue, contentHash: contentHash)
  }

  /// Checks whether each pin still has its reader slot: from the reader's second read of the
  /// published version until release, the slot must contain the version, or a writer takes its
  /// space.
  ///
  /// May be called at any point of a schedule, because it is not a scheduling point itself.
  package func pinWithoutSlot() -> Violation? {
    let (database, pins) = state.withLock { ($0.database, $0.pins) }
    guard !pins.isEmpty, let database, let records = try? database.activePins() else { return nil }
    var slots = Dictionary(grouping: records, by: \.version).mapValues(\.count)
    for (name, pin) in pins.sorted(by: { $0.key < $1.key }) {
      let version = pin.snapshot.version
      guard let count = slots[version], count > 0 else {
        return Violation(
          .isolation,
          promised: "version \(version.rawValue), pinned as '\(name)', has a reader slot until it "
            + "is released",
          got: "no slot says it, so the next commit may use its space")
      }
      slots[version] = count - 1
    }
    return nil
  }

  /// Reads a pinned version again: it must be unchanged.
  private func compare(_ name: String) throws(EngineError) -> WorkerAnswer {
    guard let pin = state.withLock({ $0.pins[name] }) else {
      return .failed(code: WorkerAnswer.protocolCode, message: "no pin '\(name)'")
    }
    let promised = "the pinned version \(pin.snapshot.version.rawValue) ('\(name)') stays the same"
    let contentHash: UInt64
    do throws(EngineError) { contentHash = try pin.snapshot.contentHash() } catch {
      return .broken(Violation(.isolation, promised: promised, got: "it reads as \(error)"))
    }
    guard contentHash == pin.contentHash else {
      return .broken(Violation(.isolation, promised: promised, got: "its content changed"))
    }
    return .done(version: pin.snapshot.version.rawValue, contentHash: contentHash)
  }

  /// Compares the changes since a pinned version, as the engine reports them, with the contents.
  private func compareChanges(
    since name: String, _ database: Database
  ) throws(EngineError) -> WorkerAnswer {
    guard let pin = state.withLock({ $0.pins[name] }) else {
      return .failed(code: WorkerAnswer.protocolCode, message: "no pin '\(name)'")
    }
    let newest = try database.snapshot()
    defer { newest.release() }
    let contents = try VersionContents(older: pin.snapshot, newer: newest)
    let changes = try newest.changes(since: pin.snapshot)
    if let violation = contents.violation(of: changes, since: name) { return .broken(violation) }
    return .done(version: newest.version.rawValue, contentHash: try newest.contentHash())
  }

  // MARK: - Transactions

  private func createTables(
    _ tables: [TableDeclaration], _ database: Database
  ) throws(EngineError) -> WorkerAnswer {
    let writer = try database.beginWrite()
    defer { writer.cancel() }
    let present = Set(writer.tables.map(\.name))
    for table in tables where !present.contains(table.name) {
      try writer.createTable(table.schema)
    }
    return .done(version: try writer.commit().rawValue)
  }

  private func run(
    _ transaction: PlannedTransaction, _ database: Database, _ declaration: DatabaseDeclaration
  ) throws(EngineError) -> WorkerAnswer {
    let writer = try database.beginWrite()
    didBegin?(transaction, writer.nextVersion.rawValue)
    // No effect after a commit; after a failed statement nothing must remain.
    defer { writer.cancel() }
    for mutation in transaction.mutations { try apply(mutation, writer) }
    var copied: UInt64?
    if let copy = transaction.copy {
      let path = Self.path(of: copy, beside: database.path)
      try writer.writeCopy(to: path, encryptionKey: declaration.of(copy).key.bytes)
      guard case .done(_, let hash) = try read(copy, at: path, declaration) else {
        return .broken(
          Violation(.structure, promised: "a copy is whole", got: "'\(copy.name)' is damaged"))
      }
      copied = hash
    }
    if transaction.cancels {
      return .done(version: database.version.rawValue, contentHash: copied)
    }
    return .done(version: try writer.commit().rawValue, contentHash: copied)
  }

  private func apply(
    _ mutation: Mutation, _ writer: WriteTransaction
  ) throws(EngineError) {
    let values = mutation.values.map(\.engineValue)
    switch mutation.kind {
    case .insert: try writer.insert(into: mutation.table, key: mutation.key, values)
    case .upsert: try writer.upsert(into: mutation.table, key: mutation.key, values)
    case .update: try writer.update(in: mutation.table, key: mutation.key, values)
    case .delete: try writer.delete(from: mutation.table, key: mutation.key)
    }
  }

  /// Writes a copy, and returns its content.
  private func write(
    _ copy: CopyStep, _ command: WorkerCommand, _ database: Database
  ) throws(EngineError) -> WorkerAnswer {
    let declaration = command.database ?? DatabaseDeclaration()
    let path = Self.path(of: copy, beside: database.path)
    try database.writeCopy(to: path, encryptionKey: declaration.of(copy).key.bytes)
    return try read(copy, at: path, declaration)
  }

  /// Opens a copy, verifies it, and returns its content.
  private func read(
    _ copy: CopyStep, at path: String, _ declaration: DatabaseDeclaration
  ) throws(EngineError) -> WorkerAnswer {
    var options = declaration.of(copy).options(createsMissing: false)
    // An open for writing would make the copy's name durable, which the copy itself must do.
    options.readOnly = true
    let written = try Database.open(path: path, options: options)
    defer { try? written.close() }
    return try verify(written)
  }

  private static func path(of copy: CopyStep, beside path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return copy.fileName }
    return path[...slash] + copy.fileName
  }

  private func verify(_ database: Database) throws(EngineError) -> WorkerAnswer {
    if let violation = try LiveCheck(database).damage() { return .broken(violation) }
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    return .done(
      version: snapshot.version.rawValue, contentHash: try snapshot.contentHash())
  }
}
