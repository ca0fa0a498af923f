// 07-noLoss.swift: what an app was told is durable is on the server at rest (I7).

import SyncCore

extension LabInvariant {
  static let noLoss = LabInvariant(.noLoss) { world in
    let state = try world.server.store?.state() ?? SyncState()
    for client in world.clients {
      for transaction in client.promised.subtracting(world.mayBeLost).sorted()
      where !state.has(transaction) {
        return "transaction \(transaction) of \(client.name) was committed and is lost"
      }
    }
    return nil
  }
}
