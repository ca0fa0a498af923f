// World.swift: clients and a server on a network without disks: files are values, and a store
// becomes durable by an event. Everything that happens is determined by events. Invariant: the same
// options and events give the same world, on every machine.

import SyncCore

/// The options of a world.
package struct WorldOptions: Hashable, Sendable {
  /// Places for clients; a cloned file needs one.
  package var slotCount = 2
  /// Whether stores of clients, and of the server, end by separate events.
  package var storesAreEvents = true
  package var serverStoresAreEvents = true
  /// How many messages may be in flight; further ones are lost, and zero allows all.
  package var packetsMax = 0
  /// Whether a message that is already in flight is not sent again.
  package var packetsDiffer = false

  /// Two clients.
  package init() {}
}

/// Clients, a server and the network between them.
package struct World: Hashable, Sendable {
  package let options: WorldOptions
  var clients: [ClientNode]
  var server: ServerNode
  var packets: [Packet] = []
  /// Milliseconds since the beginning.
  var time: UInt64 = 1000
  /// The first thing that is wrong.
  package internal(set) var breach: WorldBreach?
  /// The base of each transaction, as its author last made it.
  var bases: [Int: UInt64] = [:]
  /// Whether a transaction may be in the log twice, from a file and its copy.
  var mayDouble = false
  /// Counts of sends and stores, to detect that the world is at rest.
  var entryMessageCount = 0
  var storeCount = 0
  var deliveredCount = 0

  /// A world in which nothing has happened.
  package init(_ options: WorldOptions = WorldOptions()) {
    self.options = options
    clients = (0..<options.slotCount).map { _ in ClientNode() }
    let file = ServerFile(epoch: 1)
    server = ServerNode(machine: ServerMachine(file, refusing: [Self.refused]), disk: file)
  }

  static let note: SyncText = "Note"
  static let refused: SyncText = "Secret"
  static let shared = SyncObject("Shared", .int(0))

  /// Entries of the server's log, kept or not.
  package var entryCount: Int { Int(server.machine.file.log.head.number) }

  mutating func breaks(_ invariant: String, _ text: @autoclosure () -> String) {
    if breach == nil { breach = WorldBreach(invariant: invariant, text: text()) }
  }

  func now(_ offset: Int64) -> UInt64 {
    UInt64(max(0, Int64(clamping: time) + offset))
  }

  /// A number that is equal for equivalent worlds, whatever the order of messages in flight, in
  /// every process.
  package var fingerprint: UInt64 {
    var hasher = FixedHasher()
    hasher.feed(clients)
    server.feed(&hasher)
    hasher.feed(unordered: bases) { base, hasher in
      hasher.feed(base.key)
      hasher.feed(base.value)
    }
    hasher.feed(unordered: packets) { $0.feed(&$1) }
    return hasher.value
  }
}
