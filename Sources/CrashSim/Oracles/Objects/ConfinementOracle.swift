// ConfinementOracle.swift: use on another thread is an error that names both threads, and never
// returns a value.

import Findings

package enum ConfinementOracle {
  // `use` is the operation that the thread `caller` did on an object of `owner`; `message` is the
  // text of the error, nil without one.
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
