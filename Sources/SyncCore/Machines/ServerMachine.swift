// ServerMachine.swift: the server of a realm as a value, with inputs and outputs. Invariants:
// nothing is acknowledged or sent before it is stored (I5); a changeset is accepted only if it
// follows its client's last one, so only once (I6); entries that a client needs are not trimmed
// (I16).

/// The stored state of a client at the server.
public struct ClientRecord: Hashable, Sendable {
  /// Its number.
  public internal(set) var client: SyncClient
  /// The secret that identifies it.
  package let secret: UInt64
  /// The nonce of the file that uploaded last, and the one that the next upload makes the last.
  package internal(set) var nonce: UInt64
  package internal(set) var offered: UInt64
  /// The hash over all its changesets as uploaded.
  package internal(set) var mark: UInt128 = 0
  /// No changeset that it will still upload has a lower base.
  public internal(set) var lowest: SyncVersion
  /// Whether the log no longer has to be kept for it.
  public internal(set) var isExpired = false

  /// A client as it is stored.
  package init(
    client: SyncClient, secret: UInt64, nonce: UInt64, offered: UInt64, mark: UInt128 = 0,
    lowest: SyncVersion, isExpired: Bool = false
  ) {
    self.client = client
    self.secret = secret
    self.nonce = nonce
    self.offered = offered
    self.mark = mark
    self.lowest = lowest
    self.isExpired = isExpired
  }
}

/// The stored state of a server, written in one transaction.
public struct ServerFile: Hashable, Sendable {
  /// The name of this history; a server that was restored from a copy has another one.
  public var epoch: UInt64
  /// The entries that are kept, and their state.
  public internal(set) var log = SyncMerger()
  /// All clients, by number from 1.
  public internal(set) var clients: [ClientRecord] = []

  /// A server without clients.
  public init(epoch: UInt64) { self.epoch = epoch }

  /// A server with its stored state.
  package init(epoch: UInt64, log: SyncMerger, clients: [ClientRecord]) {
    self.epoch = epoch
    self.log = log
    self.clients = clients
  }

  /// What no client's needs forbid to forget.
  public var trimmable: SyncVersion {
    clients.lazy.filter { !$0.isExpired }
      .map { log.needed(by: $0.client, base: $0.lowest) }
      .reduce(log.barrier, min)
  }
}

/// An input of a server.
public enum ServerInput: Hashable, Sendable {
  /// A client connected; `random` and the next two numbers are unpredictable and never repeated.
  case opened(session: UInt64, random: UInt64)
  /// A connection was closed.
  case closed(session: UInt64)
  /// A client sent something.
  case message(session: UInt64, SyncMessage)
  /// The last requested store is durable.
  case stored
  /// Remove entries that no client needs.
  case trim
  /// A client has not been seen for too long.
  case expire(SyncClient)
}

/// An output of a server, to be carried out by its driver.
public enum ServerOutput: Hashable, Sendable {
  /// Send a message to a client.
  case send(session: UInt64, SyncMessage)
  /// Make this durable, as one transaction; then send the input `stored`.
  case store(ServerFile)
  /// A connection is to be closed.
  case close(session: UInt64)
}

/// The server of a realm.
public struct ServerMachine: Hashable, Sendable {
  /// Bounds of a server.
  enum Limits {
    /// How far a stamp may be ahead of the server's clock, in milliseconds (I24).
    static let ahead: UInt64 = 2000
    /// Entries in a message, and entries under way to a client.
    static let message = 16
    static let underWay: UInt64 = 64
    /// Operations that clients keep although all that are connected have them.
    static let keptOperations = 256
  }

  struct Session: Hashable {
    var random: UInt64
    /// Its client's number; zero before the welcome.
    var client: UInt64 = 0
    /// The nonce that it was offered.
    var nonce: UInt64 = 0
    /// The last entry that was sent, and the last that the client has.
    var sent: UInt64 = 0
    var confirmed: UInt64 = 0
    /// The last hello that it answered: a repeated one gets the same response.
    var attempt: UInt8 = 0
    /// Whether the client's log was a part of this one then.
    var isPart = false
  }

  /// The current state, stored or about to be.
  public internal(set) var file: ServerFile
  /// Classes that no client may write; a changeset that does is refused as a whole (I19).
  public let refusedTypes: Set<SyncText>
  var sessions: [UInt64: Session] = [:]
  /// Clients that have not shown yet that they know their number, since this machine made it.
  var unconfirmed: Set<UInt64> = []
  var held = HeldOutputs<ServerOutput>()

  /// A server that starts from its stored state.
  public init(_ file: ServerFile, refusing types: Set<SyncText> = []) {
    self.file = file
    refusedTypes = types
  }

  /// Whether a store is under way.
  public var isStoring: Bool { held.isStoring }

  /// Takes an input.
  /// - Parameters:
  ///   - input: The event.
  ///   - now: The wall clock in milliseconds since 1970.
  /// - Returns: The outputs, in order.
  /// - Complexity: O(sessions) for a changeset that is taken, and `SyncMerger.accept`.
  public mutating func step(_ input: ServerInput, at now: UInt64) -> [ServerOutput] {
    step(input, at: now, refusal: nil)
  }

  /// Takes an input.
  /// - Parameters:
  ///   - input: The event.
  ///   - now: The wall clock in milliseconds since 1970.
  ///   - refusal: Why the changeset that is uploaded is to have no effect (I19); nil for none.
  ///   - offered: The newest version of a log that clients can get instead of one up to `head`.
  /// - Returns: The outputs, in order.
  package mutating func step(
    _ input: ServerInput, at now: UInt64, refusal: UInt32?, offering offered: SyncVersion? = nil
  ) -> [ServerOutput] {
    var outputs: [ServerOutput] = []
    switch input {
    case .opened(let session, let random): sessions[session] = Session(random: random)
    case .closed(let session): sessions[session] = nil
    case .message(let session, .hello(let hello)):
      if sessions[session] != nil { greet(hello, from: session, offering: offered) }
    case .message(let session, let message): receive(message, from: session, at: now, refusal)
    case .stored: outputs = held.stored()
    case .trim: trim()
    case .expire(let client): expire(client)
    }
    outputs += held.release { .store(file) }
    return outputs
  }

  private mutating func receive(
    _ message: SyncMessage, from session: UInt64, at now: UInt64, _ refusal: UInt32?
  ) {
    guard let found = sessions[session] else { return }
    guard let index = index(of: SyncClient(found.client)) else { return }
    switch message {
    case .upload(let changeset):
      unconfirmed.remove(found.client)
      upload(changeset, of: index, from: session, at: now, refusal)
    case .progress(let confirmed, let lowest, let asks):
      unconfirmed.remove(found.client)
      guard confirmed <= file.log.head else { return }
      file.clients[index].lowest = max(file.clients[index].lowest, min(lowest, file.log.head))
      let known = max(found.confirmed, confirmed.number)
      sessions[session]?.confirmed = known
      if asks { sessions[session]?.sent = known }
      moveBarrier()
      sendEntries(to: session)
    default: break
    }
  }

  func index(of client: SyncClient) -> Int? {
    guard client.number > 0, client.number <= UInt64(file.clients.count) else { return nil }
    return Int(client.number - 1)
  }

  private mutating func upload(
    _ changeset: SyncChangeset, of index: Int, from session: UInt64, at now: UInt64,
    _ refusal: UInt32?
  ) {
    let client = file.clients[index].client
    guard changeset.client == client else { return }
    let last = file.log.lastSequence(of: client)
    guard changeset.sequence > last else {
      held.append(.send(session: session, .received(last)))
      return
    }
    guard changeset.sequence == last + 1 else { return }
    let (limit, overflow) = now.addingReportingOverflow(Limits.ahead)
    let known = file.log.knownStamp(client: client, base: changeset.base)
    var stamped = changeset
    do {
      stamped.stamp =
        changeset.stamp.clamped(
          to: SyncStamp(milliseconds: overflow ? .max : limit), after: known) ?? .zero
      try file.log.accept(
        stamped, user: client.number, refusal: refusal ?? self.refusal(of: changeset),
        barrierAtMost: goal)
    } catch {
      // For example a base that was trimmed: the next hello gets a log.
      sessions[session] = nil
      held.append(.close(session: session))
      return
    }
    file.clients[index].mark = SyncHash.mark(file.clients[index].mark, changeset)
    file.clients[index].nonce = sessions[session]?.nonce ?? 0
    held.isDirty = true
    held.append(.send(session: session, .received(changeset.sequence)))
    for session in sessions.keys.sorted() { sendEntries(to: session) }
  }

  /// Moves the barrier behind entries of many operations that all connected clients have.
  ///
  /// The next upload would move it, too, but until then each client would keep these entries.
  private mutating func moveBarrier() {
    let (log, client) = (file.log, SyncClient.keeper)
    var count = 0
    for entry in log.entries(after: log.barrier.number, to: log.movedBarrier(to: goal).number) {
      count += entry.changeset.operations.count
    }
    guard count > Limits.keptOperations,
      let stamp = SyncStamp.next(now: 0, after: log.knownStamp(client: client, base: log.head))
    else { return }
    let changeset = SyncChangeset(
      client: client, sequence: log.lastSequence(of: client) + 1, base: log.head, stamp: stamp,
      operations: [])
    guard (try? file.log.accept(changeset, barrierAtMost: goal)) != nil else { return }
    held.isDirty = true
    for session in sessions.keys.sorted() { sendEntries(to: session) }
  }

  private func refusal(of changeset: SyncChangeset) -> UInt32? {
    guard !refusedTypes.isEmpty else { return nil }
    return changeset.operations.contains { refusedTypes.contains($0.object.type) } ? 1 : nil
  }

  /// Where the barrier may move to, so that no connected client becomes stale.
  private var goal: SyncVersion {
    sessions.values.lazy.compactMap { self.index(of: SyncClient($0.client)) }
      .map { self.file.clients[$0].lowest }.reduce(file.log.head, min)
  }

  /// Sends entries that a client has not been sent, as many as may be in flight.
  mutating func sendEntries(to number: UInt64) {
    guard var session = sessions[number], session.client > 0 else { return }
    session.sent = max(session.sent, session.confirmed)
    while session.sent < file.log.head.number, session.sent - session.confirmed < Limits.underWay {
      var entries: [SyncEntry] = []
      while entries.count < Limits.message,
        let entry = file.log[SyncVersion(session.sent + UInt64(entries.count) + 1)]
      {
        entries.append(entry)
      }
      guard !entries.isEmpty else { break }
      session.sent += UInt64(entries.count)
      held.append(.send(session: number, .entries(entries)))
    }
    sessions[number] = session
  }

  private mutating func trim() {
    let start = file.log.start
    file.log.trim(to: file.trimmable)
    if file.log.start != start { held.isDirty = true }
  }

  private mutating func expire(_ client: SyncClient) {
    guard let index = index(of: client), !file.clients[index].isExpired else { return }
    file.clients[index].isExpired = true
    held.isDirty = true
    for (session, found) in sessions.sorted(by: { $0.key < $1.key })
    where found.client == client.number {
      sessions[session] = nil
      held.append(.close(session: session))
    }
  }
}

// MARK: a server whose objects are stored elsewhere

extension ServerMachine {
  /// The connections at a moment.
  package struct Connections {
    fileprivate let sessions: [UInt64: Session]
    fileprivate let unconfirmed: Set<UInt64>
  }

  /// The connections now.
  package var connections: Connections {
    Connections(sessions: sessions, unconfirmed: unconfirmed)
  }

  /// The client of a connection; nil before its welcome.
  package func client(of session: UInt64) -> SyncClient? {
    guard let found = sessions[session], found.client > 0 else { return nil }
    return SyncClient(found.client)
  }

  /// The clients whose numbers go to those who come next: nobody has shown to know them, and nobody
  /// is connected with them.
  package var abandonedClients: Set<UInt64> { unconfirmed.subtracting(connectedClients) }

  /// The clients that are connected.
  package var connectedClients: Set<UInt64> { Set(sessions.values.lazy.map(\.client)) }

  /// Goes back to the stored state, with the connections that there were then.
  package mutating func goBack(to file: ServerFile, _ connections: Connections) {
    self.file = file
    sessions = connections.sessions
    unconfirmed = connections.unconfirmed
    held = HeldOutputs()
  }

  /// Adds objects that no kept entry touches, before a changeset that names them.
  package mutating func include(_ objects: [SyncObject: SyncNode]) { file.log.include(objects) }

  /// Forgets the content of objects that no kept entry names.
  package mutating func forget(keeping isKept: (SyncObject) -> Bool) {
    file.log.forget(keeping: isKept)
  }
}
