// ServerMachine+Greet.swift: identifies a connecting client, and determines what it needs.
// Invariants: a number belongs to one file (I21): a copy of it, or an older state of it, sends
// another nonce than the one that uploaded last; a client's log is a part of this log, or it gets a
// new one (I20). A number that nobody has shown to know goes to the next new client (I17).

extension ServerMachine {
  /// - Parameters:
  ///   - hello: The hello.
  ///   - number: The session.
  ///   - offered: The newest version of a log that is offered to clients that need one; nil for
  ///     the newest.
  mutating func greet(_ hello: SyncHello, from number: UInt64, offering offered: SyncVersion?) {
    guard var session = sessions[number] else { return }
    // A repeated hello gets the same response, including the nonce: otherwise it would be unknown
    // which response arrived.
    let isAgain = hello.attempt <= session.attempt
    var index = isAgain ? index(of: SyncClient(session.client)) : index(of: hello)
    if !isAgain {
      let nonce = session.random &+ UInt64(hello.attempt)
      if let index {
        supersede(file.clients[index].client, by: number)
        if hello.nonce == file.clients[index].offered { file.clients[index].nonce = hello.nonce }
        file.clients[index].offered = nonce
        unconfirmed.remove(file.clients[index].client.number)
      } else {
        index = addClient(secret: nonce, lowest: hello.lowest)
      }
      session.attempt = hello.attempt
      session.nonce = nonce
      held.isDirty = true
    }
    guard let index else { return }
    let client = file.clients[index].client
    if !isAgain {
      session.isPart = isPart(hello, index)
      let known =
        session.isPart
        ? hello.confirmed
        : offered.flatMap { canOffer($0, to: client) ? $0 : nil } ?? file.log.head
      file.clients[index].lowest = session.isPart ? hello.lowest : known
      file.clients[index].isExpired = false
      session.client = client.number
      session.confirmed = known.number
    }
    // Which of several responses arrives is unknown: the client has at least what it had at the
    // first one.
    session.sent = session.confirmed
    sessions[number] = session
    held.append(
      .send(
        session: number,
        .welcome(
          SyncWelcome(
            client: client, secret: file.clients[index].secret, nonce: session.nonce,
            epoch: file.epoch, lastSequence: file.log.lastSequence(of: client),
            mark: file.clients[index].mark, wentBack: wentBack(hello),
            log: session.isPart ? nil : file.log.trimmedToBarrier()))))
    sendEntries(to: number)
  }

  /// Whether a client can be given a log that ends at a version: it continues from there, and all
  /// its own changesets are in that log.
  package func canOffer(_ version: SyncVersion, to client: SyncClient) -> Bool {
    guard version >= file.log.start, version <= file.log.head else { return false }
    return !file.log.entries.contains { $0.version > version && $0.changeset.client == client }
  }

  /// The client whose file sent a hello; nil for a new one, a copy or an older state.
  private func index(of hello: SyncHello) -> Int? {
    guard let client = hello.client, let index = index(of: client) else { return nil }
    let record = file.clients[index]
    guard hello.secret == record.secret,
      hello.nonce == record.nonce || hello.nonce == record.offered
    else {
      return nil
    }
    return index
  }

  /// Makes a client.
  ///
  /// It gets a number that was made for a connection that has ended, if nobody has shown to know
  /// that number: otherwise connections that end early would add records without end. Who has it
  /// all the same gets another one, as it does not know the new secret.
  /// - Returns: The index of its record.
  private mutating func addClient(secret: UInt64, lowest: SyncVersion) -> Int {
    let abandoned = abandonedClients.min()
    let number = abandoned ?? UInt64(file.clients.count) + 1
    let record = ClientRecord(
      client: SyncClient(number), secret: secret, nonce: secret, offered: secret, lowest: lowest)
    unconfirmed.insert(number)
    let index = Int(number) - 1
    if abandoned == nil { file.clients.append(record) } else { file.clients[index] = record }
    return index
  }

  /// Whether a client's log is a part of this log, from which it can continue.
  private func isPart(_ hello: SyncHello, _ index: Int) -> Bool {
    !hello.needsLog && !file.clients[index].isExpired && !wentBack(hello)
      && hello.lowest >= file.log.start && hello.lowest <= hello.confirmed
      && file.log.chain(at: hello.confirmed) == hello.chain
  }

  /// Whether a client has entries that this log does not have, or once had and lost.
  private func wentBack(_ hello: SyncHello) -> Bool {
    guard hello.confirmed > .zero else { return false }
    guard hello.epoch == file.epoch, hello.confirmed <= file.log.head else { return true }
    // What is not kept any more cannot be compared; who needs it gets another log anyway.
    guard let chain = file.log.chain(at: hello.confirmed) else { return false }
    return chain != hello.chain
  }

  /// Ends other connections of a number: there is one file.
  private mutating func supersede(_ client: SyncClient, by number: UInt64) {
    for (other, found) in sessions.sorted(by: { $0.key < $1.key })
    where other != number && found.client == client.number {
      sessions[other] = nil
      held.append(.close(session: other))
    }
  }
}
