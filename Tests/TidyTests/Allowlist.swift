// Allowlist.swift: the only place that excuses a file from a rule, each with the reason.
// An entry that excuses nothing any more fails the tests: the list is as long as it must be.

/// One excuse.
struct Allowance: Sendable {
  let rule: String
  let path: String
  let reason: String
}

/// All excuses.
let allowlist: [Allowance] = []
