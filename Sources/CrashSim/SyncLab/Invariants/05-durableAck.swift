// 05-durableAck.swift: what the server has said is in its log (I5).

import SyncCore

extension LabInvariant {
  static let durableAck = LabInvariant(.durableAck) { world in
    guard let store = world.server.store else { return nil }
    let kept = Dictionary(uniqueKeysWithValues: store.entries.map { ($0.version, $0) })
    for (version, entry) in world.sentEntries.sorted(by: { $0.key < $1.key })
    where version > store.keptFrom && kept[version] != entry {
      return "entry \(version.number) was sent and is not in the log"
    }
    for (client, sequence) in world.confirmedSequences.sorted(by: { $0.key.number < $1.key.number })
    where store.lastSequence(of: client) < sequence {
      return "changeset \(sequence) of client \(client.number) was acknowledged and is not there"
    }
    return nil
  }
}
