// Exchange.swift: the agent of the file and the server, in one process, with messages as bytes.
// Invariant: one agent at a time; another one waits for the lock of one that was killed.

import Engine
import Foundation
import ObjectDatabase
import SyncClient
import SyncCore
import SyncServer

/// An agent, a server, and what is on its way between them.
final class Exchange {
  private let client: Realm.Configuration
  let agent: SyncAgent
  let server: SyncServerStore
  private var toServer: [[UInt8]] = []
  private var toClient: [[UInt8]] = []
  /// The session of the connection, which no other process has; 0 for none.
  private var session: UInt64 = 0
  private var connections: UInt64 = 0

  init(
    _ client: Realm.Configuration = Writing.recorded,
    server: Realm.Configuration = Writing.configuration("server.realm")
  ) throws {
    self.client = client
    agent = try SyncAgent(client, now: Writing.now)
    self.server = try SyncServerStore(server)
  }

  /// Makes both files; the counter is the server's before anybody adds.
  static func makeFiles() throws {
    try SyncServerStore.create(
      Writing.configuration("server.realm"), realm: Writing.realm, epoch: 1)
    let realm = try Realm(configuration: Writing.recorded)
    try SyncedFile.mark(Writing.recorded, realm: Writing.realm)
    try realm.write { realm.create(Counter.self, value: ["id": 1]) }
    try Exchange().rest()
  }

  /// Synchronizes until a file of that name appears.
  func serve(until name: String) throws {
    while !FileManager.default.fileExists(atPath: name) {
      if try !turn() { Thread.sleep(forTimeInterval: 0.0002) }
    }
  }

  /// Synchronizes until nothing is left to say.
  func rest() throws {
    var waits = 0
    while waits < 4 {
      while try turn() {}
      guard try agent.progress().confirmed != server.head || !pending().isEmpty else { return }
      waits += 1
      try step(.tick)
    }
    throw CocoaError(.userCancelled)
  }

  func pending() throws -> [SyncChangeset] {
    try SyncedFile.pending(try RealmFile(client).database.snapshot())
  }

  /// Does what there is to do.
  /// - Returns: Whether there was something.
  private func turn() throws -> Bool {
    if session == 0 {
      connections += 1
      session = UInt64(ProcessInfo.processInfo.processIdentifier) << 20 | connections
      // A number for each connection that looks like no other.
      try serve(.opened(session: session, random: (session &* 0x9e37_79b9_7f4a_7c15) >> 1 | 1))
      try step(.connected)
    }
    try step(nil)
    let isBusy = !toServer.isEmpty || !toClient.isEmpty
    if !toServer.isEmpty {
      let message = try SyncMessage(decoding: toServer.removeFirst(), isUp: true)
      try serve(.message(session: session, message))
    }
    if !toClient.isEmpty {
      try step(.message(try SyncMessage(decoding: toClient.removeFirst(), isUp: false)))
    }
    return isBusy
  }

  private func serve(_ input: ServerInput) throws {
    for reply in try server.step([input], at: Writing.now()) {
      switch reply {
      case .send(_, let message): toClient.append(message.encoded())
      case .bootstrap(_, let bootstrap, let index):
        toClient += try bootstrap.messages(from: index).map { $0.encoded() }
      case .close: try close()
      }
    }
  }

  private func step(_ input: ClientInput?) throws {
    for output in try agent.step(input) {
      switch output {
      case .send(let message): toServer.append(message.encoded())
      case .close: try close()
      case .tell: continue
      case .store: preconditionFailure("an agent stores by itself")
      }
    }
  }

  private func close() throws {
    let ended = session
    (session, toServer, toClient) = (0, [], [])
    try serve(.closed(session: ended))
    try step(.closed)
  }
}
