// SyncEntry.swift: a changeset in the server's order, with its effect.

/// An operation, and the original one that it comes from.
public struct SourcedOperation: Hashable, Sendable {
  /// The index of the original operation.
  public var source: Int
  /// The resolved operation.
  public var operation: SyncOperation

  /// An operation that comes from another.
  public init(source: Int, _ operation: SyncOperation) {
    self.source = source
    self.operation = operation
  }
}

/// An original operation without effect, or with only part of its effect.
public struct SyncOverruling: Hashable, Sendable {
  /// Why.
  public enum Cause: UInt8, Hashable, Sendable, CaseIterable {
    /// The object was deleted by a client whose change the author did not know.
    case deleted
    /// The element was erased by a client whose change the author did not know.
    case erased
    /// A later operation, which the author did not know, replaced it.
    case superseded
    /// The embedded object was replaced by a client whose change the author did not know.
    case replaced
    /// A link leads to an object that was deleted by a client whose change the author did not know.
    case unlinked
    /// The author itself does not see the target.
    case missing
    /// An increment of something that is not an integer.
    case notNumber
    /// The replay would exceed its bounds.
    case limit
  }

  /// The index of the original operation.
  public var operation: Int
  /// Why.
  public var cause: Cause
  /// The entry that overruled it; zero when none did.
  public var by: SyncVersion

  /// An overruling.
  public init(operation: Int, cause: Cause, by: SyncVersion) {
    self.operation = operation
    self.cause = cause
    self.by = by
  }
}

/// A place in the server's order: a changeset and its effect.
public struct SyncEntry: Hashable, Sendable {
  /// Its place.
  public var version: SyncVersion
  /// The user whose client made the changeset.
  public var user: UInt64
  /// The original changeset, with the server's stamp.
  public var changeset: SyncChangeset
  /// Its effect on the previous version; nil when that equals the original.
  public var resolved: [SourcedOperation]?
  /// A stale changeset's operations as if made on the version before; nil for all others.
  public var restated: [SourcedOperation]?
  /// Operations that lost, in their order.
  public var overruled: [SyncOverruling]
  /// Why the whole changeset has no effect: a number defined by the server; nil when it has an
  /// effect.
  public var refusal: UInt32?
  /// The barrier after this entry: replays start there.
  public var barrier: SyncVersion
  /// The digest of the state after this entry.
  public var digest: UInt128

  /// An entry.
  public init(
    version: SyncVersion, user: UInt64, changeset: SyncChangeset,
    resolved: [SourcedOperation]? = nil, restated: [SourcedOperation]? = nil,
    overruled: [SyncOverruling] = [], refusal: UInt32? = nil, barrier: SyncVersion = .zero,
    digest: UInt128 = 0
  ) {
    self.version = version
    self.user = user
    self.changeset = changeset
    self.resolved = resolved
    self.restated = restated
    self.overruled = overruled
    self.refusal = refusal
    self.barrier = barrier
    self.digest = digest
  }

  /// Whether it was made on a version before the barrier, or on such a one of the same client.
  public var isStale: Bool { restated != nil }

  /// Its effect on the previous version.
  public var effect: [SourcedOperation] {
    guard refusal == nil else { return [] }
    return resolved ?? Self.sourced(changeset.operations)
  }

  /// Operations that are their own originals.
  package static func sourced(_ operations: [SyncOperation]) -> [SourcedOperation] {
    operations.indices.map { SourcedOperation(source: $0, operations[$0]) }
  }
}
