// ConfinementOracle.swift: a use on another thread is an error that names both threads, and never
// gives a value.

import Findings

package enum ConfinementOracle {
  // `use` is what was done to what belongs to `owner` on the thread of `caller`; `message` is what
  // the error said, nil when there was none.
  package static func judge(
    _ use: String, owner: String, caller: String, message: String?
  ) -> Violation? {
    let promised =
      "\(use) of '\(owner)' on the thread of '\(caller)' is refused, with both named"
    guard let message else {
      return Violation(.confinement, promised: promised, got: "it went through")
    }
    // The system keeps 15 bytes of a thread's name.
    for name in [owner, caller] where !message.contains("\"\(name.prefix(15))\"") {
      return Violation(.confinement, promised: promised, got: "the error says: \(message)")
    }
    return nil
  }
}
