// FrozenViewOracle.swift: frozen objects never change, and a live realm moves to another version
// only on request.

import Findings

package enum FrozenViewOracle {
  package static func judge(frozen name: String, was: ObjectSight, is now: ObjectSight)
    -> Violation?
  {
    guard let difference = now.difference(from: was) else { return nil }
    return Violation(
      .isolation, promised: "the frozen realm '\(name)' stays as it is", got: difference)
  }

  package static func judge(live actor: String, was: ObjectSight, is now: ObjectSight) -> Violation?
  {
    guard let difference = now.difference(from: was) else { return nil }
    return Violation(
      .isolation, promised: "the realm of '\(actor)' stays at its version until it is refreshed",
      got: difference)
  }

  package static func judge(
    handedOverBy actor: String, was: ObjectSight, is now: ObjectSight
  ) -> Violation? {
    guard let difference = now.difference(from: was) else { return nil }
    return Violation(
      .isolation,
      promised: "the realm of '\(actor)' shows nothing of a commit that it has handed over",
      got: difference)
  }
}
