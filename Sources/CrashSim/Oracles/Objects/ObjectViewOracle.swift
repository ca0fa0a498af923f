// ObjectViewOracle.swift: what a program reads through objects, lists, sets, maps and linking
// objects equals the rows of its version.

import Findings

package enum ObjectViewOracle {
  package static func judge(_ seen: ObjectSight, _ rows: ObjectRows) -> Violation? {
    guard let difference = seen.difference(from: ObjectSight(rows)) else { return nil }
    return Violation(
      .objects, promised: "objects read as the rows of their version are", got: difference)
  }
}
