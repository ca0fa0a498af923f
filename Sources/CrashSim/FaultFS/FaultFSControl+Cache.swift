// FaultFSControl+Cache.swift: what has been written and not synced, for who asks over the control
// socket: lost now, counted as synced, or listed. LazyFS's commands stand on it.

import LabCore
import Recording

/// A file whose content or size is another one than at its last sync.
public struct UnsyncedFile: Codable, Hashable, Sendable {
  /// Its first name, from the root of the mount.
  public var path: String
  /// Size now.
  public var sizeBytes: UInt64
  /// Size at its last sync.
  public var syncedSizeBytes: UInt64
  /// Bytes that were written since: whole pages, joined, each as its first byte and the one behind
  /// its last.
  public var ranges: [[UInt64]]
}

extension FaultFSControl {
  /// Takes each file back to its last sync; when this returns, the kernel shows that.
  func clearCache() {
    var job = PageDrops.Job()
    mount.lock.withLock { _ in
      let fileSystem = mount.fileSystem
      fileSystem.beginRequest()
      fileSystem.revertAll()
      job.inodes = fileSystem.staleInodes
      fileSystem.staleInodes = []
    }
    if !job.inodes.isEmpty { mount.doNow(job) }
  }

  /// Counts as synced what has been written.
  func checkpoint() {
    mount.lock.withLock { _ in
      for inode in mount.fileSystem.tree.inodes.values { mount.fileSystem.markSynced(inode) }
    }
  }

  /// The files with something that is not synced, by path.
  func unsyncedFiles() -> [UnsyncedFile] {
    mount.lock.withLock { _ in
      mount.fileSystem.tree.inodes.values.compactMap(Self.unsynced).sorted { $0.path < $1.path }
    }
  }

  private static func unsynced(_ inode: Inode) -> UnsyncedFile? {
    guard let shadow = inode.shadow, let content = inode.content else { return nil }
    let pages = shadow.dirtyPages(of: content)
    guard !pages.isEmpty || shadow.sizeBytes != content.sizeBytes else { return nil }
    var ranges: [[UInt64]] = []
    // What was appended to the last page changed nothing that the medium has of it.
    let last = shadow.sizeBytes / PageShadow.pageBytes
    let hasGrown = content.sizeBytes > shadow.sizeBytes && !pages.contains(last)
    for page in hasGrown ? (pages + [last]).sorted() : pages {
      let isAppended = hasGrown && page == last
      let first = isAppended ? shadow.sizeBytes : page * PageShadow.pageBytes
      let end = min(
        (page + 1) * PageShadow.pageBytes, max(content.sizeBytes, shadow.sizeBytes))
      if let last = ranges.indices.last, ranges[last][1] == first {
        ranges[last][1] = end
      } else {
        ranges.append([first, end])
      }
    }
    let path = FaultSubject(kind: .read, inode: inode, caller: Caller()).paths().first ?? []
    return UnsyncedFile(
      path: String(decoding: path, as: UTF8.self), sizeBytes: content.sizeBytes,
      syncedSizeBytes: shadow.sizeBytes, ranges: ranges)
  }
}
