// 06-once.swift: each changeset stands in the log once, in its client's order (I6).

import SyncCore

extension LabInvariant {
  static let once = LabInvariant(.once) { world in
    var last: [SyncClient: UInt64] = [:]
    var made: Set<Int> = []
    for entry in world.server.store?.entries ?? [] {
      let changeset = entry.changeset
      if let before = last[changeset.client], changeset.sequence != before + 1 {
        return "changeset \(changeset.sequence) of client \(changeset.client.number) follows "
          + "\(before)"
      }
      last[changeset.client] = changeset.sequence
      for transaction in changeset.transactions where !made.insert(transaction).inserted {
        if !world.hasCopies { return "transaction \(transaction) is in the log twice" }
      }
    }
    return nil
  }
}
