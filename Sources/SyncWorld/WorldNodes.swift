// WorldNodes.swift: a client, the server and a message on its way, as the world has them.

import SyncCore

/// A client with its disk.
struct ClientNode: Hashable {
  /// What an older copy of its file holds, and what its app had been promised then.
  struct Copy: Hashable {
    var file: ClientFile
    var promised: [Int]
  }

  var machine = ClientMachine(ClientFile())
  var disk = ClientFile()
  /// What the store that is under way will leave.
  var storing: ClientFile?
  /// The number of its connection; zero without one.
  var connection: UInt64 = 0
  var connectionCount: UInt64 = 0
  var clock: Int64 = 0
  var isCutUp = false
  var isCutDown = false
  var writeCount = 0
  /// The transactions that its app was told to be durable and that may not vanish.
  var promised: [Int] = []
  /// Where it was in an epoch.
  var epoch: UInt64 = 0
  var confirmed: UInt64 = 0
  var copy: Copy?
}

/// The server with its disk.
struct ServerNode: Hashable {
  var machine: ServerMachine
  var disk: ServerFile
  var storing: ServerFile?
  /// What was durable before, the newest last, as far as it may be lost.
  var older: [ServerFile] = []
  var copy: ServerFile?
  var clock: Int64 = 0
  var epochCount: UInt64 = 1
}

/// A message on its way.
struct Packet: Hashable {
  var slot: Int
  var isUp: Bool
  var connection: UInt64
  var message: SyncMessage
}

/// What must not be.
package struct WorldBreach: Hashable, Sendable, CustomStringConvertible {
  /// The invariant, such as I7.
  package var invariant: String
  /// What is wrong.
  package var text: String

  /// The invariant and what is wrong.
  package var description: String { "\(invariant): \(text)" }
}
