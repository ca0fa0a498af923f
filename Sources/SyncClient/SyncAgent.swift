// SyncAgent.swift: drives a client's machine on its file: input from the server is applied to the
// rows, in one transaction with the data kept beside them, and nothing is sent or reported before
// that is durable. Realms of any process see the result as one more version. Invariants: one agent
// per file at a time; between two calls the file is authoritative, since writers in any process add
// changesets to it.

import Engine
import ObjectDatabase
import SyncCore

/// Synchronizes one file.
package final class SyncAgent {
  /// The parts of a log that the server sends when it is asked once.
  package static let partsAsked: UInt64 = 8

  private let file: RealmFile
  private let now: SyncedFile.Clock
  private let lock: AgentLock?
  private var machine: ClientMachine
  /// The error that ended the agent: its machine is ahead of the file since then.
  private var failure: EngineError?
  /// What it knows of the file, besides what the machine has; nil before the first step, and after
  /// one that replaced much of it.
  private var stored: StoredClient?
  /// The version of that: while it is the newest, nobody has added a changeset.
  private var known: Version?
  /// Bytes of the parts of one log that are stored; smaller for tests.
  package var logBytesMax = SyncLimits.messageBytesMax

  /// The welcome of this connection whose log comes in parts, and the part before which it has
  /// asked for all.
  private var offer: (welcome: SyncWelcome, log: UInt128, askedUntil: UInt64)?

  /// Makes the agent of a file that is synchronized.
  /// - Parameters:
  ///   - configuration: How the file is opened.
  ///   - now: The wall clock in milliseconds since 1970.
  /// - Throws: `Realm.Error`, or `EngineError`, with code `.locked` while the file has an agent.
  package init(_ configuration: Realm.Configuration, now: @escaping SyncedFile.Clock) throws {
    file = try RealmFile(configuration)
    self.now = now
    // A file of the lab's storage has no path under which another process could find it.
    let path = configuration.engineOpener == nil ? file.path : nil
    lock = try path.map { path throws(EngineError) in try AgentLock(of: path) }
    let write = try file.database.beginWrite()
    defer { write.cancel() }
    machine = ClientMachine(try StoredClient.read(write, for: nil).file)
  }

  /// Takes an input.
  /// - Parameter input: The event, except commits and stores, which are read from the file; nil
  ///   after a transaction was committed.
  /// - Returns: What to send, to report to the app, or to close; everything it depends on is
  ///   durable.
  /// - Throws: `EngineError`; the agent is unusable then, and a new one continues with the file.
  /// - Complexity: O(1) for nil when nothing was committed; else O(what has come since), and for
  ///   entries of others O(kept entries and pending changesets), for a welcome O(bytes kept).
  ///
  /// Durability: when the call returns, the input survives any crash.
  package func step(_ input: ClientInput?) throws(EngineError) -> [ClientOutput] {
    if let failure { throw failure }
    do throws(EngineError) { return try take(input) } catch {
      failure = error
      throw error
    }
  }

  private func take(_ input: ClientInput?) throws(EngineError) -> [ClientOutput] {
    switch input {
    case .message(.welcome(let welcome)):
      guard let log = welcome.offered else { return try takeWhole(input) }
      return try take(welcome, offering: log)
    case .message(.part(let part)): return try take(part)
    case .connected, .closed: offer = nil
    default: break
    }
    return try takeWhole(input)
  }

  // MARK: a log in parts

  private func take(
    _ welcome: SyncWelcome, offering log: UInt128
  ) throws(EngineError) -> [ClientOutput] {
    guard machine.isGreeting else { return [] }
    let outputs = try takeWhole(.message(.welcome(welcome)))
    offer = (welcome, log, 0)
    return outputs + [ask(from: try SyncStage.count(of: log, try file.database.snapshot()), log)]
  }

  private func ask(from index: UInt64, _ log: UInt128) -> ClientOutput {
    offer?.askedUntil = index + SyncAgent.partsAsked
    return .send(.wants(log: log, from: index))
  }

  /// Stores the next part, in a transaction of its own; the last one puts the log in its place.
  private func take(_ part: SyncLogPart) throws(EngineError) -> [ClientOutput] {
    guard machine.isGreeting, let offer, offer.log == part.log else { return [] }
    let snapshot = try file.database.snapshot()
    guard try SyncStage.count(of: part.log, snapshot) == part.index else { return [] }
    // A server that never ends would fill the disk.
    guard try SyncStage.hasRoom(for: part, upTo: logBytesMax, snapshot) else {
      return try refuse(SyncError(.malformed, "a log of more bytes than a message may have"))
    }
    guard part.isLast else {
      let write = try file.database.beginWrite()
      defer { write.cancel() }
      try SyncStage.add(part, write)
      // Before: the parts before this one. After: this one, too; nobody sees any of them.
      try write.commit()
      return part.index + 1 < offer.askedUntil ? [] : [ask(from: part.index + 1, part.log)]
    }
    var welcome = offer.welcome
    welcome.offered = nil
    self.offer = nil
    let bytes = try SyncStage.bytes(of: part.log, snapshot) + part.bytes
    do throws(SyncError) {
      // Read before the transaction begins, so that writers do not wait for it.
      let log = try SyncMerger(decodingLog: bytes)
      guard log.name(epoch: welcome.epoch) == part.log else {
        throw SyncError(.malformed, "a log of another name")
      }
      welcome.log = log
    } catch {
      return try refuse(error)
    }
    let outputs = try takeWhole(.message(.welcome(welcome)))
    guard machine.isLive else { return outputs }
    // Entries that came before the last part were dropped.
    let file = machine.file
    return outputs + [
      .send(.progress(confirmed: file.log.head, lowest: file.lowest, asks: true))
    ]
  }

  /// Forgets the parts of a log that is no log.
  private func refuse(_ error: SyncError) throws(EngineError) -> [ClientOutput] {
    let write = try file.database.beginWrite()
    defer { write.cancel() }
    try SyncStage.remove(write)
    try write.commit()
    return [.tell(.diverged(error)), .close]
  }

  // MARK: an input

  private func takeWhole(_ input: ClientInput?) throws(EngineError) -> [ClientOutput] {
    if input == nil, known == file.database.version { return [] }
    let write = try file.database.beginWrite()
    defer { write.cancel() }
    var message: SyncMessage?
    if case .message(let received)? = input { message = received }
    // One that offers a log changes no row.
    if case .welcome(let welcome)? = message, welcome.offered != nil { message = nil }
    let isWelcome = if case .welcome? = message { true } else { false }
    try read(write, for: message)
    let old = EarlierClient(machine.file, isWelcome: isWelcome, isWhole: mayShow(message))
    let outputs = if let input { machine.step(input, at: now()) } else { machine.goOn() }
    known = file.database.version
    guard case .store(let new)? = outputs.first else { return outputs }
    try stored?.store(new, over: old, write)
    if isWelcome { try SyncStage.remove(write) }
    known = try write.commit()
    if isWelcome || new.needsLog || stored?.isOvergrown ?? false {
      stored = nil
    } else {
      machine.trim()
    }
    return machine.step(.stored, at: now())
  }

  /// Reads what has come to the file, and what a message needs.
  private func read(
    _ write: WriteTransaction, for message: SyncMessage?
  ) throws(EngineError) {
    var isKnown = stored != nil
    if case .welcome? = message { isKnown = false }
    // Nobody else writes until the end of the transaction.
    if isKnown, known != file.database.version {
      isKnown = try stored?.readNew(write, for: &machine) ?? false
    }
    if !isKnown {
      let (stored, file) = try StoredClient.read(write, for: message)
      machine.restart(from: file)
      self.stored = stored
    }
    if case .entries(let entries)? = message, machine.isLive {
      try stored?.readObjects(of: entries, write, for: &machine)
    }
  }

  /// Whether a message may change what the app sees.
  ///
  /// The client's own next changesets are what it sees already, when they have come to the log as
  /// they are.
  private func mayShow(_ message: SyncMessage?) -> Bool {
    switch message {
    case .entries(let entries):
      let new = entries.drop { $0.version <= machine.file.log.head }
      let pending = machine.file.pending
      return new.count > pending.count
        || !zip(new, pending).allSatisfy {
          $0.changeset == $1 && $0.refusal == nil && !$0.isStale
        }
    case .welcome: return true
    default: return false
    }
  }
}

extension SyncAgent {
  /// Whether it has been welcomed on this connection: for tests and the lab.
  package var isLive: Bool { machine.isLive }

  /// Where the file is: for tests and the lab.
  package func progress() throws(EngineError) -> (
    client: SyncClient, epoch: UInt64, confirmed: SyncVersion
  ) {
    let identity = try SyncIdentity(try file.database.snapshot())
    return (identity.client, identity.epoch, identity.confirmed)
  }

  /// A description of an error in the file; nil when there is none.
  ///
  /// For tests and the lab. The rows of all objects that kept entries and pending changesets refer
  /// or link to have the state that the app should see (I8), and what the agent knows is what it
  /// would read.
  package func breach() throws(EngineError) -> String? {
    let write = try file.database.beginWrite()
    defer { write.cancel() }
    let (stored, file) = try StoredClient.read(write, for: nil)
    if known == self.file.database.version, self.stored != nil, let breach = breach(file, stored) {
      return breach
    }
    let reader = RowReader(source: write, classes: stored.classes)
    let visible = file.visible
    for object in stored.named.sorted() {
      let node = try reader.node(of: object)
      guard node != visible.objects[object] else { continue }
      guard let node, let wanted = visible.objects[object] else {
        return "\(object.type) \(object.key) is \(node == nil ? "not " : "")there"
      }
      let names = Set(node.fields.keys).union(wanted.fields.keys).sorted()
      guard let name = names.first(where: { node[$0] != wanted[$0] }) else { continue }
      return "\(name) of \(object.type) \(object.key) is \(node[name]), and is to be "
        + "\(wanted[name])"
    }
    return nil
  }

  /// How what it knows differs from what it would read now.
  private func breach(_ file: ClientFile, _ stored: StoredClient) -> String? {
    let own = machine.file
    guard own.pending == file.pending, own.client == file.client, own.mark == file.mark else {
      return "the agent knows \(own.pending.count) pending changesets, not \(file.pending.count)"
    }
    guard own.log.head == file.log.head, own.log.start == file.log.start,
      own.log.chain(at: own.log.head) == file.log.chain(at: file.log.head),
      own.log.barrier == file.log.barrier
    else { return "the agent knows another log, up to \(own.log.head.number)" }
    let (visible, wanted) = (own.visible, file.visible)
    for object in stored.named.sorted() {
      guard own.log.state.objects[object] == file.log.state.objects[object],
        own.log.startState.objects[object] == file.log.startState.objects[object],
        visible.objects[object] == wanted.objects[object]
      else { return "the agent knows \(object.type) \(object.key) as another" }
    }
    return nil
  }
}
