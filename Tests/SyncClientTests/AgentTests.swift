// AgentTests.swift: files of several clients that synchronize through a server machine: at rest all
// have what the server has (I1), until then each sees its own transactions (I8), and programs that
// look at a file are told nothing but what changes.

import Engine
import ObjectDatabase
import Requirements
import SyncClient
import SyncCore
import Testing

@Suite("Files that synchronize")
struct AgentTests {
  @Test("come to one state, with their own changes in sight until then")
  func randomPrograms() throws {
    let lives = FullSize.isOn ? 400 : 3
    var entries = 0
    for seed in 0..<UInt64(lives) { entries += try life(seed) }
    print("entries of files: \(entries)")
    #expect(entries > 20 * lives)
  }

  private func life(_ seed: UInt64) throws -> Int {
    let network = TestNetwork()
    for number in 0..<3 { try network.addClient(try TestFile("agents \(seed) \(number)")) }
    var random = TestRandom(seed: seed ^ 0x5eed)
    var programs = network.clients.enumerated().map {
      RandomProgram(seed &* 31 &+ UInt64($0), $1.realm)
    }
    for step in 0..<120 {
      let number = random.below(3)
      let client = network.clients[number]
      switch random.below(20) {
      case 0..<6:
        client.realm.beginWrite()
        for _ in 0...random.below(3) { programs[number].change() }
        try client.realm.commitUnlessRefused()
        if random.below(2) == 0 { try network.step(client, nil) }
      case 6: try network.connect(client)
      case 7: if random.below(3) == 0 { try network.disconnect(client) }
      case 8:
        client.agent = try client.file.agent()
        try network.disconnect(client)
      case 9: try network.step(client, .tick)
      case 10: if random.below(4) == 0 { try network.trim() }
      case 11, 12:
        // What is here is the server's, and forgotten as a change; the next one begins with it.
        try network.settle()
      default:
        for _ in 0..<4 { try network.deliver(client, up: random.below(2) == 0) }
      }
      let breach = try client.agent.breach()
      try #require(breach == nil, "seed \(seed), step \(step): \(breach ?? "")")
    }
    try network.settle()
    for (number, client) in network.clients.enumerated() {
      let (state, expected) = (try client.file.state(), try network.state)
      try #require(
        state == expected,
        """
        seed \(seed), client \(number): \(RecorderTests.difference(expected, state))
        """)
      #expect(try client.file.pending().isEmpty)
      let diverged = client.news.contains { if case .diverged = $0 { true } else { false } }
      #expect(!diverged, "seed \(seed), client \(number)")
    }
    return Int(network.head.number)
  }

  @Test("follow a link in passing to an object that a pending changeset deletes (I8)")
  func linkInPassing() throws {
    let network = TestNetwork()
    for number in 0..<2 { try network.addClient(try TestFile("passing \(number)")) }
    let (one, other) = (network.clients[0], network.clients[1])
    try one.realm.write {
      one.realm.create(Thing.self, value: ["id": 2])
      one.realm.create(Tag.self, value: ["name": "c"])
    }
    try network.settle()
    try network.disconnect(one)
    one.realm.refresh()
    try one.realm.write { one.realm.delete(one.realm.objects(Thing.self)) }
    for isLinked in [true, false] {
      other.realm.refresh()
      try other.realm.write {
        other.realm.objects(Tag.self)[0].owner = isLinked ? other.realm.objects(Thing.self)[0] : nil
      }
      try network.settle(other)
    }
    // Both entries come at once, before the deletion is said.
    try network.settle()
    for client in network.clients {
      #expect(try client.agent.breach() == nil)
      #expect(try client.file.state() == network.state)
    }
  }

  @Test("keep nothing but their objects once all is said")
  func tablesAreEmptied() throws {
    let network = TestNetwork()
    for number in 0..<2 { try network.addClient(try TestFile("emptied \(number)")) }
    for round in 0..<20 {
      for client in network.clients {
        client.realm.refresh()
        try client.realm.write {
          for id in 0..<10 {
            client.realm.create(
              Thing.self, value: ["id": id, "number": round], update: .modified)
          }
        }
      }
      try network.settle()
    }
    for client in network.clients {
      let kept = try client.file.keptCounts()
      // What the last transactions of the two are concurrent with.
      #expect(kept.pending == 0 && kept.entries <= 4 && kept.objects <= 10)
    }
    for _ in 0..<4 {
      for client in network.clients {
        try client.realm.write { client.realm.create(Tag.self, value: ["name": "t"], update: .all) }
      }
      try network.settle()
    }
    for client in network.clients {
      let kept = try client.file.keptCounts()
      #expect(kept.pending == 0 && kept.entries <= 4 && kept.objects <= 1)
    }
  }

  @Test("keep no transaction that everybody has, however large it is")
  func largeTransactions() throws {
    let network = TestNetwork()
    for number in 0..<2 { try network.addClient(try TestFile("large \(number)")) }
    let (writer, other) = (network.clients[0], network.clients[1])
    try network.settle()
    let fill = { (client: TestNetwork.Client, first: Int, count: Int) in
      client.realm.refresh()
      try client.realm.write {
        for id in first..<first + count {
          client.realm.create(Thing.self, value: ["id": id, "number": id], update: .modified)
        }
      }
    }
    try fill(writer, 0, 400)
    try network.settle()
    for client in network.clients {
      let kept = try client.file.keptCounts()
      #expect(kept.pending == 0 && kept.entries <= 1 && kept.objects == 0)
    }
    // Objects that were made by then have an old state, and those that are made now have none.
    try fill(other, 390, 20)
    #expect(try other.file.keptCounts().objects == 10)
    try fill(other, 395, 20)
    #expect(try other.file.keptCounts().objects == 10)
    try fill(writer, 380, 15)
    for client in network.clients { #expect(try client.agent.breach() == nil) }
    try network.settle()
    for client in network.clients {
      #expect(try client.agent.breach() == nil && client.file.state() == network.state)
    }
  }

  @Test("goes on with what it knows, and stores what it does not know yet")
  func laterSteps() throws {
    let network = TestNetwork()
    for number in 0..<2 { try network.addClient(try TestFile("later \(number)")) }
    let client = network.clients[0]
    try client.realm.write {
      for id in 0..<9 { client.realm.create(Thing.self, value: ["id": id], update: .all) }
    }
    for other in network.clients {
      try network.settle()
      other.realm.refresh()
      try other.realm.write {
        other.realm.create(Tag.self, value: ["name": "t"], update: .all)
      }
    }
    try network.settle()
    client.realm.refresh()
    // The other one hears of nothing, so the barrier stays where it is.
    for number in 1..<5 {
      try client.realm.write {
        client.realm.create(Thing.self, value: ["id": number, "number": 7], update: .modified)
      }
      try network.step(client, nil)
      #expect(try client.agent.breach() == nil)
      for _ in 0..<4 {
        try network.deliver(client, up: true)
        try network.deliver(client, up: false)
        #expect(try client.agent.breach() == nil)
      }
      let kept = try client.file.keptCounts()
      #expect(kept.pending == 0 && kept.entries >= number && kept.objects >= number)
    }
    try network.settle()
    for other in network.clients { #expect(try other.file.state() == network.state) }
  }

  @Test("keeps the state before all changes, when only the first of them is in the log")
  func confirmedInPart() throws {
    let network = TestNetwork()
    for number in 0..<2 { try network.addClient(try TestFile("in part \(number)")) }
    let client = network.clients[0]
    try client.realm.write {
      client.realm.create(Stamp.self, value: ["name": "a"], update: .all)
    }
    try network.settle()
    for _ in 0..<3 {
      for other in network.clients {
        try other.realm.write { other.realm.create(Tag.self, value: ["name": "t"], update: .all) }
        try network.settle()
      }
    }
    client.realm.refresh()
    let stamp = try #require(client.realm.objects(Stamp.self).first)
    // A property, then all of it: the second one has an old state of the whole object.
    try client.realm.write { stamp.count = 9 }
    try client.realm.write { client.realm.delete(stamp) }
    let kept = try client.file.keptCounts()
    try network.step(client, nil)
    #expect(try client.agent.breach() == nil && kept.pending == 2)
    try network.deliver(client, up: true)
    while try client.file.pending().count == 2 {
      try #require(try network.deliver(client, up: false))
    }
    #expect(try client.file.pending().count == 1)
    #expect(try client.agent.breach() == nil)
    client.agent = try client.file.agent()
    #expect(try client.agent.breach() == nil, "what another agent reads")
    try network.disconnect(client)
    try network.settle()
    for other in network.clients { #expect(try other.file.state() == network.state) }
  }
}
