// 02-digest.swift: the rows of a file are the state that its entries and changesets make (I2).

import SyncCore

extension LabInvariant {
  static let digest = LabInvariant(.digest) { world in
    if let text = try world.server.store?.breach() { return "\(world.server.name): \(text)" }
    for client in world.clients {
      if let text = try client.open?.agent.breach() { return "\(client.name): \(text)" }
    }
    return nil
  }
}
