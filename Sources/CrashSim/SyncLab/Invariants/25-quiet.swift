// 25-quiet.swift: at rest a further exchange sends no entry and commits nothing (I25).

extension LabInvariant {
  static let quiet = LabInvariant(.quiet) { world in
    func counts() throws -> [UInt64] {
      try world.clients.map { try $0.version() } + [
        world.server.store?.head.number ?? 0, UInt64(world.entryMessages),
      ]
    }
    let before = try counts()
    for _ in 0..<3 {
      for client in world.clients {
        try world.step(client, .tick)
        while try world.deliver(client, .up) {}
        while try world.deliver(client, .down) {}
      }
    }
    let after = try counts()
    return before == after ? nil : "versions and entries were \(before), and are \(after)"
  }
}
