// KnownBlobs.swift: the blobs that a data file has synced, to avoid syncing them again, and those
// that it failed to sync, because a later sync of the same file cannot be trusted.

import Synchronization

/// A set of digests that is emptied when it has too many.
final class KnownBlobs: Sendable {
  private static let countMax = 10_000
  private let digests = Mutex<Set<BlobDigest>>([])
  private let failed = Mutex<Set<BlobDigest>>([])
  private let folder = Mutex(false)

  /// Whether the folder's entry in the bundle was synced.
  var hasFolder: Bool {
    get { folder.withLock { $0 } }
    set { folder.withLock { $0 = newValue } }
  }

  func contains(_ digest: BlobDigest) -> Bool { digests.withLock { $0.contains(digest) } }

  func insert(_ digest: BlobDigest) {
    digests.withLock { digests in
      if digests.count >= Self.countMax { digests.removeAll() }
      digests.insert(digest)
    }
    _ = failed.withLock { $0.remove(digest) }
  }

  /// Notes that a sync failed.
  ///
  /// The kernel may have dropped the pages and call them clean: the next sync of the same file then
  /// succeeds without writing anything (Rebello et al., USENIX ATC 2020).
  func noteFailure(_ digest: BlobDigest) {
    failed.withLock { if $0.count < Self.countMax { $0.insert(digest) } }
  }

  /// Whether its last sync failed, or may have: after too many failures this is true for all.
  func hasFailed(_ digest: BlobDigest) -> Bool {
    failed.withLock { $0.count >= Self.countMax || $0.contains(digest) }
  }

  func remove(_ digest: BlobDigest) { _ = digests.withLock { $0.remove(digest) } }
}
