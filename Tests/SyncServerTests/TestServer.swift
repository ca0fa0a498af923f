// TestServer.swift: a server with its file, clients as values, and the messages between them as
// bytes; an auditor sees every entry.

import Engine
import FoundationEssentials
import ObjectDatabase
import Requirements
import SyncCore
import SyncServer
import Testing

/// A folder that goes with its owner.
final class OwnFolder {
  let path: String
  init() throws { path = try TestFolder.make() }

  deinit {
    do { try FileManager.default.removeItem(atPath: path) } catch {
      Issue.record("\(path) cannot be removed: \(error)")
    }
  }
}

/// A server and clients.
final class TestServer {
  struct Client {
    var machine = ClientMachine(ClientFile())
    var session: UInt64?
    var toServer: [[UInt8]] = []
    var toClient: [[UInt8]] = []
    var news: [ClientNews] = []
    /// The welcome whose log comes in parts.
    var offer: SyncWelcome?
    /// The name of the last offered log, its parts, and how many there are.
    var staged: (log: UInt128, bytes: [UInt8], count: UInt64) = (0, [], 0)
    /// The parts that it got, all in all.
    var partCount = 0
    var draw: DogDraw
  }

  static func memory(_ name: String) -> Realm.Configuration {
    Realm.Configuration(
      inMemoryIdentifier: name, objectTypes: [Dog.self, Owner.self, Collar.self])
  }

  static func disk(_ path: String) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(filePath: path), objectTypes: [Dog.self, Owner.self, Collar.self])
  }

  /// Keeps a file in memory open.
  private var file: RealmFile?
  private(set) var store: SyncServerStore
  var clients: [Client] = []
  private(set) var audited = PlainRealm()
  private(set) var auditedHead: UInt64 = 0
  private(set) var refusals: [UInt32] = []
  /// Whether entries are kept when the server trims them.
  var isExporting = false
  /// All entries since the beginning, while they are exported.
  private(set) var exported: [SyncEntry] = []
  private var lastSession: UInt64 = 0
  private(set) var time: UInt64 = 1000

  init(
    _ configuration: Realm.Configuration, isNew: Bool = true,
    limits: SyncServerStore.Limits = .init(), validation: SyncServerStore.Validation? = nil
  ) throws {
    file = try RealmFile(configuration)
    if isNew { try SyncServerStore.create(configuration, realm: "dogs", epoch: 1) }
    store = try SyncServerStore(configuration, limits: limits, validation: validation)
  }

  /// Lets another server go on, maybe with another file.
  func restart(_ configuration: Realm.Configuration, limits: SyncServerStore.Limits = .init())
    throws
  {
    for number in clients.indices { drop(number) }
    let next = try RealmFile(configuration)
    file = next
    // The lock of the old one goes with it.
    store = try SyncServerStore(next.database, limits: limits)
    auditedHead = min(auditedHead, store.head.number)
  }

  /// Begins the audit anew, with a state that is known to be right.
  func audit(from realm: PlainRealm) {
    audited = realm
    auditedHead = store.head.number
  }

  @discardableResult
  func addClient() -> Int {
    clients.append(Client(draw: DogDraw(seed: UInt64(clients.count) &* 77 &+ 5)))
    return clients.count - 1
  }

  // MARK: the server

  func serve(_ inputs: [ServerInput]) throws {
    time += 1
    handle(try store.step(inputs, at: time))
    try audit()
  }

  func handle(_ replies: [ServerReply]) {
    for reply in replies {
      switch reply {
      case .send(let session, let message): send(message, session)
      case .bootstrap(let session, let bootstrap, let index):
        do {
          for message in try bootstrap.messages(from: index) { send(message, session) }
        } catch { Issue.record("\(error)") }
      case .close(let session):
        if let number = clients.firstIndex(where: { $0.session == session }) { drop(number) }
      }
    }
  }

  private func send(_ message: SyncMessage, _ session: UInt64) {
    guard let number = clients.firstIndex(where: { $0.session == session }) else { return }
    clients[number].toClient += SyncFrames.frames(of: message.encoded())
  }

  /// Folds the entries that are new; those trimmed meanwhile were folded before.
  private func audit() throws {
    let known = auditedHead
    for entry in store.entries.suffix(Int(store.head.number - min(known, store.head.number)))
    where entry.version.number == auditedHead + 1 {
      audited.fold(entry)
      if isExporting { exported.append(entry) }
      auditedHead += 1
      if let refusal = entry.refusal { refusals.append(refusal) }
    }
    try #require(auditedHead == store.head.number)
  }

  // MARK: clients

  func connect(_ number: Int) throws {
    hangUp(number)
    lastSession += 1
    clients[number].session = lastSession
    try serve([.opened(session: lastSession, random: lastSession * 8)])
    step(number, .connected)
  }

  /// Ends a connection without the server.
  private func drop(_ number: Int) {
    guard clients[number].session != nil else { return }
    clients[number].session = nil
    clients[number].toServer = []
    clients[number].toClient = []
    step(number, .closed)
  }

  func hangUp(_ number: Int) {
    guard let session = clients[number].session else { return }
    drop(number)
    do { try serve([.closed(session: session)]) } catch { Issue.record("\(error)") }
  }

  func step(_ number: Int, _ input: ClientInput) {
    time += 1
    var outputs = clients[number].machine.step(input, at: time)
    while !outputs.isEmpty {
      let output = outputs.removeFirst()
      switch output {
      case .send(let message):
        clients[number].toServer += SyncFrames.frames(of: message.encoded())
      case .store: outputs += clients[number].machine.step(.stored, at: time)
      case .tell(let news): clients[number].news.append(news)
      case .close: hangUp(number)
      }
    }
  }

  /// A transaction of a client.
  func write(_ number: Int) {
    let state = clients[number].machine.file.visible
    step(number, .commit(clients[number].draw.draw(state)))
  }

  /// Delivers what some clients say, in one transaction of the server.
  func deliverUp(_ numbers: [Int]) throws {
    var inputs: [ServerInput] = []
    for number in numbers {
      guard let session = clients[number].session, !clients[number].toServer.isEmpty else {
        continue
      }
      var reader = SyncFrames.Reader(bytesMax: SyncLimits.uploadBytesMax)
      let frame = clients[number].toServer.removeFirst()
      let bytes = try #require(try reader.take(frame))
      inputs.append(
        .message(session: session, try SyncMessage(decoding: bytes, isUp: true)))
    }
    if !inputs.isEmpty { try serve(inputs) }
  }

  func deliverDown(_ number: Int) throws {
    guard clients[number].session != nil else { return }
    var reader = SyncFrames.Reader(bytesMax: SyncLimits.messageBytesMax)
    while !clients[number].toClient.isEmpty {
      guard let bytes = try reader.take(clients[number].toClient.removeFirst()) else { continue }
      try hear(number, try SyncMessage(decoding: bytes, isUp: false))
      return
    }
  }

  /// A client takes a message; it joins the parts of a log, as an agent does.
  private func hear(_ number: Int, _ message: SyncMessage) throws {
    switch message {
    case .welcome(let welcome) where welcome.offered != nil:
      guard clients[number].machine.isGreeting, let log = welcome.offered else { return }
      clients[number].offer = welcome
      if clients[number].staged.log != log { clients[number].staged = (log, [], 0) }
      ask(number)
    case .part(let part):
      let staged = clients[number].staged
      guard var welcome = clients[number].offer, clients[number].machine.isGreeting,
        staged.log == part.log, staged.count == part.index
      else { return }
      clients[number].partCount += 1
      guard part.isLast else {
        clients[number].staged = (staged.log, staged.bytes + part.bytes, staged.count + 1)
        if (staged.count + 1) % SyncBootstrap.window == 0 { ask(number) }
        return
      }
      welcome.offered = nil
      welcome.log = try SyncMerger(decodingLog: staged.bytes + part.bytes)
      clients[number].offer = nil
      step(number, .message(.welcome(welcome)))
    default: step(number, .message(message))
    }
  }

  private func ask(_ number: Int) {
    let staged = clients[number].staged
    clients[number].toServer += SyncFrames.frames(
      of: SyncMessage.wants(log: staged.log, from: staged.count).encoded())
  }

  /// Connects everybody, and delivers until nothing is left to say; then all agree (I1).
  func settle(_ comment: String = "") throws {
    for number in clients.indices where clients[number].session == nil { try connect(number) }
    var waits = 0
    for _ in 0..<10_000 {
      let isQuiet = clients.allSatisfy {
        $0.toServer.isEmpty && $0.toClient.isEmpty && $0.session != nil
      }
      if isQuiet {
        guard waits < 3 else { break }
        waits += 1
        for number in clients.indices where clients[number].machine.file.log.head != store.head {
          step(number, .tick)
        }
      }
      for number in clients.indices where clients[number].session == nil { try connect(number) }
      try deliverUp(Array(clients.indices))
      for number in clients.indices { try deliverDown(number) }
    }
    let state = try store.state()
    for number in clients.indices {
      let file = clients[number].machine.file
      try #require(file.pending.isEmpty && file.log.head == store.head, "\(comment) \(number)")
      try #require(file.log.state == state, "\(comment): client \(number)")
    }
    try check(comment)
  }

  /// The file is as the machine, and as what the auditor has.
  func check(_ comment: String = "") throws {
    let breach = try store.breach()
    try #require(breach == nil, "\(comment): \(breach ?? "")")
    try #require(PlainRealm(try store.state()) == audited.sorted, "\(comment): the audit differs")
  }
}
