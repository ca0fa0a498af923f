// 09-monotonic.swift: no node goes back within an epoch (I9).

extension LabInvariant {
  static let monotonic = LabInvariant(.monotonic) { world in
    for client in world.clients {
      guard let now = try client.open?.agent.progress() else { continue }
      defer { client.seen = now }
      guard let before = client.seen, before.client == now.client, before.epoch == now.epoch
      else { continue }
      if now.confirmed < before.confirmed {
        return "\(client.name) had entry \(before.confirmed.number), and has "
          + "\(now.confirmed.number)"
      }
    }
    guard let head = world.server.store?.head else { return nil }
    if head < world.server.seen {
      return "the server had entry \(world.server.seen.number), and has \(head.number)"
    }
    world.server.seen = head
    return nil
  }
}
