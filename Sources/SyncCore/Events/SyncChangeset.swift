// SyncChangeset.swift: a client's transaction as it was made. It is never rewritten: rebasing is a
// replay.

/// A transaction of a client.
public struct SyncChangeset: Hashable, Sendable {
  /// Who made it.
  public var client: SyncClient
  /// Its number among the client's, from 1.
  public var sequence: UInt64
  /// The newest entry that its author knew.
  ///
  /// It knows all entries up to here, and the client's own changesets before it.
  public var base: SyncVersion
  /// When it was made.
  public var stamp: SyncStamp
  /// What it did, in order.
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
