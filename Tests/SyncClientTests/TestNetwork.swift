// TestNetwork.swift: a server machine and the agents of several files, with messages between them
// that a test delivers.

import Engine
import ObjectDatabase
import SyncClient
import SyncCore
import Testing

/// A server and clients.
final class TestNetwork {
  /// A client with its file.
  final class Client {
    let file: TestFile
    let realm: Realm
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
  }

  private(set) var server = ServerMachine(ServerFile(epoch: 1))
  private(set) var clients: [Client] = []
  private var lastSession: UInt64 = 0
  private var time: UInt64 = 1_000

  func addClient(_ file: TestFile) throws { clients.append(try Client(file)) }

  /// What the server has.
  var state: SyncState { server.file.log.state }

  func connect(_ client: Client) throws {
    try disconnect(client)
    lastSession += 1
    client.session = lastSession
    try take(server.step(.opened(session: lastSession, random: lastSession * 7 + 1), at: time))
    try step(client, .connected)
  }

  func disconnect(_ client: Client) throws {
    guard let session = client.session else { return }
    client.session = nil
    client.toServer = []
    client.toClient = []
    try take(server.step(.closed(session: session), at: time))
    try step(client, .closed)
  }

  /// Lets an agent act: on an input, or on what was committed.
  func step(_ client: Client, _ input: ClientInput?) throws {
    time += 1
    client.file.clock.set(time)
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
      let message = client.toServer.removeFirst()
      try take(server.step(.message(session: session, message), at: time))
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
    preconditionFailure("no rest after 10,000 rounds")
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

  func trim() throws { try take(server.step(.trim, at: time)) }
}

extension TestFile {
  func agent() throws -> SyncAgent {
    let clock = clock
    return try SyncAgent(configuration, now: { clock.read() })
  }
}
