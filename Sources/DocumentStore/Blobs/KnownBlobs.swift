// KnownBlobs.swift: which blobs a data file has synced, so that it does not sync them again.

import Synchronization

/// A set of digests that forgets all when it has too many.
final class KnownBlobs: Sendable {
  private static let countMax = 10_000
  private let digests = Mutex<Set<BlobDigest>>([])
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
  }

  func remove(_ digest: BlobDigest) { _ = digests.withLock { $0.remove(digest) } }
}
