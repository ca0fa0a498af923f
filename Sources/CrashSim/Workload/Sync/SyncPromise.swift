// SyncPromise.swift: the names and sentences of what a world of a server and clients keeps,
// whatever happens to disks and messages. docs/reference/sync-lab.md lists them.

/// An invariant of synchronization.
package enum SyncPromise: Int, Sendable, Hashable, CaseIterable {
  case expected = 0
  case converge = 1
  case digest = 2
  case durableAck = 5
  case once = 6
  case noLoss = 7
  case ownWrites = 8
  case monotonic = 9
  case atomic = 11
  case total = 14
  case epoch = 20
  case clone = 21
  case live = 23
  case quiet = 25
  case bounded = 26

  /// Its name in findings and scenarios.
  package var name: String { "\(self)" }

  /// The promise of a name.
  package init?(named name: String) {
    guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = found
  }

  /// The sentence.
  package var sentence: String {
    switch self {
    case .expected: "what the scenario expects of a node is there"
    case .converge: "at rest all clients have the server's objects"
    case .digest: "a file's rows are the state of its newest entry, with what is pending on top"
    case .durableAck: "what the server has said is in its log after any crash"
    case .once: "each changeset stands in the log once, in its client's order"
    case .noLoss: "what an app has committed is in its file or on the server"
    case .ownWrites: "an app sees its own commits all the time"
    case .monotonic: "no node goes back to an older version within an epoch"
    case .atomic: "nobody sees a part of a transaction"
    case .total: "no crash and no message makes a file unusable or a step fail"
    case .epoch: "clients notice a server that was restored"
    case .clone: "a file and its copy are two clients for the server"
    case .live: "after the last fault the world comes to rest"
    case .quiet: "at rest nothing is sent or committed any more"
    case .bounded: "what a client stores at once, while an app waits to write, is bounded"
    }
  }
}
