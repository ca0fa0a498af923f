// MachineTests.swift: what a client and a server answer, step by step.

import SyncCore
import Testing

@Suite("Machines of client and server")
struct MachineTests {
  private func note(_ number: Int64) -> [SyncOperation] {
    [.create(SyncObject("Note", .int(number)))]
  }

  private func sent(_ outputs: [ClientOutput]) -> [SyncMessage] {
    outputs.compactMap { if case .send(let message) = $0 { message } else { nil } }
  }

  private func sent(_ outputs: [ServerOutput]) -> [SyncMessage] {
    outputs.compactMap { if case .send(_, let message) = $0 { message } else { nil } }
  }

  /// A server and a client that have welcomed each other.
  private func pair() throws -> (server: ServerMachine, client: ClientMachine) {
    var server = ServerMachine(ServerFile(epoch: 7), refusing: ["Secret"])
    var client = ClientMachine(ClientFile())
    let hello = try #require(sent(client.step(.connected, at: 5)).first)
    _ = server.step(.opened(session: 1, random: 100), at: 5)
    #expect(sent(server.step(.message(session: 1, hello), at: 5)) == [])
    let welcome = try #require(sent(server.step(.stored, at: 5)).first)
    #expect(client.step(.message(welcome), at: 5).count == 1)
    _ = client.step(.stored, at: 5)
    #expect(client.isLive && client.file.epoch == 7 && client.file.client == SyncClient(1))
    return (server, client)
  }

  @Test("say nothing before it is stored, and store one thing at a time")
  func order() throws {
    var (server, client) = try pair()
    let first = client.step(.commit(note(1)), at: 9)
    #expect(first == [.store(client.file)])
    #expect(client.step(.commit(note(2)), at: 9) == [], "one store at a time")
    let then = client.step(.stored, at: 9)
    let pending = client.file.pending
    #expect(
      then == [
        .tell(.committed(pending[0])), .send(.upload(pending[0])), .store(client.file),
      ])
    #expect(
      client.step(.stored, at: 9)
        == [.tell(.committed(pending[1])), .send(.upload(pending[1]))])
    let upload = ServerInput.message(session: 1, .upload(pending[0]))
    #expect(server.step(upload, at: 9) == [.store(server.file)])
    let answers = sent(server.step(.stored, at: 9))
    #expect(answers == [.received(1), .entries([try #require(server.file.log[SyncVersion(1)])])])
    #expect(sent(server.step(upload, at: 9)) == [.received(1)], "a repeat is answered")
    #expect(server.file.log.head == SyncVersion(1))
  }

  @Test("keep a changeset pending until its entry is here")
  func ownEntries() throws {
    var (server, client) = try pair()
    _ = client.step(.commit(note(1)), at: 9)
    _ = client.step(.stored, at: 9)
    let changeset = client.file.pending[0]
    _ = server.step(.message(session: 1, .upload(changeset)), at: 9)
    let answers = sent(server.step(.stored, at: 9))
    #expect(client.step(.message(answers[0]), at: 9) == [])
    #expect(client.file.pending == [changeset], "an acknowledgement is for progress only")
    _ = client.step(.message(answers[1]), at: 9)
    #expect(client.file.pending == [] && client.file.log.head == SyncVersion(1))
    #expect(client.file.visible == server.file.log.state)
    let outputs = client.step(.stored, at: 9)
    #expect(outputs.first == .tell(.confirmed(server.file.log.entries[0])))
    let progress = SyncMessage.progress(
      confirmed: SyncVersion(1), lowest: SyncVersion(1), asks: false)
    #expect(sent(outputs) == [progress])
    #expect(server.step(.message(session: 1, progress), at: 9) == [], "nothing to send or store")
  }

  @Test("send again what may be lost, and take it once")
  func ticks() throws {
    var (server, client) = try pair()
    _ = client.step(.commit(note(1)), at: 9)
    _ = client.step(.stored, at: 9)
    let again = sent(client.step(.tick, at: 9))
    #expect(again.count == 2 && again[0] == .upload(client.file.pending[0]))
    for message in again + again { _ = server.step(.message(session: 1, message), at: 9) }
    let answers = sent(server.step(.stored, at: 9))
    #expect(server.file.log.head == SyncVersion(1))
    for message in answers.reversed() + answers { _ = client.step(.message(message), at: 9) }
    #expect(client.file.log.head == SyncVersion(1) && client.file.pending == [])
  }

  @Test("refuse a changeset as a whole, and go on (I19)")
  func refusals() throws {
    var (server, client) = try pair()
    let secret = SyncOperation.create(SyncObject("Secret", .int(1)))
    for operations in [note(1) + [secret], note(2)] {
      _ = client.step(.commit(operations), at: 9)
      _ = client.step(.stored, at: 9)
    }
    for changeset in client.file.pending {
      _ = server.step(.message(session: 1, .upload(changeset)), at: 9)
    }
    #expect(server.file.log.entries.map(\.refusal) == [1, nil])
    #expect(Array(server.file.log.state.objects.keys) == [SyncObject("Note", .int(2))])
  }

  @Test("clamp stamps that are ahead of the server's clock (I24)")
  func clocks() throws {
    var (server, client) = try pair()
    _ = client.step(.commit(note(1)), at: 900_000)
    let changeset = client.file.pending[0]
    #expect(changeset.stamp == SyncStamp(milliseconds: 900_000))
    _ = server.step(.message(session: 1, .upload(changeset)), at: 1000)
    #expect(server.file.log.entries[0].changeset.stamp == SyncStamp(milliseconds: 3000))
  }

  @Test("give copies of a file numbers of their own (I21)")
  func copies() throws {
    var (server, client) = try pair()
    _ = client.step(.commit(note(1)), at: 9)
    let copy = client.file
    _ = client.step(.stored, at: 9)
    _ = server.step(.message(session: 1, .upload(client.file.pending[0])), at: 9)
    _ = server.step(.stored, at: 9)
    // The copy makes another changeset with the number of one that the server has.
    var file = copy
    for _ in 0..<2 {
      var other = ClientMachine(file)
      _ = other.step(.commit(note(5)), at: 9)
      file = other.file
      _ = client.step(.commit(note(2)), at: 9)
      _ = client.step(.stored, at: 9)
    }
    for changeset in client.file.pending {
      _ = server.step(.message(session: 1, .upload(changeset)), at: 9)
      _ = server.step(.stored, at: 9)
    }
    var other = ClientMachine(file)
    _ = server.step(.opened(session: 2, random: 200), at: 9)
    for message in sent(other.step(.connected, at: 9)) {
      _ = server.step(.message(session: 2, message), at: 9)
    }
    let welcome = try #require(sent(server.step(.stored, at: 9)).first)
    let hello = try #require(sent(other.step(.message(welcome), at: 9)).first, "asks for a number")
    _ = server.step(.message(session: 2, hello), at: 9)
    for message in sent(server.step(.stored, at: 9)) {
      _ = other.step(.message(message), at: 9)
    }
    #expect(other.file.client == SyncClient(2))
    #expect(other.file.pending.map(\.sequence) == [1, 2, 3])
    #expect(other.file.pending.allSatisfy { $0.client == SyncClient(2) })
  }

  @Test("give a number that nobody has shown to know to the next client, and no other one (I17)")
  func abandonedNumbers() throws {
    var (server, client) = try pair()
    _ = server.step(.message(session: 1, sent(client.step(.tick, at: 5))[0]), at: 5)
    var late = ClientMachine(ClientFile())
    let hello = try #require(sent(late.step(.connected, at: 9)).first)
    func greet(_ session: UInt64) -> SyncWelcome? {
      _ = server.step(.opened(session: session, random: session * 100), at: 9)
      _ = server.step(.message(session: session, hello), at: 9)
      guard case .welcome(let welcome) = sent(server.step(.stored, at: 9)).first else { return nil }
      return welcome
    }
    let first = try #require(greet(2))
    let beside = try #require(greet(3))
    #expect([first.client.number, beside.client.number] == [2, 3], "both are connected")
    for session in [2, 1] as [UInt64] { _ = server.step(.closed(session: session), at: 9) }
    for session in 4..<40 as Range<UInt64> {
      let again = try #require(greet(session))
      #expect(again.client == first.client && again.secret != first.secret)
      _ = server.step(.closed(session: session), at: 9)
    }
    #expect(server.file.clients.count == 3)
    // Who has the number all the same gets another one, and keeps what is pending.
    _ = late.step(.message(.welcome(first)), at: 9)
    #expect(sent(late.step(.stored, at: 9)).count == 1)
    _ = late.step(.commit(note(3)), at: 9)
    _ = late.step(.stored, at: 9)
    #expect(greet(40)?.client == first.client)
    let known = try #require(sent(late.step(.connected, at: 9)).first)
    _ = server.step(.opened(session: 41, random: 4100), at: 9)
    _ = server.step(.message(session: 41, known), at: 9)
    for message in sent(server.step(.stored, at: 9)) { _ = late.step(.message(message), at: 9) }
    let progress = sent(late.step(.stored, at: 9))
    #expect(late.file.client == SyncClient(4) && late.file.pending.map(\.operations) == [note(3)])
    _ = server.step(.message(session: 41, progress[0]), at: 9)
    _ = server.step(.closed(session: 41), at: 9)
    #expect(greet(42)?.client == SyncClient(5), "client 4 knows its number")
    // A hello with the number shows it as well.
    #expect(sent(client.step(.closed, at: 9)).isEmpty)
    #expect(server.file.clients[0].client == client.file.client)
  }

  @Test("move the barrier behind many operations, once all that are connected have them")
  func barrierOfIdleClients() throws {
    var (server, client) = try pair()
    func hears(_ message: SyncMessage, from session: UInt64) -> [SyncMessage] {
      let outputs = server.step(.message(session: session, message), at: 9)
      return sent(outputs.contains(.store(server.file)) ? server.step(.stored, at: 9) : outputs)
    }
    let progress = SyncMessage.progress(
      confirmed: SyncVersion(1), lowest: SyncVersion(1), asks: false)
    let many = (0..<257).map { SyncOperation.create(SyncObject("Note", .int($0))) }
    _ = client.step(.commit(many), at: 9)
    let upload = try #require(sent(client.step(.stored, at: 9)).first)
    // Another client is connected, and has nothing yet.
    _ = server.step(.opened(session: 2, random: 200), at: 9)
    var other = ClientMachine(ClientFile())
    let hello = try #require(sent(other.step(.connected, at: 9)).first)
    #expect(hears(hello, from: 2).count == 1)
    #expect(hears(upload, from: 1).count == 3)
    #expect(hears(progress, from: 1) == [] && server.file.log.head == SyncVersion(1))
    let said = hears(progress, from: 2)
    let entry = try #require(server.file.log[SyncVersion(2)])
    #expect(said == [.entries([entry]), .entries([entry])])
    #expect(entry.changeset.operations == [] && entry.barrier == SyncVersion(1))
    #expect(entry.changeset.client.number == 1 << 56 - 1)
    // Each client keeps that one instead, and the server goes on as before.
    let first = try #require(server.file.log[SyncVersion(1)])
    for message in [SyncMessage.entries([first]), .entries([entry])] {
      _ = client.step(.message(message), at: 9)
      _ = client.step(.stored, at: 9)
    }
    var file = client.file
    file.trim()
    #expect(file.log.entries == [entry] && file.pending == [])
    for session in [1, 2] as [UInt64] {
      let late = SyncMessage.progress(
        confirmed: SyncVersion(2), lowest: SyncVersion(2), asks: true)
      #expect(hears(late, from: session) == [])
    }
    #expect(server.file.log.head == SyncVersion(2))
    _ = client.step(.commit(note(999)), at: 9)
    let next = try #require(sent(client.step(.stored, at: 9)).first)
    #expect(hears(next, from: 1).count == 3 && server.file.log.head == SyncVersion(3))
  }

  @Test("take their own old number for a new one, when a server has lost it and gives it to them")
  func oldNumberAsNewOne() throws {
    var (server, client) = try pair()
    _ = client.step(.commit(note(1)), at: 9)
    let upload = try #require(sent(client.step(.stored, at: 9)).first)
    _ = server.step(.message(session: 1, upload), at: 9)
    for message in sent(server.step(.stored, at: 9)) { _ = client.step(.message(message), at: 9) }
    _ = client.step(.stored, at: 9)
    _ = client.step(.commit(note(2)), at: 9)
    _ = client.step(.stored, at: 9)
    // Another server, whose numbers begin with 1 again; nobody says a word under the first two.
    server = ServerMachine(ServerFile(epoch: 8))
    func hears(_ message: SyncMessage, _ session: UInt64) -> [SyncMessage] {
      var outputs = server.step(.message(session: session, message), at: 9)
      while case .store? = outputs.last { outputs += server.step(.stored, at: 9) }
      return sent(outputs)
    }
    func takes(_ input: ClientInput) -> [SyncMessage] {
      var outputs = client.step(input, at: 9)
      while case .store? = outputs.last { outputs += client.step(.stored, at: 9) }
      return sent(outputs)
    }
    for session in 1..<4 as Range<UInt64> {
      _ = server.step(.opened(session: session, random: session * 1_000), at: 9)
      var said = takes(.connected)
      for round in 0..<20 {
        let answers = said.flatMap { hears($0, session) }
        // The first connections end when the client has asked for another number.
        if !client.isLive, session < 3, round == 1 { break }
        said = answers.flatMap { takes(.message($0)) }
      }
      guard !client.isLive else { break }
      _ = server.step(.closed(session: session), at: 9)
      _ = takes(.closed)
    }
    #expect(client.isLive && client.file.epoch == 8 && client.file.pending == [])
    #expect(server.file.log.state.objects[SyncObject("Note", .int(2))] != nil)
  }

  @Test("notice a server that has lost entries, and keep what is pending (I20)")
  func lostEntries() throws {
    var (server, client) = try pair()
    let before = server.file
    for number in [1, 2] as [Int64] { _ = client.step(.commit(note(number)), at: 9) }
    _ = client.step(.stored, at: 9)
    _ = client.step(.stored, at: 9)
    _ = server.step(.message(session: 1, .upload(client.file.pending[0])), at: 9)
    for message in sent(server.step(.stored, at: 9)) { _ = client.step(.message(message), at: 9) }
    _ = client.step(.stored, at: 9)
    #expect(client.file.log.head == SyncVersion(1) && client.file.pending.count == 1)
    server = ServerMachine(before)
    _ = client.step(.closed, at: 9)
    _ = server.step(.opened(session: 9, random: 900), at: 9)
    for message in sent(client.step(.connected, at: 9)) {
      _ = server.step(.message(session: 9, message), at: 9)
    }
    var outputs: [ClientOutput] = []
    for message in sent(server.step(.stored, at: 9)) {
      outputs += client.step(.message(message), at: 9)
    }
    #expect(client.file.log.head == .zero || !client.isLive)
    #expect(client.file.pending.last?.operations == note(2))
  }
}
