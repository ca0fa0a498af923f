// 20-epoch.swift: at rest all clients know the server's history by its name (I20).

extension LabInvariant {
  static let epoch = LabInvariant(.epoch) { world in
    for client in world.clients {
      guard let epoch = try client.open?.agent.progress().epoch else { continue }
      if epoch != world.server.epoch {
        return "\(client.name) takes epoch \(epoch) for that of the server, which is "
          + "\(world.server.epoch)"
      }
    }
    return nil
  }
}
