// StageTests.swift: a log that comes in parts: each is one version of the file that no program sees
// (I11, I26), an agent that was ended continues with those that are there, and nothing is left of
// them at the end (I17).

import Engine
import FoundationEssentials
import ObjectDatabase
import SyncClient
import SyncCore
import SyncServer
import Testing

@Suite("A log that comes in parts")
struct StageTests {
  private static let partBytes = 200

  /// A server that has trimmed its log, a client that made it, and one that is new.
  private final class Parts {
    let network: TestNetwork
    /// Keeps the server's file open.
    private let file: RealmFile
    var old: TestNetwork.Client { network.clients[0] }
    var new: TestNetwork.Client { network.clients[1] }

    init(_ name: String) throws {
      let configuration = Realm.Configuration(
        inMemoryIdentifier: "\(name) server", objectTypes: TestFile.types)
      file = try RealmFile(configuration)
      try SyncServerStore.create(configuration, realm: "test", epoch: 1)
      var limits = SyncServerStore.Limits()
      limits.trimmedMin = 4
      limits.messageBytesMax = StageTests.partBytes
      network = TestNetwork(try SyncServerStore(file.database, limits: limits, file: file))
      try network.addClient(try TestFile("\(name) old"))
      for number in 0..<12 {
        try write(number)
        try network.settle()
      }
      try network.trim()
      #expect(try #require(network.store).keptFrom > .zero)
      try network.addClient(try TestFile("\(name) new"))
    }

    func write(_ number: Int) throws {
      let realm = old.realm
      try realm.write { realm.create(Thing.self, value: ["id": number, "number": number]) }
    }

    /// Connects the new client.
    /// - Returns: What it then asks for.
    func connect() throws -> (log: UInt128, index: UInt64)? {
      try network.connect(new)
      try network.deliver(new, up: true)
      try network.deliver(new, up: false)
      guard case .wants(let log, let index)? = new.toServer.last else { return nil }
      return (log, index)
    }

    var partCount: Int {
      get throws { try new.file.keptCounts().parts }
    }
  }

  @Test("is stored part by part, and goes on with the parts that are there")
  func resumed() throws {
    let parts = try Parts("resumed parts")
    let first = try #require(try parts.connect())
    #expect(first.index == 0)
    try parts.network.deliver(parts.new, up: true)
    for number in 1...3 {
      let before = try parts.new.file.version()
      try parts.network.deliver(parts.new, up: false)
      #expect(try parts.partCount == number)
      #expect(try parts.new.file.version() == before + 1)
      #expect(try parts.new.file.state() == SyncState())
    }
    // A part that comes again, and one that comes too early, change nothing.
    let early = try #require(parts.new.toClient.dropFirst().first)
    try parts.network.step(parts.new, .message(early))
    #expect(try parts.partCount == 3)
    // The app writes meanwhile; the agent ends, and the server has new entries.
    try parts.new.realm.write {
      parts.new.realm.create(Tag.self, value: ["name": "own"])
    }
    parts.new.agent = try parts.new.file.agent()
    try parts.network.disconnect(parts.new)
    try parts.write(99)
    try parts.network.settle(parts.old)
    let again = try #require(try parts.connect())
    #expect(again.log == first.log && again.index == 3)
    try parts.network.settle()
    let state = try parts.network.state
    #expect(try parts.new.file.state() == state && parts.old.file.state() == state)
    #expect(state.objects[SyncObject("Tag", .text("own"))] != nil)
    #expect(try parts.partCount == 0)
    #expect(try parts.new.agent.breach() == nil)
  }

  @Test("is asked for again, eight parts at a time, until the last one")
  func windows() throws {
    let parts = try Parts("windows of parts")
    try parts.old.realm.write {
      for number in 200..<240 { parts.old.realm.create(Thing.self, value: ["id": number]) }
    }
    try parts.network.settle(parts.old)
    try parts.network.trim()
    #expect(try parts.connect()?.index == 0)
    var asked: [UInt64] = []
    var partCount = 0
    for _ in 0..<10_000 where !parts.new.agent.isLive {
      if let message = parts.new.toServer.first, case .wants(_, let index) = message {
        asked.append(index)
      }
      if try !parts.network.deliver(parts.new, up: true) {
        if case .part? = parts.new.toClient.first { partCount += 1 }
        try parts.network.deliver(parts.new, up: false)
      }
    }
    #expect(partCount > 16)
    #expect(asked == Array(stride(from: 0, to: UInt64(partCount), by: 8)))
    try parts.network.settle()
    #expect(try parts.new.file.state() == parts.network.state)
  }

  @Test("is dropped when it cannot be read, and asked for anew (I14)")
  func unreadable() throws {
    let parts = try Parts("unreadable parts")
    let first = try #require(try parts.connect())
    try parts.network.deliver(parts.new, up: true)
    try parts.network.deliver(parts.new, up: false)
    func part(_ log: UInt128, _ index: UInt64, isLast: Bool = true) -> ClientInput {
      .message(.part(SyncLogPart(log: log, index: index, isLast: isLast, bytes: [1, 2, 3])))
    }
    // Of a log that was not offered.
    try parts.network.step(parts.new, part(first.log ^ 1, 1))
    #expect(try parts.partCount == 1)
    try parts.network.step(parts.new, part(first.log, 1))
    #expect(try parts.partCount == 0 && parts.new.session == nil)
    #expect(
      parts.new.news.contains { if case .diverged = $0 { true } else { false } })
    #expect(try parts.new.file.state() == SyncState())
    try parts.network.settle()
    #expect(try parts.new.file.state() == parts.network.state)
    // After the welcome, and without one, parts mean nothing.
    let version = try parts.new.file.version()
    try parts.network.step(parts.new, part(first.log, 0, isLast: false))
    try parts.network.disconnect(parts.new)
    try parts.network.step(parts.new, part(first.log, 0, isLast: false))
    #expect(try parts.new.file.version() == version)
  }

  @Test("is dropped when its parts do not end")
  func endless() throws {
    let parts = try Parts("endless parts")
    parts.new.agent.logBytesMax = 3 * Self.partBytes - 1
    _ = try parts.connect()
    try parts.network.deliver(parts.new, up: true)
    for number in 1...2 {
      try parts.network.deliver(parts.new, up: false)
      #expect(try parts.partCount == number)
    }
    try parts.network.deliver(parts.new, up: false)
    #expect(try parts.partCount == 0 && parts.new.session == nil)
    #expect(
      parts.new.news.contains { if case .diverged = $0 { true } else { false } })
    #expect(try parts.new.file.state() == SyncState())
  }

  @Test("replaces the parts of another one")
  func replaced() throws {
    let parts = try Parts("replaced parts")
    _ = try parts.connect()
    try parts.network.deliver(parts.new, up: true)
    for _ in 0..<3 { try parts.network.deliver(parts.new, up: false) }
    #expect(try parts.partCount == 3)
    // Nobody asks for so long that the server offers the log of then.
    try parts.network.disconnect(parts.new)
    try parts.write(99)
    try parts.network.settle(parts.old)
    parts.network.pass(milliseconds: 1_000_000)
    let asked = try #require(try parts.connect())
    try #require(asked.index == 0)
    try parts.network.deliver(parts.new, up: true)
    try parts.network.deliver(parts.new, up: false)
    try parts.network.settle()
    #expect(try parts.partCount == 0)
    #expect(try parts.new.file.state() == parts.network.state)
  }
}
