// ClientMachine.swift: a client of a realm as a value, with inputs and outputs only. It has no
// clock, no file and no network; its driver has them. Invariants: nothing is sent or reported
// before the state it depends on is stored; a changeset stays pending until its entry is stored
// here (I7, I8); entries are taken in order (I9).

/// An input of a client.
public enum ClientInput: Hashable, Sendable {
  /// The app commits a transaction.
  case commit([SyncOperation])
  /// There is a connection to the server.
  case connected
  /// The connection was closed.
  case closed
  /// The server sent something.
  case message(SyncMessage)
  /// The last requested store is durable. A failed store ends the machine: create another one from
  /// the stored state.
  case stored
  /// Time has passed without a response: messages that may be lost are sent again.
  case tick
}

/// A report of a client to its app.
public enum ClientNews: Hashable, Sendable {
  /// A transaction is durable.
  case committed(SyncChangeset)
  /// A transaction is in the server's order: its effect, its losses, why it was rejected.
  case confirmed(SyncEntry)
  /// A transaction was already in the log that replaced the client's.
  case contained(SyncChangeset)
  /// A pending transaction was restated on another version, with its losses.
  case rebased(from: SyncChangeset, to: SyncChangeset, overruled: [SyncOverruling])
  /// The server has lost entries that it had before (I20).
  case serverWentBack(confirmed: SyncVersion)
  /// The file is a copy of another one or an older state of itself: the client has a new number
  /// (I21).
  case renamed(from: SyncClient, to: SyncClient)
  /// An entry of the server did not fit: the log is requested again (I2).
  case diverged(SyncError)
}

/// An output of a client, to be carried out by its driver.
public enum ClientOutput: Hashable, Sendable {
  /// Send a message to the server.
  case send(SyncMessage)
  /// Make this durable, as one transaction; then send the input `stored`.
  case store(ClientFile)
  /// A report to the app.
  case tell(ClientNews)
  /// The connection is to be closed.
  case close
}

/// A client of a realm.
public struct ClientMachine: Hashable, Sendable {
  /// Bounds of a client.
  enum Limits {
    /// Changesets in flight without a response.
    static let uploads: UInt64 = 8
    /// Entries that are kept although they are not needed.
    static let entries = 64
  }

  enum Phase: Hashable { case offline, greeting, live }

  /// The current state, stored or about to be.
  public internal(set) var file: ClientFile
  var phase = Phase.offline
  /// Whether a connection has shown that its file is a copy.
  ///
  /// The next one must not begin with the old number, which would end the connection of the file
  /// that has it.
  var asksForNumber = false
  /// The last changeset that was sent in this connection, and the last that the server has.
  var sent: UInt64 = 0
  var received: UInt64 = 0
  var held = HeldOutputs<ClientOutput>()

  /// A client that starts from its stored state.
  public init(_ file: ClientFile) { self.file = file }

  /// Whether a store is under way.
  public var isStoring: Bool { held.isStoring }
  /// Whether it waits for a welcome on this connection.
  public var isGreeting: Bool { phase == .greeting }
  /// Whether it has been welcomed on this connection.
  public var isLive: Bool { phase == .live }

  /// Takes an input.
  /// - Parameters:
  ///   - input: The event.
  ///   - now: The wall clock in milliseconds since 1970; it may be wrong or go back.
  /// - Returns: The outputs, in order.
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

  /// Drops the connection, and its pending messages.
  private mutating func close() {
    phase = .offline
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
    case (.welcome(let welcome), .greeting):
      if welcome.offered == nil { enter(welcome) } else { take(nonceOf: welcome) }
    case (.entries(let entries), .live): take(entries)
    case (.received(let sequence), .live):
      received = max(received, min(sequence, file.nextSequence - 1))
      upload()
    default: break
    }
  }

  /// Sends pending changesets that were not sent yet, as many as may be in flight.
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

  mutating func sendProgress(asks: Bool) {
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

// MARK: a client whose objects and changesets are stored elsewhere

extension ClientMachine {
  /// Continues with a stored state.
  package mutating func restart(from stored: ClientFile) {
    precondition(!isStoring, "a store is under way")
    file = stored
  }

  /// Adds changesets that writers have stored.
  package mutating func adopt(_ changesets: [SyncChangeset]) {
    file.pending += changesets
    if let last = changesets.last { file.stamp = max(file.stamp, last.stamp) }
  }

  /// Adds objects that no kept entry touches, before a changeset or an entry that names them.
  package mutating func include(_ objects: [SyncObject: SyncNode]) { file.log.include(objects) }

  /// Removes entries that no future changeset needs, as the store did.
  package mutating func trim() { file.trim() }

  /// Handles changesets that were added.
  /// - Returns: The outputs, in order.
  package mutating func goOn() -> [ClientOutput] {
    upload()
    return held.release { .store(file) }
  }
}
