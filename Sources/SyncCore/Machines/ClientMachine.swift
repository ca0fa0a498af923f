// ClientMachine.swift: a client of a realm as a value: what comes in, what goes out, and nothing
// else. It has no clock, no file and no network; who drives it has them.
// Invariants: nothing is sent or told before what it rests on is stored; a changeset stays pending
// until its entry is here, in the same store (I7, I8); entries are taken in order (I9).

/// What happens to a client.
public enum ClientInput: Hashable, Sendable {
  /// The app commits a transaction.
  case commit([SyncOperation])
  /// There is a connection to the server.
  case connected
  /// The connection is no more.
  case closed
  /// The server sent something.
  case message(SyncMessage)
  /// The store that was asked for last is durable. A store that fails ends the machine: make
  /// another one of what is on the disk.
  case stored
  /// Time has passed without an answer: what may have been lost is sent again.
  case tick
}

/// What a client tells its app.
public enum ClientNews: Hashable, Sendable {
  /// A transaction is durable.
  case committed(SyncChangeset)
  /// A transaction is in the server's order: what it came to, what it lost, why it was refused.
  case confirmed(SyncEntry)
  /// A transaction was already in the log that replaced the client's.
  case contained(SyncChangeset)
  /// A pending transaction was made anew on another version, with what it lost thereby.
  case rebased(from: SyncChangeset, to: SyncChangeset, overruled: [SyncOverruling])
  /// The server has lost entries that it had before (I20).
  case serverWentBack(confirmed: SyncVersion)
  /// The file is a copy of another one or an older state of itself: the client has a new number
  /// (I21).
  case renamed(from: SyncClient, to: SyncClient)
  /// An entry of the server did not fit: the log is asked for anew (I2).
  case diverged(SyncError)
}

/// What a client wants done.
public enum ClientOutput: Hashable, Sendable {
  /// A message goes to the server.
  case send(SyncMessage)
  /// This is to be made durable, as one transaction; then `stored` comes in.
  case store(ClientFile)
  /// The app learns of something.
  case tell(ClientNews)
  /// The connection is to be closed.
  case close
}

/// A client of a realm.
public struct ClientMachine: Hashable, Sendable {
  /// Bounds of a client.
  enum Limits {
    /// Changesets that are under way without an answer.
    static let uploads: UInt64 = 8
    /// Entries that are kept although nothing needs them.
    static let entries = 64
  }

  enum Phase: Hashable { case offline, greeting, live }

  /// What is or will be stored.
  public internal(set) var file: ClientFile
  var phase = Phase.offline
  /// Whether this connection has shown that its file is a copy.
  var asksForNumber = false
  /// The last changeset that was sent in this connection, and the last that the server has.
  var sent: UInt64 = 0
  var received: UInt64 = 0
  var held = HeldOutputs<ClientOutput>()

  /// A client that begins with what is stored.
  public init(_ file: ClientFile) { self.file = file }

  /// Whether a store is under way.
  public var isStoring: Bool { held.isStoring }
  /// Whether it has been welcomed on this connection.
  public var isLive: Bool { phase == .live }

  /// Takes an input.
  /// - Parameters:
  ///   - input: What happened.
  ///   - now: The wall clock in milliseconds since 1970; it may be wrong or go back.
  /// - Returns: What is to be done, in this order.
  /// - Complexity: O(1) for messages without entries; an entry as `SyncMerger.take`.
  public mutating func step(_ input: ClientInput, at now: UInt64) -> [ClientOutput] {
    var outputs: [ClientOutput] = []
    switch input {
    case .commit(let operations): commit(operations, at: now)
    case .connected:
      close()
      phase = .greeting
      greet()
    case .closed: close()
    case .message(let message): receive(message)
    case .stored: outputs = held.stored()
    case .tick: tick()
    }
    outputs += held.release { .store(file) }
    return outputs
  }

  /// Takes an input, on what is stored: somebody else may have added changesets to it.
  /// - Parameters:
  ///   - input: What happened; nil for changesets that were added.
  ///   - stored: What is stored, but for what this machine knows not to be.
  ///   - now: The wall clock, as for `step`.
  /// - Returns: What is to be done, in this order.
  package mutating func step(
    _ input: ClientInput?, on stored: ClientFile, at now: UInt64
  ) -> [ClientOutput] {
    precondition(!isStoring, "a store is under way")
    file = stored
    if let input { return step(input, at: now) }
    upload()
    return held.release { .store(file) }
  }

  private mutating func commit(_ operations: [SyncOperation], at now: UInt64) {
    let base = file.log.head
    let known = max(file.stamp, file.log.knownStamp(client: file.client, base: base))
    guard let stamp = SyncStamp.next(now: now, after: known) else { return }
    let changeset = SyncChangeset(
      client: file.client, sequence: file.nextSequence, base: base, stamp: stamp,
      operations: operations)
    file.pending.append(changeset)
    file.stamp = stamp
    held.isDirty = true
    held.append(.tell(.committed(changeset)))
    upload()
  }

  /// Forgets the connection, and what was to be said in it.
  private mutating func close() {
    phase = .offline
    asksForNumber = false
    held.removeAll {
      if case .tell = $0 { false } else { true }
    }
  }

  mutating func greet() {
    let isNamed = file.client != ClientFile.unnamed && !asksForNumber
    held.append(
      .send(
        .hello(
          SyncHello(
            attempt: asksForNumber ? 2 : 1, client: isNamed ? file.client : nil,
            secret: file.secret, nonce: file.nonce,
            epoch: file.epoch, confirmed: file.log.head,
            chain: file.log.chain(at: file.log.head) ?? 0, lowest: file.lowest,
            needsLog: file.needsLog))))
  }

  private mutating func receive(_ message: SyncMessage) {
    switch (message, phase) {
    case (.welcome(let welcome), .greeting): enter(welcome)
    case (.entries(let entries), .live): take(entries)
    case (.received(let sequence), .live):
      received = max(received, min(sequence, file.nextSequence - 1))
      upload()
    default: break
    }
  }

  /// Sends pending changesets that were not sent yet, as many as may be under way.
  mutating func upload() {
    guard phase == .live else { return }
    sent = max(sent, received)
    for changeset in file.pending
    where changeset.sequence > sent && changeset.sequence - received <= Limits.uploads {
      held.append(.send(.upload(changeset)))
      sent = changeset.sequence
    }
  }

  private mutating func tick() {
    switch phase {
    case .offline: return
    case .greeting: greet()
    case .live:
      sent = received
      upload()
      sendProgress(asks: true)
    }
  }

  private mutating func sendProgress(asks: Bool) {
    held.append(
      .send(.progress(confirmed: file.log.head, lowest: file.lowest, asks: asks)))
  }

  private mutating func take(_ entries: [SyncEntry]) {
    guard !file.needsLog else { return }
    let before = file.log.head
    for entry in entries where entry.version.number == file.log.head.number + 1 {
      do { try file.log.take(entry) } catch {
        file.needsLog = true
        held.isDirty = true
        held.append(.tell(.diverged(error)))
        close()
        held.append(.close)
        return
      }
      if entry.changeset.client == file.client, let own = file.pending.first,
        own.sequence == entry.changeset.sequence
      {
        file.mark = SyncHash.mark(file.mark, own)
        file.pending.removeFirst()
        received = max(received, own.sequence)
        held.append(.tell(.confirmed(entry)))
      }
    }
    guard file.log.head != before else { return }
    if file.log.entries.count > Limits.entries {
      file.log.trim(to: file.log.needed(by: file.client, base: file.lowest))
    }
    held.isDirty = true
    sendProgress(asks: false)
    upload()
  }
}
