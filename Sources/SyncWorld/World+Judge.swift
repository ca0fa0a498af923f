// World+Judge.swift: invariants checked after every event (SYNC invariants in
// docs/reference/sync-protocol.md).

import SyncCore

extension World {
  /// A client after it changed.
  mutating func judge(_ slot: Int) {
    let node = clients[slot]
    // An app reads the content of the disk; reports to it come later.
    let file = node.disk
    for id in node.promised where !Self.has(file, id) {
      breaks("I7", "client \(slot) has lost transaction \(id)")
    }
    let head = file.log.head.number
    if file.epoch == node.epoch, head < node.confirmed {
      breaks("I9", "client \(slot) went back from version \(node.confirmed) to \(head)")
    }
    clients[slot].epoch = file.epoch
    clients[slot].confirmed = head
    guard node.machine.isLive, node.connection != 0 else { return }
    let (log, own) = (server.machine.file.log, node.machine.file.log)
    if own.head > log.head || log.chain(at: own.head) ?? 0 != chain(own, log) {
      breaks("I20", "client \(slot) is welcome with entries that the server does not have")
    }
  }

  /// The chain of a client's head, or a substitute for one that the server does not keep.
  private func chain(_ log: SyncMerger, _ server: SyncMerger) -> UInt128 {
    server.chain(at: log.head) == nil ? 0 : log.chain(at: log.head) ?? 0
  }

  /// The server after it changed.
  mutating func judgeServer(since head: SyncVersion) {
    let file = server.machine.file
    for record in file.clients where !record.isExpired && record.lowest < file.log.start {
      breaks(
        "I16",
        "version \(file.log.start.number) is forgotten, client \(record.client.number) "
          + "may still say \(record.lowest.number)")
    }
    guard file.log.head > head, let entry = file.log[file.log.head] else { return }
    let changeset = entry.changeset
    for other in file.log.entries.prefix(while: { $0.version <= changeset.base })
    where other.changeset.stamp >= changeset.stamp {
      breaks("I10", "entry \(entry.version.number) is not later than its base")
    }
    judgeStamp(entry, file.log)
    guard !mayDouble, let id = Self.identity(changeset) else { return }
    if let base = bases[id], base != changeset.base.number {
      breaks("I10", "transaction \(id) was made on \(base), not on \(changeset.base.number)")
    }
    let count = file.log.entries.count { Self.identity($0.changeset) == id }
    if count != 1 { breaks("I6", "transaction \(id) is in the log \(count) times") }
  }

  /// A stamp is at most two seconds ahead of the server's clock, or the first one after all that
  /// its author knew (I24).
  private mutating func judgeStamp(_ entry: SyncEntry, _ log: SyncMerger) {
    let changeset = entry.changeset
    let (limit, overflow) = now(server.clock).addingReportingOverflow(2000)
    guard !overflow, changeset.stamp > SyncStamp(milliseconds: limit) else { return }
    let known = log.entries.filter {
      $0.version <= changeset.base
        || ($0.changeset.client == changeset.client && $0.version < entry.version)
    }
    let latest = known.map(\.changeset.stamp).max() ?? .zero
    if changeset.stamp.bits > max(latest, log.startInWords.stamp).bits + 1 {
      breaks("I24", "entry \(entry.version.number) is ahead of the server's clock")
    }
  }

  /// Checks that content sent to a client is on the server's disk.
  mutating func judgeDurable(_ message: SyncMessage, _ session: UInt64) {
    switch message {
    case .entries(let entries):
      guard let last = entries.last else { return }
      if server.disk.log[last.version] != last {
        breaks("I5", "entry \(last.version.number) is sent and not durable")
      }
    case .received(let sequence):
      guard let slot = clients.firstIndex(where: { $0.connection == session }) else { return }
      let client = clients[slot].machine.file.client
      if server.disk.log.lastSequence(of: client) < sequence {
        breaks("I5", "changeset \(sequence) of client \(slot) is acknowledged and not durable")
      }
    default: break
    }
  }
}
