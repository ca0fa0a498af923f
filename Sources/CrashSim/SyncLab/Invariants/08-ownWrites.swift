// 08-ownWrites.swift: an app sees its own commits all the time (I8).

extension LabInvariant {
  static let ownWrites = LabInvariant(.ownWrites) { world in
    for client in world.clients {
      guard let state = try client.state() else { continue }
      for transaction in client.own.subtracting(world.mayBeLost).sorted()
      where !state.has(transaction) {
        return "\(client.name) does not see its own transaction \(transaction)"
      }
    }
    return nil
  }
}
