// ClientFile.swift: the synchronization state of a client, besides the objects that its app sees.
// Invariant: `pending` follows the client's last changeset in `log`, without a gap.

/// The stored state of a client, written in one transaction.
public struct ClientFile: Hashable, Sendable {
  /// Used as the client's number until the server has assigned one.
  package static let unnamed = SyncClient(.max)

  /// The client's number.
  public internal(set) var client = ClientFile.unnamed
  /// The secret that proves the number.
  public internal(set) var secret: UInt64 = 0
  /// Distinguishes this file from copies of it.
  public internal(set) var nonce: UInt64 = 0
  /// The server's epoch; zero before the first welcome.
  public internal(set) var epoch: UInt64 = 0
  /// The entries that it has, and their state.
  public internal(set) var log = SyncMerger()
  /// Its changesets that are not among the entries.
  public internal(set) var pending: [SyncChangeset] = []
  /// The largest stamp that it issued.
  public internal(set) var stamp = SyncStamp.zero
  /// The hash over its changesets before the pending ones.
  public internal(set) var mark: UInt128 = 0
  /// Whether an entry did not fit, so that the server's log has to replace this one.
  public internal(set) var needsLog = false

  /// A client without any state.
  public init() {}

  /// A client with its stored state.
  package init(
    client: SyncClient, secret: UInt64, nonce: UInt64, epoch: UInt64, log: SyncMerger,
    pending: [SyncChangeset], stamp: SyncStamp, mark: UInt128, needsLog: Bool
  ) {
    self.client = client
    self.secret = secret
    self.nonce = nonce
    self.epoch = epoch
    self.log = log
    self.pending = pending
    self.stamp = stamp
    self.mark = mark
    self.needsLog = needsLog
  }

  /// Removes entries that no future changeset needs.
  package mutating func trim() { log.trim(to: log.needed(by: client, base: lowest)) }

  /// No changeset that is not among the entries has a lower base.
  public var lowest: SyncVersion { pending.first?.base ?? log.head }

  /// The number of its next changeset.
  public var nextSequence: UInt64 {
    (pending.last?.sequence ?? log.lastSequence(of: client)) &+ 1
  }

  /// The state that the app reads: all entries, and the client's own changesets on top.
  /// - Complexity: As `SyncMerger.visible`.
  public var visible: SyncState { log.visible(to: client, pending: pending) }
}
