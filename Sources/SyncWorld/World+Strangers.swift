// World+Strangers.swift: what a server says to, and takes from, who has no right to it (I22). The
// tries are made on a copy of the server, so they change nothing of the world.

import SyncCore

extension World {
  /// A connection that is nobody's.
  private static let strange: UInt64 = 1 << 40

  /// Checks that without a hello, under another client's number without its secret, and in another
  /// client's name, nobody reads or writes anything.
  mutating func judgeStrangers() {
    judgeSilence()
    let abandoned = server.machine.abandonedClients
    // Whoever comes next may get an abandoned number, if no file has it.
    for record in server.machine.file.clients
    where isHeld(record) || !abandoned.contains(record.client.number) {
      judgeFalseSecret(record)
      judgeFalseName(record)
    }
  }

  /// Whether a file has a client's number and secret.
  private func isHeld(_ record: ClientRecord) -> Bool {
    clients.contains {
      $0.machine.file.client == record.client && $0.machine.file.secret == record.secret
    }
  }

  /// A copy of the server with one connection more.
  private func visited() -> ServerMachine {
    var machine = server.machine
    _ = machine.step(.opened(session: Self.strange, random: Self.strange), at: now(server.clock))
    return machine
  }

  private func says(_ message: SyncMessage, to machine: inout ServerMachine) -> [ServerOutput] {
    machine.step(.message(session: Self.strange, message), at: now(server.clock))
  }

  /// The changeset that the server takes next from a client, on its newest version.
  private func next(of client: SyncClient) -> SyncChangeset {
    let log = server.machine.file.log
    return SyncChangeset(
      client: client, sequence: log.lastSequence(of: client) + 1, base: log.head,
      stamp: SyncStamp(milliseconds: now(server.clock)), operations: [.create(Self.object(-1))])
  }

  /// Who has said no hello gets no answer, whatever it says.
  private mutating func judgeSilence() {
    var messages: [SyncMessage] = [
      .progress(confirmed: .zero, lowest: .zero, asks: true), .wants(log: 0, from: 0),
    ]
    messages += server.machine.file.clients.map { .upload(next(of: $0.client)) }
    var machine = visited()
    for message in messages {
      let answers = says(message, to: &machine)
      if !answers.isEmpty || machine.file != server.machine.file {
        breaks("I22", "who has said no hello is answered: \(answers.count) outputs")
      }
    }
  }

  /// Who knows a client's number and nonce, and not its secret, is another client.
  private mutating func judgeFalseSecret(_ record: ClientRecord) {
    var machine = visited()
    let hello = SyncHello(
      attempt: 1, client: record.client, secret: ~record.secret, nonce: record.nonce,
      epoch: server.machine.file.epoch, confirmed: .zero, chain: 0, lowest: .zero, needsLog: true)
    _ = says(.hello(hello), to: &machine)
    let number = record.client.number
    if machine.client(of: Self.strange) == record.client {
      breaks("I22", "who does not know the secret of client \(number) is taken for it")
    }
    if !machine.file.clients.contains(record) {
      breaks("I22", "who does not know the secret of client \(number) changes what it has")
    }
  }

  /// A client's upload in the name of another one has no effect.
  private mutating func judgeFalseName(_ record: ClientRecord) {
    var machine = visited()
    let hello = SyncHello(
      attempt: 1, client: nil, secret: 0, nonce: 0, epoch: 0, confirmed: .zero, chain: 0,
      lowest: .zero, needsLog: true)
    _ = says(.hello(hello), to: &machine)
    _ = machine.step(.stored, at: now(server.clock))
    let answers = says(.upload(next(of: record.client)), to: &machine)
    if !answers.isEmpty || machine.file.log.head != server.machine.file.log.head {
      breaks("I22", "another client uploads in the name of client \(record.client.number)")
    }
  }
}
