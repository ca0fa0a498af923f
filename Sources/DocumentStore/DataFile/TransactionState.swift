// TransactionState.swift: what a connection has open, and what a rollback takes back.

import Fleece

/// A connection's transaction.
struct TransactionState {
  enum Kind {
    case none
    case reading
    case writing
  }

  var kind = Kind.none
  /// Rises with each transaction of the connection, so that handles know theirs.
  var number: UInt64 = 0
  /// How many transactions lie in each other.
  var depth = 0
  /// Key stores that were looked at since the transaction began, in order.
  var opened: [KeyStoreName] = []
  /// Whether blobs were named whose folder is not synced yet.
  var hasNewBlobs = false
  /// What `info` says, once it was asked for.
  var versioning: DataFile.Versioning?
  var revisionDepthMax: Int?
  /// Whether new keys have to be written.
  var hasNewKeys = false
}

/// What a transaction inside another one returns to when it ends badly.
struct TransactionMark {
  let openedCount: Int
  let keys: FleeceSharedKeys
  let hasNewKeys: Bool
  let counters: [KeyStoreName: KeyStoreCounters]
}
