// MediaOracle.swift: a database whose medium changed at rest. Within the fault budget it opens, is
// usable, and has the content of the newest version or of one that the budget names. Beyond it,
// either an error is reported, or the content is right because nothing that was read was damaged.
// Wrong content without an error is never allowed, nor a version older than the budget allows.
// Not covered, because a file alone cannot show it: an older copy of the whole file.

import Findings

/// The observations of a damaged database: facts only.
struct MediaSight {
  /// Whether open replaced the file with a new database.
  var wasCreated = false
  /// The error of open.
  var openError: String?
  /// The version that it opened with.
  var version: UInt64?
  /// The content's hash.
  var contentHash: UInt64?
  /// The error of reading everything.
  var readError: String?
  /// The result of `verify()`.
  var verifyError: String?
  /// The error of a commit, or of checking it.
  var useError: String?
  /// The deviation after that commit, without an error.
  var useFault: String?

  /// The first error that reported the damage.
  var error: String? { openError ?? readError ?? verifyError }

  /// The same in the form that the X-ray's oracle requires.
  var recovered: RecoveredState {
    var state = RecoveredState()
    state.openError = openError
    state.wasCreated = wasCreated
    state.version = version
    state.contentHash = contentHash
    state.damage = readError ?? verifyError
    return state
  }
}

/// What must hold for one damaged file.
struct MediaPromise {
  /// The newest version.
  let newest: CommittedState
  /// All allowed contents: the newest version, and those that the fault budget permits.
  let allowed: [CommittedState]
  /// Whether the damage is within the fault budget.
  let isUsable: Bool
  /// The damage in words.
  let damage: String
}

enum MediaOracle {
  static func judge(_ sight: MediaSight, _ promise: MediaPromise) -> Violation? {
    let newest = promise.newest.label
    // The error is on a separate line, because states are grouped by the first one.
    func broken(_ promised: String, _ got: String, _ error: String? = nil) -> Violation {
      let lines = ["\(got): \(promise.damage)", error].compactMap { $0 }
      return Violation(.media, promised: promised, got: lines.joined(separator: "\n"))
    }
    if let fault = contentFault(sight, promise) {
      return broken("\(newest) was acknowledged, so it is there or an error is reported", fault)
    }
    if promise.isUsable, let error = sight.error ?? sight.useError {
      return broken(
        "\(newest) was acknowledged, and the database survives what is within the fault budget",
        "an error within the fault budget", error)
    }
    if let error = sight.readError, sight.verifyError == nil {
      return broken("verify finds what reading finds", "only reading found it", error)
    }
    if sight.error == nil, let error = sight.useError {
      return broken(
        "a database in which nothing is found takes and keeps a commit", "a commit fails", error)
    }
    return nil
  }

  /// How a database handled damage without breaking a promise.
  static func verdict(_ sight: MediaSight, _ promise: MediaPromise) -> MediaVerdict {
    if sight.error != nil { return .detected }
    return sight.version == promise.newest.version ? .unharmed : .wentBack
  }

  /// The undetected deviation of the content.
  private static func contentFault(_ sight: MediaSight, _ promise: MediaPromise) -> String? {
    guard sight.openError == nil, let version = sight.version else { return nil }
    let states = promise.allowed.filter { $0.version == version }
    if sight.wasCreated, states.isEmpty { return "open made a new database over the damaged one" }
    guard !states.isEmpty else { return "version \(version) came back without an error" }
    if let hash = sight.contentHash, !states.contains(where: { $0.contentHash == hash }) {
      return "version \(version) reads as something else without an error"
    }
    return sight.useFault.map { "after one more commit, without an error: \($0)" }
  }
}
