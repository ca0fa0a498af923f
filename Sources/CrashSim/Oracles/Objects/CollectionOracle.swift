// CollectionOracle.swift: each list and dictionary in a mixed value belongs to exactly one value:
// none remains when that value goes, and no two values share one.

import Engine
import Findings
import Workload

package enum CollectionOracle {
  package static func judge(_ rows: ObjectRows) -> Violation? {
    var holders: [Int64: Int] = [:]
    for row in Array(rows.crates.values) + rows.collections.values {
      for case .typedLink(rows.collectionTable, let key) in row.mixedValues {
        holders[key, default: 0] += 1
      }
    }
    let keys = rows.collections.keys.sorted()
    guard let key = keys.first(where: { holders[$0] != 1 }) else { return nil }
    let table = ObjectClasses.collectionTable
    return Violation(
      .objects, promised: "each collection in a mixed value belongs to one value",
      got: "the one in row \(key) of \(table) belongs to \(holders[key] ?? 0)")
  }
}
