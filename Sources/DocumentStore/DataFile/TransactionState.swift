// TransactionState.swift: the open transaction of a connection, and the state that a rollback
// restores.

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
  /// The nesting depth of transactions.
  var depth = 0
  /// Key stores used since the transaction began, in order.
  var opened: [KeyStoreName] = []
  /// Whether blobs were named whose folder is not synced yet.
  var hasNewBlobs = false
  /// The value in `info`, once it was read.
  var versioning: DataFile.Versioning?
  var revisionDepthMax: Int?
  /// Whether new keys have to be written.
  var hasNewKeys = false
}

/// The state to which a failed nested transaction returns.
struct TransactionMark {
  let openedCount: Int
  let keys: FleeceSharedKeys
  let hasNewKeys: Bool
  let counters: [KeyStoreName: KeyStoreCounters]
}
