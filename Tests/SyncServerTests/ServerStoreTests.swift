// ServerStoreTests.swift: the file of a server: lives of clients through it, with an auditor; what
// is refused; what is kept; copies and restored files.

import Engine
import FoundationEssentials
import ObjectDatabase
import Requirements
import SyncCore
import SyncServer
import Testing

@Suite("The file of a server")
struct ServerStoreTests {
  @Test("has the state of its log, whatever clients do, and so have they at rest (I1, I2, I6)")
  func lives() throws {
    let lives = FullSize.isOn ? 300 : 6
    var entries: UInt64 = 0
    for seed in 0..<UInt64(lives) { entries += try life(seed) }
    #expect(entries > UInt64(20 * lives))
  }

  private func life(_ seed: UInt64) throws -> UInt64 {
    let configuration = TestServer.memory("server life \(seed)")
    var limits = SyncServerStore.Limits()
    limits.trimmedMin = 8
    let server = try TestServer(configuration, limits: limits)
    for _ in 0..<3 { server.addClient() }
    var random = TestRandom(seed: seed &* 3 &+ 1)
    for step in 0..<160 {
      let number = random.below(server.clients.count)
      switch random.below(24) {
      case 0..<7: server.write(number)
      case 7: try server.connect(number)
      case 8: if random.below(2) == 0 { server.hangUp(number) }
      case 9: server.step(number, .tick)
      case 10: if random.below(3) == 0 { try server.restart(configuration, limits: limits) }
      case 11: if server.clients.count < 5, random.below(3) == 0 { server.addClient() }
      case 12: try server.serve([.trim])
      case 13: if random.below(5) == 0 { try server.serve([.expire(SyncClient(1))]) }
      case 14: if random.below(2) == 0 { try server.settle("seed \(seed), step \(step)") }
      case 15..<20: try server.deliverUp(Array(0...number))
      default: try server.deliverDown(number)
      }
      if step % 8 == 0 { try server.check("seed \(seed), step \(step)") }
    }
    try server.settle("seed \(seed)")
    #expect(server.refusals == [], "seed \(seed)")
    for client in server.clients {
      let isDiverged = client.news.contains { if case .diverged = $0 { true } else { false } }
      #expect(!isDiverged, "seed \(seed)")
    }
    return server.store.head.number
  }

  // MARK: refusals

  /// Changesets that no client of ours makes, and why they have no effect.
  private static let refused: [(name: String, why: SyncRefusal, operations: [SyncOperation])] = {
    let dog = DogDraw.dog(9)
    let known = DogDraw.dog(0)
    let make = DogDraw.make(dog)
    func change(_ property: SyncText, _ change: SyncChange) -> [SyncOperation] {
      [.change(DogDraw.field(known, property), change)]
    }
    func inner(_ steps: [SyncStep], _ property: SyncText) -> [SyncOperation] {
      [.change(SyncField(known, steps, property), .set(.int(1)))]
    }
    let collar = DogDraw.fill(known, SyncStep("collar"), size: 3)
    return [
      ("a class", .unknownName, [.create(SyncObject("Cat", .int(1)))]),
      ("an embedded class", .unknownName, [.create(SyncObject("Collar", .int(1)))]),
      ("a table of ours", .unknownName, [.delete(SyncObject("__sync", .int(0)))]),
      ("a property", .unknownName, change("tail", .set(.int(1)))),
      ("an inner property", .unknownName, inner([SyncStep("collar")], "weight")),
      ("a key of another type", .otherType, [.create(SyncObject("Dog", .text("1")))]),
      ("no key", .otherType, [.create(SyncObject("Dog", .null))]),
      ("the key as a property", .otherType, change("id", .set(.int(4)))),
      ("a text for a number", .otherType, change("age", .set(.text("4")))),
      ("null for a number", .otherType, change("age", .set(.null))),
      ("a list for a value", .otherType, change("age", .listClear)),
      ("a value for a list", .otherType, change("toys", .set(.text("x")))),
      (
        "numbers in a list of texts", .otherType, change("toys", .listAssign([.text(""), .int(1)]))
      ),
      ("an increment of a text", .otherType, change("name", .increment(1))),
      ("a link to another class", .otherType, change("owner", .set(.link(known)))),
      ("a link in a mixed value", .otherType, change("any", .set(.link(known)))),
      ("an embedded object in place of a link", .otherType, change("owner", .set(.embedded))),
      ("a link in place of an embedded object", .otherType, change("collar", .set(.link(known)))),
      ("a step through a number", .otherType, inner([SyncStep("age")], "size")),
      ("a step of another kind", .otherType, inner([SyncStep("collar", .element(0))], "size")),
      ("a dog without an age", .incomplete, make.filter { $0 != make[1] }),
      ("a dog and nothing else", .incomplete, [.create(dog)]),
      ("a collar without a size", .incomplete, change("collar", .set(.embedded)) + [collar[1]]),
      (
        "a collar that moves before it is whole", .incomplete,
        change("collars", .listInsert(at: 0, [.embedded]))
          + change("collars", .listInsert(at: 0, [.embedded]))
          + DogDraw.fill(known, SyncStep("collars", .element(0)), size: 1)
      ),
      (
        "a date that is none", .notStorable,
        change("born", .set(.date(seconds: 1_000_000_000, nanoseconds: 3_000_000_000)))
      ),
    ]
  }()

  @Test("does not get what does not fit its classes; the session goes on (I19)")
  func refusals() throws {
    let server = try TestServer(TestServer.memory("refusals"))
    for _ in 0..<2 { server.addClient() }
    server.step(0, .commit(DogDraw.make(DogDraw.dog(0))))
    try server.settle()
    let state = try server.store.state()
    for (name, why, operations) in Self.refused {
      // A second client writes in the same transaction of the server.
      server.step(0, .commit(operations))
      let age = SyncChange.increment(1)
      server.step(1, .commit([.change(DogDraw.field(DogDraw.dog(0), "age"), age)]))
      try server.settle(name)
      #expect(server.refusals.last == why.rawValue, "\(name)")
      // What comes after it is accepted.
      server.step(0, .commit([.change(DogDraw.field(DogDraw.dog(0), "age"), .increment(-1))]))
      try server.settle(name)
      #expect(try server.store.state() == state, "\(name)")
    }
    #expect(server.refusals.count == Self.refused.count)
    let told = server.clients[0].news.count {
      if case .confirmed(let entry) = $0 { entry.refusal != nil } else { false }
    }
    #expect(told == Self.refused.count)
  }

  @Test(
    "reads its log once, however often a client uploads what cannot be stored (I19)",
    arguments: [50, 0])
  func repeatedRefusals(copiedAttempts: Int) throws {
    var limits = SyncServerStore.Limits()
    limits.copiedAttempts = copiedAttempts
    let configuration = TestServer.memory("repeated refusals \(copiedAttempts)")
    let server = try TestServer(configuration, limits: limits)
    for _ in 0..<2 { server.addClient() }
    server.step(0, .commit(DogDraw.make(DogDraw.dog(0))))
    try server.settle()
    let date = SyncValue.date(seconds: 1_000_000_000, nanoseconds: 3_000_000_000)
    let age = DogDraw.field(DogDraw.dog(0), "age")
    let uploads = 12
    for number in 1...uploads {
      server.step(0, .commit([.change(DogDraw.field(DogDraw.dog(0), "born"), .set(date))]))
      server.step(1, .commit([.change(age, .increment(1))]))
      // Both uploads are one transaction, which is undone.
      try server.deliverUp([0, 1])
      try server.settle("upload \(number)")
    }
    #expect(server.refusals == Array(repeating: SyncRefusal.notStorable.rawValue, count: uploads))
    let dog = try server.store.state().objects[DogDraw.dog(0)]
    #expect(dog?["age"].value?.value == .int(Int64(uploads)))
    // Without copies: when both uploads fail, and when the one does alone.
    #expect(server.store.rereadCount == (copiedAttempts > 0 ? 1 : 2 * uploads))
  }

  @Test("is not open to what its own validation refuses")
  func validation() throws {
    let server = try TestServer(
      TestServer.memory("validation"),
      validation: { $0.operations.count > 8 ? SyncRefusal.firstOfServer + 7 : nil })
    server.addClient()
    server.step(0, .commit(DogDraw.make(DogDraw.dog(0)) + DogDraw.make(DogDraw.dog(1))))
    server.step(0, .commit(DogDraw.make(DogDraw.dog(2))))
    try server.settle()
    #expect(server.refusals == [1007])
    #expect(try Set(server.store.state().objects.keys) == [DogDraw.dog(2)])
  }

  @Test("deletes with what nobody recorded, and leaves no link (I13)")
  func hiddenLinks() throws {
    var limits = SyncServerStore.Limits()
    limits.trimmedMin = 1
    let server = try TestServer(TestServer.memory("hidden links"), limits: limits)
    server.addClient()
    let (target, holder) = (DogDraw.dog(0), DogDraw.dog(1))
    server.step(0, .commit(DogDraw.make(target)))
    let link = SyncChange.listInsert(at: 0, [.link(target)])
    let linked: [SyncOperation] = [.change(DogDraw.field(holder, "friends"), link)]
    server.step(0, .commit(DogDraw.make(holder) + linked))
    try server.settle()
    // Entries about others push those out of the log.
    for number in 0..<6 {
      server.step(0, .commit([.create(DogDraw.owner("\(number)"))]))
      try server.settle()
    }
    #expect(server.store.keptCounts.objects < 5)
    server.step(0, .commit([.delete(target)]))
    try server.settle()
    let state = try server.store.state()
    #expect(state.danglingLinks.isEmpty && state.objects[holder]?["friends"].list == [])
  }

  // MARK: what is kept

  @Test("keeps a bounded log, while clients come and go for long (I16, I17)")
  func bounds() throws {
    let rounds = FullSize.isOn ? 52_000 : 20
    let increment = SyncOperation.change(DogDraw.field(DogDraw.dog(0), "age"), .increment(1))
    let configuration = TestServer.memory("bounds")
    var limits = SyncServerStore.Limits()
    limits.logBytesMax = 8_000
    let server = try TestServer(configuration, limits: limits)
    for _ in 0..<3 { server.addClient() }
    var (entriesMax, bytesMax) = (0, 0)
    for round in 0..<rounds {
      // One of three is away with a changeset that it made, each for some rounds.
      let away = round / 7 % 3
      server.hangUp(away)
      if round % 7 == 0 { server.write(away) }
      for number in server.clients.indices where number != away {
        if server.clients[number].session == nil { try server.connect(number) }
        for _ in 0..<2 { server.write(number) }
        for _ in 0..<10 { server.step(number, .commit([increment])) }
        while !server.clients[number].toServer.isEmpty || !server.clients[number].toClient.isEmpty {
          try server.deliverUp([number])
          try server.deliverDown(number)
        }
      }
      if round % 4 == 3 { server.handle(try server.store.maintain(at: server.time)) }
      let kept = server.store.keptCounts
      entriesMax = max(entriesMax, kept.entries)
      bytesMax = max(bytesMax, kept.bytes)
      #expect(kept.bytes < 4 * limits.logBytesMax && kept.objects <= 8, "round \(round)")
    }
    try server.settle()
    print(
      "server bounds: \(server.store.head.number) entries, \(entriesMax) kept at most, "
        + "\(bytesMax) bytes")
    #expect(server.store.head.number > UInt64(20 * rounds) && entriesMax < 300)
    try server.restart(configuration)
    try server.settle("after a restart")
  }

  @Test("expires clients that were not seen for long, and gives them a new log (I16)")
  func expiry() throws {
    let server = try TestServer(TestServer.memory("expiry"))
    for _ in 0..<2 { server.addClient() }
    server.write(0)
    server.write(1)
    try server.settle()
    server.hangUp(0)
    server.write(0)
    for _ in 0..<40 { server.write(1) }
    try server.settle1(1)
    let before = server.store.keptCounts.entries
    server.handle(try server.store.maintain(at: server.time + 50, expiring: 100_000))
    #expect(server.store.keptCounts.entries == before)
    server.handle(try server.store.maintain(at: server.time + 100_000, expiring: 50_000))
    // One is connected, so it stays; its next entry moves the barrier.
    #expect(server.clients[1].session != nil)
    server.write(1)
    try server.settle1(1)
    server.handle(try server.store.maintain(at: server.time))
    #expect(server.store.keptCounts.entries < 8)
    try server.settle()
    let rebased = server.clients[0].news.count { if case .rebased = $0 { true } else { false } }
    // When it was new, and now.
    #expect(rebased == 2)
  }

  // MARK: copies

  @Test("is restored from a backup with another epoch, which clients notice (I20)")
  func backup() throws {
    let folder = try OwnFolder()
    let (path, copy) = (folder.path + "/a.realm", folder.path + "/b.realm")
    let server = try TestServer(TestServer.disk(path))
    for _ in 0..<2 { server.addClient() }
    for _ in 0..<20 { server.write(0) }
    try server.settle()
    try server.store.backUp(to: copy)
    let saved = server.audited
    #expect(throws: EngineError.self) { try SyncServerStore(TestServer.disk(copy)) }
    #expect(throws: EngineError.self) {
      try SyncServerStore.restore(TestServer.disk(copy), epoch: 1)
    }
    // A transaction that only the lost server had, and one that nobody has seen.
    let lost = DogDraw.make(SyncObject("Dog", .int(77)))
    server.step(0, .commit(lost))
    try server.settle()
    for number in 0..<2 { server.hangUp(number) }
    server.step(1, .commit(DogDraw.make(SyncObject("Dog", .int(78)))))
    try SyncServerStore.restore(TestServer.disk(copy), epoch: 2)
    try server.restart(TestServer.disk(copy))
    server.audit(from: saved)
    try server.settle("restored")
    let state = try server.store.state()
    #expect(state.objects[SyncObject("Dog", .int(77))] == nil)
    #expect(state.objects[SyncObject("Dog", .int(78))] != nil)
    for client in server.clients {
      let isTold = client.news.contains {
        if case .serverWentBack = $0 { true } else { false }
      }
      #expect(isTold && client.machine.file.epoch == 2)
    }
  }

  @Test("is served once at a time, and is nothing but a server's file")
  func files() throws {
    let folder = try OwnFolder()
    let configuration = TestServer.disk(folder.path + "/a.realm")
    #expect(throws: EngineError.self) { try SyncServerStore(configuration) }
    try SyncServerStore.create(configuration, realm: "dogs", epoch: 1)
    #expect(throws: EngineError.self) {
      try SyncServerStore.create(configuration, realm: "cats", epoch: 1)
    }
    let store = try SyncServerStore(configuration)
    #expect(store.realm == "dogs")
    #expect {
      try SyncServerStore(configuration)
    } throws: {
      ($0 as? EngineError)?.code == .locked
    }
    // A program without a server may read it, and not write it.
    let realm = try Realm(configuration: configuration)
    #expect(realm.objects(Dog.self).isEmpty)
    #expect(throws: Realm.Error.self) { try realm.write { realm.deleteAll() } }
  }
}

extension TestServer {
  /// Delivers what one client has to say and to hear.
  func settle1(_ number: Int) throws {
    while !clients[number].toServer.isEmpty || !clients[number].toClient.isEmpty {
      try deliverUp([number])
      try deliverDown(number)
    }
  }
}
