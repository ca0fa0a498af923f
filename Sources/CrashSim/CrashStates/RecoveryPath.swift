// RecoveryPath.swift: which state of which recovery: power failed, again while the database
// recovered or made its first commit after that, and maybe once more after the recovery from there.
// Text: the keys of the states in this order, with `>` between them.

/// The states in which recoveries were left, one after another.
struct RecoveryPath: Sendable, Hashable, CustomStringConvertible {
  /// Most recoveries in a row.
  static let depthMax = 3

  private(set) var keys: [StateKey] = []

  /// No recovery was left.
  init() {}

  /// Reads a path's text; the empty text is no recovery.
  /// - Throws: `LabError` with code `.usage`.
  init(parsing text: String) throws(LabError) {
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

  /// The path with one more recovery.
  func appending(_ key: StateKey) -> RecoveryPath {
    var path = self
    path.keys.append(key)
    return path
  }

  /// The keys, with `>` between them.
  var description: String { keys.map(\.description).joined(separator: ">") }
}
