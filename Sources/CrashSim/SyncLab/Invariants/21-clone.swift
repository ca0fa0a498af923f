// 21-clone.swift: at rest no two files are one client (I21).

import SyncCore

extension LabInvariant {
  static let clone = LabInvariant(.clone) { world in
    var owners: [SyncClient: String] = [:]
    for client in world.clients {
      guard let number = try client.open?.agent.progress().client else { continue }
      if let other = owners.updateValue(client.name, forKey: number) {
        return "\(other) and \(client.name) are both client \(number.number)"
      }
    }
    return nil
  }
}
