// 11-atomic.swift: the two notes of a transaction are there together (I11).

import SyncCore

extension LabInvariant {
  static let atomic = LabInvariant(.atomic) { world in
    func half(_ state: SyncState) -> Int64? {
      for object in state.objects.keys where object.type == "Note" {
        guard case .int(let id) = object.key else { continue }
        if !state.has(Int(id / 2)) { return id / 2 }
      }
      return nil
    }
    for client in world.clients {
      if let found = try client.state().flatMap({ half($0) }) {
        return "\(client.name) has a part of transaction \(found)"
      }
    }
    let found = half(try world.server.store?.state() ?? SyncState())
    return found.map { "the server has a part of transaction \($0)" }
  }
}
