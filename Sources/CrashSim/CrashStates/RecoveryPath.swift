// RecoveryPath.swift: identifies a state of nested recoveries: the power failed again while the
// database recovered or made its first commit, and possibly once more in the following recovery.
// Text: the keys of the states in this order, with `>` between them.

import LabCore

/// The states in which recoveries were interrupted, one after another.
package struct RecoveryPath: Sendable, Hashable, CustomStringConvertible {
  /// Most recoveries in a row.
  package static let depthMax = 3

  package private(set) var keys: [StateKey] = []

  /// No recovery was interrupted.
  package init() {}

  /// Parses a path; the empty text is not a recovery.
  /// - Throws: `LabError` with code `.usage`.
  package init(parsing text: String) throws(LabError) {
    guard !text.isEmpty else { return }
    let parts = text.split(separator: ">", omittingEmptySubsequences: false)
    guard parts.count <= Self.depthMax else {
      throw .usage("the states '\(text.prefix(200))' are of more recoveries than a scenario has")
    }
    for part in parts {
      guard let key = StateKey(parsing: String(part)) else {
        throw .usage("the state '\(part)' cannot be read")
      }
      keys.append(key)
    }
  }

  /// The path followed by another recovery.
  package func appending(_ key: StateKey) -> RecoveryPath {
    var path = self
    path.keys.append(key)
    return path
  }

  /// The keys, with `>` between them.
  package var description: String { keys.map(\.description).joined(separator: ">") }
}
