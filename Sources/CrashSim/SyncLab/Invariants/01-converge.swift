// 01-converge.swift: at rest all clients have the server's objects (I1).

import SyncCore

extension LabInvariant {
  static let converge = LabInvariant(.converge) { world in
    let wanted = try world.server.store?.state() ?? SyncState()
    for client in world.clients {
      guard let found = try client.state(), found != wanted else { continue }
      let objects = Set(found.objects.keys).union(wanted.objects.keys).sorted()
      let object = objects.first { found.objects[$0] != wanted.objects[$0] }
      return "\(client.name) has another \(object.map { "\($0.type) \($0.key)" } ?? "state")"
    }
    return nil
  }
}
