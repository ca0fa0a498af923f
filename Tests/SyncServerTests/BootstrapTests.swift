// BootstrapTests.swift: the log that a new client gets, in parts: one version while others write
// (I11); parts of bounded size (I26), with which a client continues after a lost connection, at
// another server process, too.

import Engine
import FoundationEssentials
import ObjectDatabase
import Requirements
import SyncCore
import SyncServer
import Testing

@Suite("The log of a new client")
struct BootstrapTests {
  private static let partBytes = 40

  private static var limits: SyncServerStore.Limits {
    var limits = SyncServerStore.Limits()
    limits.trimmedMin = 8
    limits.messageBytesMax = partBytes
    return limits
  }

  /// A server with two clients that have said all, whose log does not begin at the beginning.
  private static func server(_ configuration: Realm.Configuration) throws -> TestServer {
    let server = try TestServer(configuration, limits: limits)
    for _ in 0..<2 { server.addClient() }
    for _ in 0..<60 { server.write(0) }
    try server.settle()
    server.write(1)
    try server.settle()
    #expect(server.store.keptFrom > .zero)
    return server
  }

  /// The next message of a client.
  private static func said(_ server: TestServer, _ number: Int) throws -> SyncMessage {
    let frame = try #require(server.clients[number].toServer.first, "client \(number)")
    server.clients[number].toServer.removeFirst()
    return try SyncMessage(decoding: Array(frame.dropFirst()), isUp: true)
  }

  @Test("is one version, while others write (I11)")
  func oneVersion() throws {
    let server = try Self.server(TestServer.memory("one version"))
    // The hello and an upload are one transaction; the parts are made after one more.
    server.addClient()
    server.write(0)
    try server.connect(2)
    let (first, third) = (
      try #require(server.clients[0].session), try #require(server.clients[2].session)
    )
    let replies = try server.store.step(
      [
        .message(session: third, try Self.said(server, 2)),
        .message(session: first, try Self.said(server, 0)),
      ], at: server.time)
    let version = server.store.head
    server.write(1)
    try server.deliverUp([1])
    #expect(server.store.head > version)
    server.handle(replies)
    // The entry of that one came first.
    for _ in 0..<2 { try server.deliverDown(2) }
    let asked = try server.store.step(
      [.message(session: third, try Self.said(server, 2))], at: server.time)
    var bytes: [UInt8] = []
    for reply in asked {
      guard case .bootstrap(let session, let log, from: let index) = reply else { continue }
      #expect(session == third && log.head == version)
      var next = index
      var isWhole = false
      while !isWhole {
        for message in try log.messages(from: next) {
          guard case .part(let part) = message else { continue }
          #expect(part.index == next && part.bytes.count <= Self.partBytes && !isWhole)
          bytes += part.bytes
          next += 1
          isWhole = part.isLast
        }
      }
      #expect(try log.messages(from: next).isEmpty)
    }
    let log = try SyncMerger(decodingLog: bytes)
    #expect(log.head == version && log.breach() == nil)
    server.handle(asked)
    try server.settle()
  }

  @Test("continues after a lost connection with the parts that are there (I23)", arguments: [0, 1])
  func resumed(servers: Int) throws {
    let configuration = TestServer.memory("resumed \(servers)")
    let server = try Self.server(configuration)
    server.addClient()
    try server.connect(2)
    for _ in 0..<2 {
      try server.deliverUp([2])
      try server.deliverDown(2)
    }
    while server.clients[2].toClient.count > 3 { try server.deliverDown(2) }
    let before = server.clients[2].staged
    #expect(before.count > 2)
    if servers > 0 {
      // Another process makes the same bytes of the same version.
      try server.restart(configuration, limits: Self.limits)
    } else {
      // The same process goes on with the log of then, although there is more now.
      server.hangUp(2)
      for _ in 0..<3 { server.write(0) }
      try server.settle1(0)
    }
    try server.connect(2)
    try server.deliverUp([2])
    for _ in 0..<10 where server.clients[2].toServer.isEmpty { try server.deliverDown(2) }
    #expect(server.clients[2].staged.log == before.log)
    guard case .wants(before.log, from: before.count) = try Self.said(server, 2) else {
      Issue.record("the client does not continue")
      return
    }
    server.step(2, .tick)
    try server.settle()
  }

  @Test("is made anew when it ends before what its client has uploaded since (I8)")
  func ownChanges() throws {
    let server = try Self.server(TestServer.memory("own changes"))
    // A new client gets an offer; then another one's upload arrives, which hears nothing of it.
    server.addClient()
    try server.connect(2)
    try server.deliverUp([2])
    let own = SyncObject("Dog", .int(500))
    server.step(0, .commit(DogDraw.make(own)))
    try server.deliverUp([0])
    // That one has to get a log, too: what it has uploaded is in it.
    try server.serve([.expire(SyncClient(1))])
    #expect(server.clients[0].session == nil)
    try server.connect(0)
    for _ in 0..<1_000 where !server.clients[0].machine.isLive {
      try server.deliverUp([0])
      try server.deliverDown(0)
    }
    let file = server.clients[0].machine.file
    #expect(server.clients[0].machine.isLive && server.clients[0].partCount > 0)
    #expect(file.visible.objects[own] != nil)
    try server.settle("own changes")
  }

  @Test("is not given to those who have not said who they are (I22)")
  func strangers() throws {
    let server = try Self.server(TestServer.memory("strangers"))
    server.addClient()
    try server.connect(2)
    try server.deliverUp([2])
    try server.deliverDown(2)
    let name = server.clients[2].staged.log
    let state = try server.store.state()
    var draw = DogDraw(seed: 1)
    let changeset = SyncChangeset(
      client: SyncClient(1), sequence: server.store.lastSequence(of: SyncClient(1)) + 1,
      base: server.store.head, stamp: SyncStamp(milliseconds: 1 << 40),
      operations: draw.draw(state))
    let messages: [SyncMessage] = [
      .wants(log: name, from: 0), .upload(changeset),
      .progress(confirmed: server.store.keptFrom, lowest: server.store.keptFrom, asks: true),
    ]
    for message in messages {
      let replies = try server.store.step(
        [.opened(session: 900, random: 5), .message(session: 900, message)], at: server.time)
      #expect(replies.isEmpty, "\(message)")
    }
    #expect(try server.store.state() == state)
    try server.settle()
  }
}
