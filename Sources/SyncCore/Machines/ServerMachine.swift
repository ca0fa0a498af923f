// ServerMachine.swift: the server of a realm as a value: what comes in, what goes out.
// Invariants: nothing is acknowledged or sent before it is stored (I5); a changeset is taken when
// it follows its client's last one, so once (I6); what a client needs is not trimmed (I16).

/// What is stored of a client at the server.
public struct ClientRecord: Hashable, Sendable {
  /// Its number.
  public internal(set) var client: SyncClient
  /// What it has to say to be it.
  var secret: UInt64
  /// The nonce of the file that uploaded last, and the one that the next upload makes the last.
  var nonce: UInt64
  var offered: UInt64
  /// The hash over all its changesets as they were uploaded.
  var mark: UInt128 = 0
  /// No changeset that it will still upload has a lower base.
  public internal(set) var lowest: SyncVersion
  /// Whether the log need not be kept for it.
  public internal(set) var isExpired = false
}

/// What is stored of a server, as one transaction.
public struct ServerFile: Hashable, Sendable {
  /// The name of this history; a server that was restored from a copy has another one.
  public var epoch: UInt64
  /// The entries that are kept, and their state.
  public internal(set) var log = SyncMerger()
  /// All clients, by number from 1.
  public internal(set) var clients: [ClientRecord] = []

  /// A server without clients.
  public init(epoch: UInt64) { self.epoch = epoch }

  /// What no client's needs forbid to forget.
  public var trimmable: SyncVersion {
    clients.lazy.filter { !$0.isExpired }
      .map { log.needed(by: $0.client, base: $0.lowest) }
      .reduce(log.barrier, min)
  }
}

/// What happens to a server.
public enum ServerInput: Hashable, Sendable {
  /// Somebody connected; `random` and the two numbers behind it are such that nobody can
  /// guess, and that never come again.
  case opened(session: UInt64, random: UInt64)
  /// A connection is no more.
  case closed(session: UInt64)
  /// A client sent something.
  case message(session: UInt64, SyncMessage)
  /// The store that was asked for last is durable.
  case stored
  /// What no client needs is to be forgotten.
  case trim
  /// A client has not been seen for too long.
  case expire(SyncClient)
}

/// What a server wants done.
public enum ServerOutput: Hashable, Sendable {
  /// A message goes to a client.
  case send(session: UInt64, SyncMessage)
  /// This is to be made durable, as one transaction; then `stored` comes in.
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
    /// The last hello that it answered: one that comes again gets the same answer.
    var attempt: UInt8 = 0
    /// Whether that found the client's log to be a part of this one.
    var isPart = false
  }

  /// What is or will be stored.
  public internal(set) var file: ServerFile
  /// Classes that no client may write; a changeset that does is refused as a whole (I19).
  public let refusedTypes: Set<SyncText>
  var sessions: [UInt64: Session] = [:]
  var held = HeldOutputs<ServerOutput>()

  /// A server that begins with what is stored.
  public init(_ file: ServerFile, refusing types: Set<SyncText> = []) {
    self.file = file
    refusedTypes = types
  }

  /// Whether a store is under way.
  public var isStoring: Bool { held.isStoring }

  /// Takes an input.
  /// - Parameters:
  ///   - input: What happened.
  ///   - now: The wall clock in milliseconds since 1970.
  /// - Returns: What is to be done, in this order.
  /// - Complexity: O(sessions) for a changeset that is taken, and `SyncMerger.accept`.
  public mutating func step(_ input: ServerInput, at now: UInt64) -> [ServerOutput] {
    var outputs: [ServerOutput] = []
    switch input {
    case .opened(let session, let random): sessions[session] = Session(random: random)
    case .closed(let session): sessions[session] = nil
    case .message(let session, let message): receive(message, from: session, at: now)
    case .stored: outputs = held.stored()
    case .trim: trim()
    case .expire(let client): expire(client)
    }
    outputs += held.release { .store(file) }
    return outputs
  }

  private mutating func receive(_ message: SyncMessage, from session: UInt64, at now: UInt64) {
    guard let found = sessions[session] else { return }
    if case .hello(let hello) = message {
      greet(hello, from: session)
      return
    }
    guard let index = index(of: SyncClient(found.client)) else { return }
    switch message {
    case .upload(let changeset): upload(changeset, of: index, from: session, at: now)
    case .progress(let confirmed, let lowest, let asks):
      guard confirmed <= file.log.head else { return }
      file.clients[index].lowest = max(file.clients[index].lowest, min(lowest, file.log.head))
      let known = max(found.confirmed, confirmed.number)
      sessions[session]?.confirmed = known
      if asks { sessions[session]?.sent = known }
      sendEntries(to: session)
    default: break
    }
  }

  func index(of client: SyncClient) -> Int? {
    guard client.number > 0, client.number <= UInt64(file.clients.count) else { return nil }
    return Int(client.number - 1)
  }

  private mutating func upload(
    _ changeset: SyncChangeset, of index: Int, from session: UInt64, at now: UInt64
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
        stamped, user: client.number, refusal: refusal(of: changeset), barrierAtMost: goal)
    } catch {
      // Such as a base that is no more: the next hello gets a log.
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

  private func refusal(of changeset: SyncChangeset) -> UInt32? {
    guard !refusedTypes.isEmpty else { return nil }
    return changeset.operations.contains { refusedTypes.contains($0.object.type) } ? 1 : nil
  }

  /// Where the barrier may move to: nobody who is connected has to be stale.
  private var goal: SyncVersion {
    sessions.values.lazy.compactMap { self.index(of: SyncClient($0.client)) }
      .map { self.file.clients[$0].lowest }.reduce(file.log.head, min)
  }

  /// Sends what a client has not been sent, as far as it may be under way.
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
