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

/// Pages of a file that reach the medium without a sync.
package struct PageSync: Codable, Hashable, Sendable {
  /// Which of the unsynced pages, in their order.
  package enum Pages: Codable, Hashable, Sendable {
    case part(Part)
    /// Numbers of pages, from 0.
    case numbers([UInt64])

    func chosen(of pages: [UInt64]) -> [UInt64] {
      let half = pages.count / 2
      switch self {
      case .part(.all): return pages
      case .part(.firstHalf): return Array(pages[..<half])
      case .part(.lastHalf): return Array(pages[half...])
      case .part(.first): return Array(pages.prefix(1))
      case .part(.last): return Array(pages.suffix(1))
      case .part(.firstAndLast):
        return pages.count > 1 ? [pages[0], pages[pages.count - 1]] : pages
      case .part(.interleaved):
        return stride(from: 0, to: pages.count, by: 2).map { pages[$0] }
      case .numbers(let numbers): return pages.filter(numbers.contains)
      }
    }
  }

  /// Parts that have names, which are LazyFS's.
  package enum Part: String, Codable, CaseIterable, Sendable {
    case all, first, last, interleaved
    case firstHalf = "first-half"
    case lastHalf = "last-half"
    case firstAndLast = "first-and-last"
  }

  /// A glob over paths from the root of the mount.
  package var path: String
  package var pages: Pages
  /// Whether all other files are synced, too.
  package var syncsOthers = true
  /// Whether the file system dies then.
  package var kills = false

  package init(path: String, pages: Pages, syncsOthers: Bool = true, kills: Bool = false) {
    self.path = path
    self.pages = pages
    self.syncsOthers = syncsOthers
    self.kills = kills
  }
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

  /// Brings some pages of files to the medium, and all of the others if that is asked.
  func syncPages(_ wanted: PageSync) throws(LabError) {
    let glob = Glob(wanted.path)
    let isDone = mount.lock.withLock { _ in
      let files = mount.fileSystem.tree.inodes.values.filter { $0.content != nil }
      let chosen = files.filter { Self.paths(of: $0).contains { glob.matches($0) } }
      if chosen.isEmpty { return false }
      for inode in chosen {
        guard let shadow = inode.shadow, let content = inode.content else { continue }
        shadow.store(
          pages: wanted.pages.chosen(of: shadow.unsyncedPages(of: content)), of: content)
      }
      if wanted.syncsOthers {
        let names = Set(chosen.map(\.number))
        for inode in files where !names.contains(inode.number) {
          mount.fileSystem.markSynced(inode)
        }
      }
      if wanted.kills { mount.die() }
      return true
    }
    guard isDone else { throw .usage("no file is called \(wanted.path)") }
  }

  private static func paths(of inode: Inode) -> [[UInt8]] {
    FaultSubject(kind: .read, inode: inode, caller: Caller()).paths()
  }

  /// The files with something that is not synced, by path.
  func unsyncedFiles() -> [UnsyncedFile] {
    mount.lock.withLock { _ in
      mount.fileSystem.tree.inodes.values.compactMap(Self.unsynced).sorted { $0.path < $1.path }
    }
  }

  private static func unsynced(_ inode: Inode) -> UnsyncedFile? {
    guard let shadow = inode.shadow, let content = inode.content else { return nil }
    let pages = shadow.unsyncedPages(of: content)
    guard !pages.isEmpty || shadow.sizeBytes != content.sizeBytes else { return nil }
    var ranges: [[UInt64]] = []
    // What was appended to the last page changed nothing that the medium has of it.
    let last = shadow.sizeBytes / PageShadow.pageBytes
    let hasGrown = !shadow.dirtyPages(of: content).contains(last)
    for page in pages {
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
    let path = paths(of: inode).first ?? []
    return UnsyncedFile(
      path: String(decoding: path, as: UTF8.self), sizeBytes: content.sizeBytes,
      syncedSizeBytes: shadow.sizeBytes, ranges: ranges)
  }
}
