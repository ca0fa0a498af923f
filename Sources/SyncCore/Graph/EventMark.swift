// EventMark.swift: the identity of an operation for others: its known history, and its rank among
// concurrent ones (docs/reference/sync-merge.md, section 1).

/// The client, time and known history of an operation.
struct EventMark: Equatable {
  /// The version of its entry; of a pending changeset one above all entries.
  var version: UInt64
  var client: UInt64
  var sequence: UInt64
  /// It knows all entries up to this version, and its client's earlier operations.
  var base: UInt64
  var stamp: UInt64
  /// Its index in the changeset; -1 before the first.
  var operation: Int

  /// The mark of the state where the replay starts: known to every operation, and earlier than all.
  static let origin = EventMark(
    version: 0, client: 0, sequence: 0, base: 0, stamp: 0, operation: -1)

  /// Whether this operation's author knew the other one.
  func knows(_ other: EventMark) -> Bool {
    other.version <= base
      || (other.client == client
        && (other.sequence, other.operation) < (sequence, operation))
  }

  /// Whether this operation wins over the other one, when neither knows the other.
  func isLater(than other: EventMark) -> Bool {
    (stamp, client, operation) > (other.stamp, other.client, other.operation)
  }

  /// Whether both are the same operation, in any replay.
  func isSame(as other: EventMark) -> Bool {
    client == other.client && sequence == other.sequence && operation == other.operation
  }
}

/// The newest event of each of two clients: enough to determine whether an operation knows all of
/// them.
struct NewestEvents {
  private var newest = EventMark.origin
  /// The newest one by any other client.
  private var other = EventMark.origin

  /// Notes an event; they may come in any order.
  mutating func note(_ mark: EventMark) {
    if mark.version >= newest.version {
      if mark.client != newest.client { other = newest }
      newest = mark
    } else if mark.client != newest.client, mark.version >= other.version {
      other = mark
    }
  }

  /// The newest event that an operation does not know; nil when it knows all.
  /// - Complexity: O(1): an operation that knows another client's newest event knows all earlier
  ///   ones.
  func unknown(to mark: EventMark) -> EventMark? {
    if newest.client == mark.client {
      guard mark.knows(newest) || newest.isSame(as: mark) else { return newest }
      return other.version <= mark.base ? nil : other
    }
    return newest.version <= mark.base ? nil : newest
  }
}
