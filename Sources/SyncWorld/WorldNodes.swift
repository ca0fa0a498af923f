// WorldNodes.swift: a client, the server and a message in flight in the world.

import SyncCore

/// A client with its disk.
struct ClientNode: Hashable {
  /// The content of an older copy of its file, and the transactions confirmed to its app then.
  struct Copy: Hashable {
    var file: ClientFile
    var promised: [Int]
  }

  var machine = ClientMachine(ClientFile())
  var disk = ClientFile()
  /// The result of the store in progress.
  var storing: ClientFile?
  /// The number of its connection; zero without one.
  var connection: UInt64 = 0
  var connectionCount: UInt64 = 0
  var clock: Int64 = 0
  var isCutUp = false
  var isCutDown = false
  var writeCount = 0
  /// The transactions that were reported to its app as durable and must not be lost.
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
  /// Earlier durable states that may be restored by a loss, the newest last.
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

/// A violated invariant.
package struct WorldBreach: Hashable, Sendable, CustomStringConvertible {
  /// The invariant, such as I7.
  package var invariant: String
  /// The problem.
  package var text: String

  /// The invariant and the problem.
  package var description: String { "\(invariant): \(text)" }
}

// MARK: hashes

extension ClientNode: FixedHashable {
  func feed(_ hasher: inout FixedHasher) {
    machine.feed(&hasher)
    disk.feed(&hasher)
    hasher.feed(storing)
    hasher.feed(connection)
    hasher.feed(connectionCount)
    hasher.feed(UInt64(bitPattern: clock))
    hasher.feed(isCutUp)
    hasher.feed(isCutDown)
    hasher.feed(writeCount)
    for id in promised { hasher.feed(id) }
    hasher.feed(promised.count)
    hasher.feed(epoch)
    hasher.feed(confirmed)
    hasher.feed(copy)
  }
}

extension ClientNode.Copy: FixedHashable {
  func feed(_ hasher: inout FixedHasher) {
    file.feed(&hasher)
    for id in promised { hasher.feed(id) }
    hasher.feed(promised.count)
  }
}

extension ServerNode: FixedHashable {
  func feed(_ hasher: inout FixedHasher) {
    machine.feed(&hasher)
    disk.feed(&hasher)
    hasher.feed(storing)
    hasher.feed(older)
    hasher.feed(copy)
    hasher.feed(UInt64(bitPattern: clock))
    hasher.feed(epochCount)
  }
}

extension Packet: FixedHashable {
  func feed(_ hasher: inout FixedHasher) {
    hasher.feed(slot)
    hasher.feed(isUp)
    hasher.feed(connection)
    message.feed(&hasher)
  }
}
