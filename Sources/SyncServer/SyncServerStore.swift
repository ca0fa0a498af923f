// SyncServerStore.swift: drives the server's machine on a file of the engine: log, objects and
// clients of one realm. Invariants: what leaves `step` is durable (I5); an entry, its effect on the
// rows, and the client's progress are one transaction (I6, I11); the rows are the state of the
// newest entry; an upload that cannot be stored is refused as a whole and takes nothing else with
// it (I19).

import Engine
import ObjectDatabase
import SyncClient
import SyncCore

/// What a server sends, after it is durable.
package enum ServerReply: Sendable {
  /// A message to a client.
  case send(session: UInt64, SyncMessage)
  /// Parts of a log, to be made by `SyncBootstrap.messages`, from this one on.
  case bootstrap(session: UInt64, SyncBootstrap, from: UInt64)
  /// A connection is to be closed.
  case close(session: UInt64)
}

/// The server of one realm.
package final class SyncServerStore {
  /// A server's own check of a changeset: a number from `SyncRefusal.firstOfServer` refuses it.
  package typealias Validation = @Sendable (SyncChangeset) -> UInt32?

  /// Bounds of a server.
  package struct Limits: Sendable {
    /// Bytes of kept entries, beyond which clients that need old ones expire.
    package var logBytesMax = 64 << 20
    /// Entries that nobody needs, below which they are not worth a trim.
    package var trimmedMin = 64
    /// Attempts after an upload that could not be stored, for which the server keeps a copy of what
    /// it has in memory.
    package var copiedAttempts = 1000
    /// Bytes of entries in a message, unless a single one has more, and of a part of a log; at
    /// most `SyncLimits.storedBytesMax`.
    package var messageBytesMax = SyncLimits.storedBytesMax
    /// How long a log is offered after a client has last asked for a part of it.
    package var offeredMilliseconds: UInt64 = 600_000

    /// The usual ones.
    package init() {}
  }

  let database: Database
  let limits: Limits
  private let validation: Validation?
  private let lock: AgentLock?
  /// Keeps a file in memory open.
  private let file: RealmFile?
  private(set) var machine: ServerMachine
  private var identity: ServerIdentity
  private var classes: FileClasses
  private var seen: [UInt64]
  private var loaded: Set<SyncObject>
  private var touches: [SyncObject: UInt64]
  private var sizes: [Int]
  private var keptBytes: Int
  /// The clients whose records differ from their rows.
  private var changed: Set<UInt64> = []
  /// The error that ended the server: its machine is ahead of the file since then.
  private var failure: EngineError?
  /// Attempts that are still to be made on a copy.
  private var copiesLeft = 0
  /// The log that is offered to those who need one, and when it was last asked for.
  private var offer: (log: SyncBootstrap, used: UInt64)?
  /// How often the kept log was read again because an upload could not be stored.
  package private(set) var rereadCount = 0

  /// Opens the server's file of a realm.
  /// - Parameters:
  ///   - configuration: How the file is opened.
  ///   - limits: Its bounds.
  ///   - validation: A check of every uploaded changeset.
  /// - Throws: `Realm.Error`, or `EngineError`, with code `.locked` while another server has it.
  package convenience init(
    _ configuration: Realm.Configuration, limits: Limits = Limits(), validation: Validation? = nil
  ) throws {
    let file = try RealmFile(configuration)
    let lock = try file.path.map { path throws(EngineError) in try AgentLock(of: path) }
    try self.init(file.database, limits: limits, validation: validation, lock: lock, file: file)
  }

  /// The same for a database that nobody else has open.
  package init(
    _ database: Database, limits: Limits = Limits(), validation: Validation? = nil,
    lock: AgentLock? = nil, file: RealmFile? = nil
  ) throws(EngineError) {
    self.database = database
    self.limits = limits
    self.validation = validation
    self.lock = lock
    self.file = file
    let snapshot = try database.snapshot()
    let stored = try StoredLog(snapshot)
    guard !stored.identity.isBackup else {
      throw EngineError(
        code: .schemaMismatch,
        message: "the file is a backup of realm \(stored.identity.realm); restore it, so that it "
          + "gets another epoch")
    }
    identity = stored.identity
    classes = try FileClasses(snapshot)
    machine = ServerMachine(stored.file)
    seen = stored.seen
    loaded = stored.loaded
    touches = stored.touches
    sizes = stored.sizes
    keptBytes = stored.sizes.reduce(0, +)
  }

  /// The realm's name.
  package var realm: String { identity.realm }
  /// The newest version.
  package var head: SyncVersion { machine.file.log.head }
  /// How much it keeps in memory: entries, their bytes, and objects.
  package var keptCounts: (entries: Int, bytes: Int, objects: Int) {
    (sizes.count, keptBytes, machine.file.log.state.objects.count)
  }

  /// Takes inputs, in one transaction.
  /// - Parameters:
  ///   - inputs: The events, except `stored`.
  ///   - now: The wall clock in milliseconds since 1970.
  /// - Returns: What to send and to close, in order.
  /// - Throws: `EngineError`; the server is unusable then, and a new one continues with the file.
  ///
  /// Durability: when the call returns, everything that the replies depend on survives any crash.
  package func step(
    _ inputs: [ServerInput], at now: UInt64
  ) throws(EngineError) -> [ServerReply] {
    if let failure { throw failure }
    do throws(EngineError) {
      guard let replies = try attempt(inputs, at: now) else {
        return try stepSingly(inputs, at: now)
      }
      return replies
    } catch {
      failure = error
      throw error
    }
  }

  /// Takes inputs among which is an upload that cannot be stored.
  private func stepSingly(
    _ inputs: [ServerInput], at now: UInt64
  ) throws(EngineError) -> [ServerReply] {
    var replies: [ServerReply] = []
    for input in inputs {
      if let done = try attempt([input], at: now) {
        replies += done
      } else if let done = try attempt([input], at: now, refusal: .notStorable) {
        replies += done
      } else {
        throw EngineError(code: .corrupted, message: "an upload without effect cannot be stored")
      }
    }
    return replies
  }

  /// Takes inputs.
  /// - Returns: Nil when an upload cannot be stored; nothing has changed then.
  private func attempt(
    _ inputs: [ServerInput], at now: UInt64, refusal: SyncRefusal? = nil
  ) throws(EngineError) -> [ServerReply]? {
    let connections = machine.connections
    // A copy makes the attempt slower: only while uploads that cannot be stored are to be expected.
    let copy = copiesLeft > 0 ? memory : nil
    copiesLeft = max(0, copiesLeft - 1)
    var batch = ServerBatch(database)
    defer { batch.cancel() }
    do throws(EngineError) {
      for input in inputs { try take(input, at: now, refusal, &batch) }
      if let input = try trimInput() { try take(input, at: now, nil, &batch) }
    } catch {
      guard Self.isOfContent(error) else { throw error }
      batch.cancel()
      if let copy { memory = copy } else { try goBack(connections) }
      copiesLeft = limits.copiedAttempts
      return nil
    }
    guard batch.isDirty else { return try replies(batch, at: now) }
    let write = try batch.begun(classes)
    try batch.applier?.finish()
    for number in changed.sorted() where number <= UInt64(machine.file.clients.count) {
      let record = machine.file.clients[Int(number) - 1]
      try RecordRows.store(record, seen: lastSeen(number), write)
    }
    // Before: none of these entries. After: all of them, with their effects.
    try write.commit()
    changed = []
    // The transaction has everything that the machine has, whatever it held back.
    while batch.isDirty {
      batch.isDirty = false
      batch.take(machine.step(.stored, at: now))
    }
    return try replies(batch, at: now)
  }

  /// Whether an error is about what was to be written, not about the file.
  private static func isOfContent(_ error: EngineError) -> Bool {
    switch error.code {
    case .schemaMismatch, .valueTooLarge, .indexOutOfRange, .duplicateValue, .limit, .noSuchColumn,
      .noSuchTable, .keyExists, .keyNotFound:
      true
    default: false
    }
  }

  private func lastSeen(_ number: UInt64) -> UInt64 {
    number <= UInt64(seen.count) ? seen[Int(number) - 1] : 0
  }

  /// What an attempt changes, besides the file.
  private struct Memory {
    let machine: ServerMachine
    let identity: ServerIdentity
    let seen: [UInt64]
    let loaded: Set<SyncObject>
    let touches: [SyncObject: UInt64]
    let sizes: [Int]
    let keptBytes: Int
    let changed: Set<UInt64>
  }

  private var memory: Memory {
    get {
      Memory(
        machine: machine, identity: identity, seen: seen, loaded: loaded, touches: touches,
        sizes: sizes, keptBytes: keptBytes, changed: changed)
    }
    set {
      (machine, identity) = (newValue.machine, newValue.identity)
      (seen, loaded) = (newValue.seen, newValue.loaded)
      (touches, sizes, keptBytes) = (newValue.touches, newValue.sizes, newValue.keptBytes)
      changed = newValue.changed
    }
  }

  /// Goes back to what the file has.
  private func goBack(_ connections: ServerMachine.Connections) throws(EngineError) {
    rereadCount += 1
    let stored = try StoredLog(try database.snapshot())
    identity = stored.identity
    machine.goBack(to: stored.file, connections)
    seen = stored.seen
    loaded = stored.loaded
    touches = stored.touches
    sizes = stored.sizes
    keptBytes = stored.sizes.reduce(0, +)
    // What progress was reported meanwhile is not stored; the clients report it again.
    changed = []
  }

  // MARK: one input

  private func take(
    _ input: ServerInput, at now: UInt64, _ given: SyncRefusal?, _ batch: inout ServerBatch
  ) throws(EngineError) {
    var refusal = given?.rawValue
    if case .message(let session, .upload(let changeset)) = input {
      if let client = machine.client(of: session), changeset.client == client,
        changeset.sequence == machine.file.log.lastSequence(of: client) + 1
      {
        refusal =
          refusal ?? SchemaCheck.refusal(of: changeset, classes)?.rawValue
          ?? validation?(changeset)
        if refusal == nil { try load(changeset, try batch.begun(classes)) }
      }
    }
    if case .message(let session, .wants(let name, let index)) = input {
      guard machine.client(of: session) != nil, let found = offer?.log, found.name == name else {
        return
      }
      offer?.used = now
      batch.wanted.append((session, found, index))
    }
    if let offer, offer.used < now, now - offer.used > limits.offeredMilliseconds {
      self.offer = nil
    }
    let (head, start) = (machine.file.log.head, machine.file.log.start)
    batch.take(machine.step(input, at: now, refusal: refusal, offering: offer?.log.head))
    note(input, at: now)
    for version in head.number..<machine.file.log.head.number {
      guard let entry = machine.file.log[SyncVersion(version + 1)] else { continue }
      try append(entry, &batch)
    }
    if machine.file.log.start != start { try didTrim(from: start, try batch.begun(classes)) }
  }

  /// Notes which clients' records may have changed.
  private func note(_ input: ServerInput, at now: UInt64) {
    switch input {
    case .message(let session, let message):
      guard let client = machine.client(of: session) else { return }
      changed.insert(client.number)
      guard case .hello = message else { return }
      while UInt64(seen.count) < client.number { seen.append(0) }
      seen[Int(client.number) - 1] = now
    case .expire(let client): changed.insert(client.number)
    case .opened, .closed, .stored, .trim: return
    }
  }

  /// Adds the objects that a changeset names to those in memory.
  private func load(
    _ changeset: SyncChangeset, _ write: WriteTransaction
  ) throws(EngineError) {
    let reader = RowReader(source: write, classes: classes)
    var named = NamedObjects()
    named.add(changeset.operations)
    try named.addLinkers(reader)
    var found: [SyncObject: SyncNode] = [:]
    for object in named.all where !loaded.contains(object) {
      loaded.insert(object)
      guard let (key, described) = try reader.row(of: object) else { continue }
      found[object] = try reader.node(of: object, key, described)
    }
    machine.include(found)
  }

  /// Stores an entry with its effect.
  private func append(
    _ entry: SyncEntry, _ batch: inout ServerBatch
  ) throws(EngineError) {
    let write = try batch.begun(classes)
    for object in StoredLog.touched(by: entry).sorted() {
      if touches[object] == nil {
        // No kept entry has touched it, so it is as at the start.
        if let node = machine.file.log.startState.objects[object] {
          try BaseRows.add(object, try BaseRows.bytes(object, node), write)
        }
      }
      touches[object] = entry.version.number
    }
    for operation in entry.effect { try batch.applier?.apply(operation.operation) }
    let bytes = entry.encoded()
    try PartRows.window.append([bytes], number: entry.version.number, write)
    sizes.append(bytes.count)
    keptBytes += bytes.count
  }

  // MARK: trim

  /// A trim, when there is enough that nobody needs.
  private func trimInput() throws(EngineError) -> ServerInput? {
    guard sizes.count >= limits.trimmedMin else { return nil }
    let file = machine.file
    let count = file.trimmable.number - file.log.start.number
    guard count >= UInt64(limits.trimmedMin), count * 2 >= UInt64(sizes.count) else { return nil }
    return .trim
  }

  /// Stores that the log begins later.
  private func didTrim(
    from old: SyncVersion, _ write: WriteTransaction
  ) throws(EngineError) {
    let log = machine.file.log
    let count = Int(log.start.number - old.number)
    keptBytes -= sizes[..<count].reduce(0, +)
    sizes.removeFirst(count)
    touches = touches.filter { $0.value > log.start.number }
    try PartRows.window.remove(write) { $0 <= log.start.number }
    var wanted: [SyncObject: [UInt8]] = [:]
    for object in touches.keys {
      guard let node = log.startState.objects[object] else { continue }
      wanted[object] = try BaseRows.bytes(object, node)
    }
    try BaseRows.store(wanted, over: try BaseRows.all(write), write)
    identity.start = log.startInWords
    try AuthorRows.store(identity.start.authors, over: try AuthorRows.all(write), write)
    identity.start.authors = []
    try identity.store(in: write)
    // What clients are known to have is what was trimmed by.
    changed.formUnion(machine.connectedClients.filter { $0 > 0 })
    var named = NamedObjects()
    for entry in log.entries { named.add(entry) }
    let kept = named.all
    machine.forget { kept.contains($0) }
    loaded = kept
  }

  /// Expires clients, and trims.
  /// - Parameters:
  ///   - now: The wall clock in milliseconds since 1970.
  ///   - unseen: A client that was not connected for longer than this expires.
  /// - Returns: As `step`.
  /// - Throws: As `step`.
  ///
  /// Clients that need more than `Limits.logBytesMax` of the log expire, too: they get a new log,
  /// and keep their pending changesets.
  package func maintain(
    at now: UInt64, expiring unseen: UInt64 = 30 * 86_400_000
  ) throws(EngineError) -> [ServerReply] {
    let file = machine.file
    let connected = machine.connectedClients
    var goal = file.log.start.number
    if keptBytes > limits.logBytesMax {
      var (rest, index) = (keptBytes, 0)
      while rest > limits.logBytesMax / 2, index < sizes.count {
        rest -= sizes[index]
        index += 1
      }
      goal += UInt64(index)
    }
    var inputs: [ServerInput] = []
    for record in file.clients where !record.isExpired {
      let number = record.client.number
      let isAway =
        !connected.contains(number) && now > lastSeen(number) && now - lastSeen(number) > unseen
      let isInTheWay =
        goal > file.log.start.number
        && file.log.needed(by: record.client, base: record.lowest).number < goal
      if isAway || isInTheWay { inputs.append(.expire(record.client)) }
    }
    return try step(inputs + [.trim], at: now)
  }

  // MARK: replies

  private func replies(
    _ batch: ServerBatch, at now: UInt64
  ) throws(EngineError) -> [ServerReply] {
    var replies: [ServerReply] = []
    for output in batch.outputs {
      switch output {
      case .send(let session, .welcome(var welcome)) where welcome.log != nil:
        welcome.log = nil
        welcome.offered = try offered(to: welcome.client, at: now).name
        replies.append(.send(session: session, .welcome(welcome)))
      case .send(let session, let message):
        replies += message.inParts(bytesMax: limits.messageBytesMax)
          .map { .send(session: session, $0) }
      case .close(let session): replies.append(.close(session: session))
      case .store: continue
      }
    }
    return replies + batch.wanted.map { .bootstrap(session: $0.session, $0.log, from: $0.index) }
  }

  /// The log for a client: the offered one while it continues from there, or a new one.
  private func offered(to client: SyncClient, at now: UInt64) throws(EngineError) -> SyncBootstrap {
    if let log = offer?.log, machine.canOffer(log.head, to: client) { return log }
    // The rows are those of the newest version, and so has to be the log; the client ignores
    // entries that it has by then.
    let log = SyncBootstrap(
      machine.file.log.trimmedToBarrier(), loaded, try database.snapshot(),
      epoch: machine.file.epoch,
      partBytesMax: max(1, min(limits.messageBytesMax, SyncLimits.storedBytesMax)))
    offer = (log, now)
    return log
  }
}

/// The outputs of some inputs, and the transaction that they need.
struct ServerBatch {
  private let database: Database
  private var write: WriteTransaction?
  /// Applies effects to its rows.
  var applier: RowApplier?
  private(set) var outputs: [ServerOutput] = []
  /// The sessions that want parts of a log, and from which one on.
  var wanted: [(session: UInt64, log: SyncBootstrap, index: UInt64)] = []
  /// Whether something is to be stored.
  var isDirty = false

  init(_ database: Database) { self.database = database }

  /// The transaction; begun when it is needed first.
  mutating func begun(_ classes: FileClasses) throws(EngineError) -> WriteTransaction {
    if let write { return write }
    let write = try database.beginWrite()
    self.write = write
    applier = RowApplier(RowReader(source: write, classes: classes))
    return write
  }

  /// Takes a machine's outputs; what is to be stored is in the machine.
  mutating func take(_ new: [ServerOutput]) {
    for output in new {
      if case .store = output { isDirty = true } else { outputs.append(output) }
    }
  }

  /// Drops the transaction unless it was committed.
  mutating func cancel() {
    write?.cancel()
    write = nil
  }
}
