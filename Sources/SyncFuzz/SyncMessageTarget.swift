// SyncMessageTarget.swift: bytes → a message → the same bytes; then a server or a client takes it,
// whatever its content. Invariants checked: decoded bytes have one encoding; no message traps a
// machine; a log that a client takes from a message is whole, and its entries keep the invariants
// of the merge.

import Fuzz
import SyncCore

enum SyncMessageTarget {
  static let target = FuzzTarget(
    name: "sync-message",
    judges: "bytes of messages in both directions: read, written, handled", smokeCount: 1000,
    seeds: { seeds }, run: { run($0) })

  /// What is said in a random world: uploads, entries, and a log.
  private static let seeds: [[UInt8]] = {
    var world = SyncWorld(MutantChoices(seed: 12))
    _ = world.run(steps: 60)
    var server = ServerMachine(ServerFile(epoch: 7))
    var found: [[UInt8]] = []
    var client = ClientMachine(ClientFile())
    for output in client.step(.connected, at: 5) {
      if case .send(let hello) = output { found.append(hello.encoded()) }
    }
    let log = world.server.trimmedToBarrier()
    let welcome = SyncWelcome.example(log)
    found.append(SyncMessage.welcome(welcome).encoded())
    let entries = Array(world.server.entries.prefix(6))
    found.append(SyncMessage.entries(Array(entries.prefix(2))).encoded())
    found += entries.map { SyncMessage.upload($0.changeset).encoded() }
    found.append(SyncMessage.received(3).encoded())
    found.append(SyncMessage.wants(log: 5, from: 2).encoded())
    found.append(
      SyncMessage.part(SyncLogPart(log: 5, index: 2, isLast: true, bytes: log.encodedLog()))
        .encoded())
    found.append(
      SyncMessage.progress(confirmed: .zero, lowest: SyncVersion(1), asks: true).encoded())
    _ = server.step(.opened(session: 1, random: 1), at: 5)
    return found
  }()

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    if let message = try? SyncMessage(decoding: input, isUp: true) {
      guard message.encoded() == input else { return .finding("a message has two spellings") }
      return toServer(message)
    }
    guard let message = try? SyncMessage(decoding: input, isUp: false) else { return .refused }
    guard message.encoded() == input else { return .finding("a message has two spellings") }
    return toClient(message)
  }

  /// A server takes it from a stranger, and then from a client.
  private static func toServer(_ message: SyncMessage) -> FuzzOutcome {
    var server = ServerMachine(ServerFile(epoch: 7))
    var client = ClientMachine(ClientFile())
    answer(&server, .opened(session: 1, random: 3))
    answer(&server, .message(session: 1, message))
    answer(&server, .opened(session: 2, random: 9))
    for output in client.step(.connected, at: 5) {
      if case .send(let hello) = output { answer(&server, .message(session: 2, hello)) }
    }
    answer(&server, .message(session: 2, message))
    if case .upload(var changeset) = message {
      changeset.client = SyncClient(UInt64(server.file.clients.count))
      changeset.sequence = 1
      changeset.base = .zero
      answer(&server, .message(session: 2, .upload(changeset)))
    }
    answer(&server, .trim)
    return server.file.log.breach().map { .finding($0) } ?? .accepted
  }

  private static func answer(_ server: inout ServerMachine, _ input: ServerInput) {
    for case .store in server.step(input, at: 5) { _ = server.step(.stored, at: 5) }
  }

  /// A client with a pending changeset takes it: before it is welcome, and then.
  private static func toClient(_ message: SyncMessage) -> FuzzOutcome {
    var client = ClientMachine(ClientFile())
    let note = SyncObject("Note", .int(1))
    report(&client, .commit([.create(note), .change(SyncField(note, [], "n"), .set(.int(1)))]))
    report(&client, .connected)
    report(&client, .message(message))
    report(&client, .message(.welcome(SyncWelcome.example(nil))))
    report(&client, .message(message))
    report(&client, .tick)
    report(&client, .commit([.delete(note)]))
    if case .part(let part) = message, let log = try? SyncMerger(decodingLog: part.bytes) {
      guard log.encodedLog() == part.bytes else { return .finding("a log has two spellings") }
      return log.breach().map { .finding($0) } ?? .accepted
    }
    guard case .welcome(let welcome) = message, welcome.log != nil else { return .accepted }
    return client.file.log.breach().map { .finding($0) } ?? .accepted
  }

  private static func report(_ client: inout ClientMachine, _ input: ClientInput) {
    for case .store in client.step(input, at: 5) { _ = client.step(.stored, at: 5) }
  }
}

extension SyncWelcome {
  fileprivate static func example(_ log: SyncMerger?) -> SyncWelcome {
    SyncWelcome(
      client: SyncClient(4), secret: 1, nonce: 2, epoch: 7, lastSequence: 0, mark: 0,
      wentBack: false, log: log)
  }
}
