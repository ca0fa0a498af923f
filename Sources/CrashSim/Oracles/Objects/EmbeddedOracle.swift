// EmbeddedOracle.swift: each embedded object has exactly one owner: none remains when its owner is
// deleted, and no two owners share one.

import Findings
import Workload

package enum EmbeddedOracle {
  package static func judge(_ rows: ObjectRows) -> Violation? {
    let homes = rows.people.values.compactMap { $0.link("home") }
    let rooms = rows.addresses.values.flatMap { $0.links("rooms") }
    return judge(ObjectClasses.address, Set(rows.addresses.keys), homes)
      ?? judge(ObjectClasses.room, Set(rows.rooms.keys), rooms)
  }

  private static func judge(
    _ name: String, _ keys: Set<Int64>, _ links: [Int64]
  ) -> Violation? {
    var owners: [Int64: Int] = [:]
    for link in links { owners[link, default: 0] += 1 }
    guard let key = keys.sorted().first(where: { owners[$0] != 1 }) else { return nil }
    return Violation(
      .objects, promised: "each object of \(name) has exactly one owner",
      got: "the one in row \(key) has \(owners[key] ?? 0)")
  }
}
