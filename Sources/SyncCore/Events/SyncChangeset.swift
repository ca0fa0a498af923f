// SyncChangeset.swift: a client's transaction in its original form. It is never rewritten: rebasing
// is a replay.

/// A transaction of a client.
public struct SyncChangeset: Hashable, Sendable {
  /// The client that made it.
  public var client: SyncClient
  /// Its number among the client's, from 1.
  public var sequence: UInt64
  /// The newest entry that its author knew.
  ///
  /// Its author knew all entries up to this version, and the client's own earlier changesets.
  public var base: SyncVersion
  /// When it was made.
  public var stamp: SyncStamp
  /// Its operations, in order.
  public var operations: [SyncOperation]

  /// A changeset.
  public init(
    client: SyncClient, sequence: UInt64, base: SyncVersion, stamp: SyncStamp,
    operations: [SyncOperation]
  ) {
    self.client = client
    self.sequence = sequence
    self.base = base
    self.stamp = stamp
    self.operations = operations
  }
}
