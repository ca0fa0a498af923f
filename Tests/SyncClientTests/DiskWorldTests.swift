// DiskWorldTests.swift: a server and clients, each with a file of the engine on a disk that loses
// power at drawn operations, is copied and restored. At rest all have what the server has (I1);
// what the server said is on its disk after any crash (I5); what an app was told is durable is
// there (I7).

import Engine
import FoundationEssentials
import ObjectDatabase
import Requirements
import SyncClient
import SyncCore
import SyncServer
import Testing

@Suite("Files on disks that lose power")
struct DiskWorldTests {
  @Test("come to one state, with everything that was told to be durable (I1, I5, I7, I20, I21)")
  func lives() throws {
    // In the last three an agent once kept entries of a log that a restored server had replaced,
    // linked to an object that was created and deleted by the same entries, and to one that it had
    // deleted itself; before them a log came in parts.
    let first = FullSize.setting("DISK_WORLDS_FROM", 0)
    let large = first..<first + FullSize.setting("DISK_WORLDS", 300)
    let seeds = FullSize.isOn ? Array(large) : [0, 1, 41_000_025, 31, 98, 42_000_015] as [UInt64]
    let lives = seeds.count
    var total = DiskWorld.Counts()
    for seed in seeds {
      let world = try DiskWorld(seed: seed)
      do { try world.live(steps: 150) } catch {
        Issue.record("seed \(seed): \(error)")
        break
      }
      total.add(world.counts)
    }
    print("disk worlds: \(total)")
    #expect(total.serverCrashes > lives / 2 && total.clientCrashes > lives / 2)
    #expect(total.entries > 10 * lives)
  }
}

/// A server and clients on disks.
private final class DiskWorld {
  struct Counts: CustomStringConvertible {
    var entries = 0
    var serverCrashes = 0
    var clientCrashes = 0
    var restores = 0
    var clones = 0

    mutating func add(_ other: Counts) {
      entries += other.entries
      serverCrashes += other.serverCrashes
      clientCrashes += other.clientCrashes
      restores += other.restores
      clones += other.clones
    }

    var description: String {
      "\(entries) entries, \(serverCrashes) crashes of servers, \(clientCrashes) of clients, "
        + "\(restores) servers restored, \(clones) clients restored"
    }
  }

  private let seed: UInt64
  private var random: TestRandom
  private let folder: String
  private let serverDisk = TestDisk()
  private var disks: [TestDisk] = []
  private var programs: [RandomProgram] = []
  private let network = TestNetwork()
  private var epoch: UInt64 = 1
  private var openCount = 0
  private var serverCopy: [UInt8]?
  private var copies: [Int: [UInt8]] = [:]
  private(set) var counts = Counts()

  init(seed: UInt64) throws {
    self.seed = seed
    random = TestRandom(seed: seed ^ 0xd15c)
    folder = try TestFolder.make()
    try SyncServerStore.create(configuration(serverDisk, "server"), realm: "test", epoch: epoch)
    try network.replace(try openServer())
    for number in 0..<3 {
      disks.append(TestDisk())
      try network.addClient(try TestFile(opening: configuration(disks[number], "c\(number)")))
      programs.append(RandomProgram(seed &* 31 &+ UInt64(number), network.clients[number].realm))
    }
  }

  deinit {
    do { try FileManager.default.removeItem(atPath: folder) } catch {
      Issue.record("\(folder) cannot be removed: \(error)")
    }
  }

  private func configuration(_ disk: TestDisk, _ name: String) -> Realm.Configuration {
    // Another name each time: an agent that has lost power holds the lock on its own.
    openCount += 1
    var configuration = Realm.Configuration(
      fileURL: URL(filePath: folder + "/\(name)-\(openCount).realm"),
      objectTypes: TestFile.types)
    configuration.engineOpener = disk.opener()
    return configuration
  }

  private func openServer() throws -> SyncServerStore {
    var limits = SyncServerStore.Limits()
    limits.trimmedMin = 8
    let file = try RealmFile(configuration(serverDisk, "server"))
    return try SyncServerStore(file.database, limits: limits)
  }

  // MARK: a life

  func live(steps: Int) throws {
    for step in 0..<steps {
      do { try happen() } catch {
        guard serverDisk.hasFailed || disks.contains(where: \.hasFailed) else { throw error }
      }
      try restart("seed \(seed), step \(step)")
    }
    serverDisk.fail(after: nil)
    for disk in disks { disk.fail(after: nil) }
    for client in network.clients { try network.disconnect(client) }
    try network.settle()
    try judge()
  }

  private func happen() throws {
    let number = random.below(3)
    let client = network.clients[number]
    switch random.below(26) {
    case 0..<6:
      client.realm.beginWrite()
      for _ in 0...random.below(3) { programs[number].change() }
      try client.realm.commitUnlessRefused()
      if random.below(2) == 0 { try network.step(client, nil) }
    case 6: try network.connect(client)
    case 7: if random.below(3) == 0 { try network.disconnect(client) }
    case 8: try network.step(client, .tick)
    case 9: if random.below(4) == 0 { try network.trim() }
    case 10: if random.below(2) == 0 { try network.settle() }
    case 11: serverDisk.fail(after: random.below(40))
    case 12: disks[number].fail(after: random.below(40))
    case 13: serverCopy = serverDisk.bytes
    case 14: if random.below(4) == 0 { try restoreServer() }
    case 15: copies[number] = disks[number].bytes
    case 16: if random.below(2) == 0 { try restore(number) }
    default: for _ in 0..<4 { try network.deliver(client, up: random.below(2) == 0) }
    }
  }

  /// Restarts what has lost power.
  private func restart(_ comment: String) throws {
    if serverDisk.hasFailed {
      counts.serverCrashes += 1
      serverDisk.restart(&random)
      let store = try openServer()
      let breach = try store.breach()
      try #require(breach == nil, "\(comment): \(breach ?? "")")
      // Who was told of an entry finds it (I5).
      for entry in network.saidEntries.values.sorted(by: { $0.version < $1.version })
      where entry.version > store.keptFrom {
        let found = store.entries.first { $0.version == entry.version }
        try #require(found == entry, "\(comment): entry \(entry.version.number) is lost")
      }
      for (client, sequence) in network.saidSequences {
        try #require(
          store.lastSequence(of: client) >= sequence,
          "\(comment): changeset \(sequence) of client \(client.number) is lost")
      }
      try network.replace(store)
    }
    for number in disks.indices where disks[number].hasFailed {
      counts.clientCrashes += 1
      disks[number].restart(&random)
      try reopen(number)
      let client = network.clients[number]
      let breach = try client.agent.breach()
      try #require(breach == nil, "\(comment), client \(number): \(breach ?? "")")
      // What was committed is there, or confirmed meanwhile (I7).
      let kept = try client.file.pending()
      let known = network.knownPending[ObjectIdentifier(client)] ?? []
      let isLonger = kept.starts(with: known)
      let missing = known.dropLast(kept.count)
      let isCut =
        known.suffix(kept.count) == kept[...]
        && missing.allSatisfy { network.saidSequences[$0.client] ?? 0 >= $0.sequence }
      try #require(
        isCut || isLonger || network.wasWelcomed.contains(ObjectIdentifier(client)),
        "\(comment), client \(number): \(known.count) pending, then \(kept.count)")
    }
    for client in network.clients { try network.notePending(client) }
  }

  private func reopen(_ number: Int) throws {
    let file = try TestFile(opening: configuration(disks[number], "c\(number)"))
    try network.replace(network.clients[number], with: file)
    programs[number] = RandomProgram(
      random.next() >> 8, network.clients[number].realm)
  }

  private func restoreServer() throws {
    guard let serverCopy else { return }
    counts.restores += 1
    serverDisk.restart(with: serverCopy)
    epoch += 1
    let file = try RealmFile(configuration(serverDisk, "server"))
    try SyncServerStore.restore(file.database, epoch: epoch)
    network.forgetSaid()
    try network.replace(try openServer())
  }

  private func restore(_ number: Int) throws {
    guard let copy = copies[number] else { return }
    counts.clones += 1
    disks[number].restart(with: copy)
    try reopen(number)
  }

  private func judge() throws {
    let expected = try network.state
    for (number, client) in network.clients.enumerated() {
      let state = try client.file.state()
      try #require(
        state == expected,
        "seed \(seed), client \(number): \(RecorderTests.difference(expected, state))")
      #expect(try client.file.pending().isEmpty)
      let isDiverged = client.news.contains { if case .diverged = $0 { true } else { false } }
      #expect(!isDiverged, "seed \(seed), client \(number)")
    }
    let breach = try network.store?.breach()
    #expect(breach == nil, "seed \(seed)")
    let refused = network.saidEntries.values.filter { $0.refusal != nil }
    #expect(refused.isEmpty, "seed \(seed)")
    counts.entries += Int(network.head.number)
  }
}
