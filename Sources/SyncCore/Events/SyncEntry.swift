// SyncEntry.swift: a changeset in the server's order, with what it came to.

/// An operation, and which of the original ones it comes from.
public struct SourcedOperation: Hashable, Sendable {
  /// The index of the original operation.
  public var source: Int
  /// What it is now.
  public var operation: SyncOperation

  /// An operation that comes from another.
  public init(source: Int, _ operation: SyncOperation) {
    self.source = source
    self.operation = operation
  }
}

/// An original operation that has no effect, or not all of its effect.
public struct SyncOverruling: Hashable, Sendable {
  /// Why.
  public enum Cause: UInt8, Hashable, Sendable, CaseIterable {
    /// The object was deleted by somebody whom the author did not know of.
    case deleted
    /// The element was erased by somebody whom the author did not know of.
    case erased
    /// Another one, which the author did not know of, is later.
    case superseded
    /// The embedded object was replaced by somebody whom the author did not know of.
    case replaced
    /// A link leads to an object that was deleted by somebody whom the author did not know of.
    case unlinked
    /// The author itself does not see what it names.
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

/// A place in the server's order: a changeset and what it came to.
public struct SyncEntry: Hashable, Sendable {
  /// Its place.
  public var version: SyncVersion
  /// The user whose client made the changeset.
  public var user: UInt64
  /// The changeset as it was made, with the server's stamp.
  public var changeset: SyncChangeset
  /// What it does to the state of the version before; nil when that is the original.
  public var resolved: [SourcedOperation]?
  /// A stale changeset's operations as if made on the version before; nil for all others.
  public var restated: [SourcedOperation]?
  /// Operations that lost, in their order.
  public var overruled: [SyncOverruling]
  /// Why the whole changeset has no effect: a number of the server's; nil when it has one.
  public var refusal: UInt32?
  /// The barrier behind this entry: replays start there.
  public var barrier: SyncVersion
  /// The digest of the state behind this entry.
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

  /// What it does to the state of the version before.
  public var effect: [SourcedOperation] {
    guard refusal == nil else { return [] }
    return resolved ?? Self.sourced(changeset.operations)
  }

  /// Operations that stand for themselves.
  package static func sourced(_ operations: [SyncOperation]) -> [SourcedOperation] {
    operations.indices.map { SourcedOperation(source: $0, operations[$0]) }
  }
}
