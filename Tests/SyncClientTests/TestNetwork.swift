// TestNetwork.swift: a server, as a machine or with a file, and the agents of several files, with
// messages between them that a test delivers. The messages of a server with a file travel as bytes.

import Engine
import ObjectDatabase
import SyncClient
import SyncCore
import SyncServer
import Testing

/// A server and clients.
final class TestNetwork {
  /// A client with its file.
  final class Client {
    private(set) var file: TestFile
    private(set) var realm: Realm
    var agent: SyncAgent
    var session: UInt64?
    /// Messages on their way.
    var toServer: [SyncMessage] = []
    var toClient: [SyncMessage] = []
    var news: [ClientNews] = []

    init(_ file: TestFile) throws {
      self.file = file
      realm = try file.realm()
      agent = try file.agent()
    }

    /// Goes on with a file, in a new process as it were.
    fileprivate func reopen(_ file: TestFile) throws {
      self.file = file
      realm = try file.realm()
      agent = try file.agent()
    }
  }

  private(set) var server = ServerMachine(ServerFile(epoch: 1))
  /// The server with its file; nil where it is the machine above.
  private(set) var store: SyncServerStore?
  private(set) var clients: [Client] = []
  private var lastSession: UInt64 = 0
  private var time: UInt64 = 1_000

  init(_ store: SyncServerStore? = nil) { self.store = store }

  /// Lets another server go on, maybe with an older file; connections end.
  func replace(_ store: SyncServerStore?) throws {
    self.store = store
    for client in clients where client.session != nil {
      client.session = nil
      client.toServer = []
      client.toClient = []
      try step(client, .closed)
    }
  }

  /// A client's process has ended, and another one goes on with its file.
  func replace(_ client: Client, with file: TestFile) throws {
    let session = client.session
    client.session = nil
    client.toServer = []
    client.toClient = []
    try client.reopen(file)
    if let session { try serve(.closed(session: session)) }
  }

  /// Lets time pass.
  func pass(milliseconds: UInt64) { time += milliseconds }

  func addClient(_ file: TestFile) throws { clients.append(try Client(file)) }

  /// What the server has.
  var state: SyncState {
    get throws { try store?.state() ?? server.file.log.state }
  }

  /// How many entries there are.
  var head: SyncVersion { store?.head ?? server.file.log.head }

  private func serve(_ input: ServerInput) throws {
    guard let store else { return try take(server.step(input, at: time)) }
    for reply in try store.step([input], at: time) {
      switch reply {
      case .send(let session, let message): try send(message, session)
      case .bootstrap(let session, let bootstrap, let index):
        for message in try bootstrap.messages(from: index) { try send(message, session) }
      case .close(let session):
        if let client = clients.first(where: { $0.session == session }) { try disconnect(client) }
      }
    }
  }

  // MARK: what was said

  /// The entries that a server with a file has sent.
  private(set) var saidEntries: [SyncVersion: SyncEntry] = [:]
  /// The last changesets that it has acknowledged, by client.
  private(set) var saidSequences: [SyncClient: UInt64] = [:]
  /// What was pending in each client's file after the last event.
  private(set) var knownPending: [ObjectIdentifier: [SyncChangeset]] = [:]
  /// The clients that got a log or a number since then.
  private(set) var wasWelcomed: Set<ObjectIdentifier> = []

  /// Another server may have lost what was said.
  func forgetSaid() {
    saidEntries = [:]
    saidSequences = [:]
  }

  func notePending(_ client: Client) throws {
    knownPending[ObjectIdentifier(client)] = try client.file.pending()
    wasWelcomed.remove(ObjectIdentifier(client))
  }

  private func note(_ message: SyncMessage, _ client: Client) {
    switch message {
    case .entries(let entries):
      for entry in entries {
        saidEntries[entry.version] = entry
        let author = entry.changeset.client
        saidSequences[author] = max(saidSequences[author] ?? 0, entry.changeset.sequence)
      }
    case .welcome(let welcome):
      if let log = welcome.log { for entry in log.entries { saidEntries[entry.version] = entry } }
    default: return
    }
  }

  private func send(_ message: SyncMessage, _ session: UInt64) throws {
    let client = clients.first { $0.session == session }
    if let client { note(message, client) }
    client?.toClient.append(try Self.travelled(message, isUp: false))
  }

  /// A message that was bytes in between.
  private static func travelled(_ message: SyncMessage, isUp: Bool) throws -> SyncMessage {
    try SyncMessage(decoding: message.encoded(), isUp: isUp)
  }

  func connect(_ client: Client) throws {
    try disconnect(client)
    lastSession += 1
    client.session = lastSession
    try serve(.opened(session: lastSession, random: lastSession * 7 + 1))
    try step(client, .connected)
  }

  func disconnect(_ client: Client) throws {
    guard let session = client.session else { return }
    client.session = nil
    client.toServer = []
    client.toClient = []
    try serve(.closed(session: session))
    try step(client, .closed)
  }

  /// Lets an agent act: on an input, or on what was committed.
  func step(_ client: Client, _ input: ClientInput?) throws {
    time += 1
    client.file.clock.set(time)
    switch input {
    // A log may come in parts.
    case .message(.welcome)?, .message(.part)?: wasWelcomed.insert(ObjectIdentifier(client))
    default: break
    }
    let before = try client.file.version()
    let outputs = try client.agent.step(input)
    // Rows and what is kept beside them are one version (I11).
    try #require(client.file.version() <= before + 1)
    for output in outputs {
      switch output {
      case .send(let message): client.toServer.append(message)
      case .tell(let news): client.news.append(news)
      case .close: try disconnect(client)
      case .store: preconditionFailure("an agent stores by itself")
      }
    }
  }

  /// Delivers the next message of a client in one direction.
  /// - Returns: Whether there was one.
  @discardableResult
  func deliver(_ client: Client, up: Bool) throws -> Bool {
    guard let session = client.session else { return false }
    time += 1
    if up {
      guard !client.toServer.isEmpty else { return false }
      let message = try Self.travelled(client.toServer.removeFirst(), isUp: true)
      try serve(.message(session: session, message))
    } else {
      guard !client.toClient.isEmpty else { return false }
      try step(client, .message(client.toClient.removeFirst()))
    }
    return true
  }

  private func take(_ outputs: [ServerOutput]) throws {
    for output in outputs {
      switch output {
      case .send(let session, let message):
        clients.first { $0.session == session }?.toClient.append(message)
      case .store: try take(server.step(.stored, at: time))
      case .close(let session):
        if let client = clients.first(where: { $0.session == session }) { try disconnect(client) }
      }
    }
  }

  /// Connects everybody, and delivers until nothing is left to say.
  func settle() throws {
    for client in clients where client.session == nil { try connect(client) }
    for _ in 0..<10_000 {
      var isBusy = false
      for client in clients {
        try step(client, nil)
        isBusy = try deliver(client, up: true) || isBusy
        isBusy = try deliver(client, up: false) || isBusy
      }
      if !isBusy { return }
    }
    throw EngineError(code: .limit, message: "no rest after 10,000 rounds")
  }

  /// Delivers what one client has to say and to hear.
  func settle(_ client: Client) throws {
    var isBusy = true
    while isBusy {
      try step(client, nil)
      isBusy = try deliver(client, up: true)
      isBusy = try deliver(client, up: false) || isBusy
    }
  }

  func trim() throws { try serve(.trim) }
}

extension TestFile {
  func agent() throws -> SyncAgent {
    let clock = clock
    return try SyncAgent(configuration, now: { clock.read() })
  }
}
