// FaultFileSystem+Cache.swift: what the kernel's cache shows of a file after a failed sync, and
// what the medium holds of it.
// A failed sync leaves its pages clean: they show what was written, the medium holds the old
// content, and no later sync writes them. Writing to a clean page makes the whole page dirty, so
// the next sync also writes what was lost of it. A clean page that leaves the cache shows the
// medium's content. Both are in the trace, as writes of the kernel (process 0).
// Invariant: a page that the kernel requests again had left its cache.

import Glibc
import LabCore
import Recording

extension FaultFileSystem {
  /// Notes that the kernel holds whole pages of a file, because it read or wrote them.
  ///
  /// A page that ends with the file counts as whole when it was read, not when it was written.
  func noteCached(_ inode: Inode, _ range: Range<UInt64>, isRead: Bool) {
    guard plan.needsShadows || inode.shadow != nil, !range.isEmpty else { return }
    let pageBytes = PageShadow.pageBytes
    let first = (range.lowerBound + pageBytes - 1) / pageBytes
    let isToEnd = isRead && range.upperBound >= inode.sizeBytes
    let end = (range.upperBound + (isToEnd ? pageBytes - 1 : 0)) / pageBytes
    if first < end { inode.cachedPages.formUnion(first..<end) }
  }

  /// The kernel requests pages of a file: the clean ones that it had are gone from its cache, and
  /// the file now shows the medium's content there.
  ///
  /// `isCached` is false when the answer bypasses the cache, as with O_DIRECT.
  /// - Returns: What changed in the file.
  @discardableResult
  package func evict(
    _ inode: Inode, _ range: Range<UInt64>, isCached: Bool = true
  ) -> [(offsetBytes: UInt64, bytes: [UInt8])] {
    guard let shadow = inode.shadow else { return [] }
    var restored: [(offsetBytes: UInt64, bytes: [UInt8])] = []
    for page in shadow.cleanPages(in: range) where inode.cachedPages.contains(page) || !isCached {
      let offset = page * PageShadow.pageBytes
      let bytes = shadow.evict(page: page)
      let count = Int(min(PageShadow.pageBytes, inode.sizeBytes - min(offset, inode.sizeBytes)))
      restore(bytes.prefix(count), at: offset, to: inode)
      restored.append((offset, Array(bytes.prefix(count))))
    }
    if !plan.needsShadows, shadow.clean.isEmpty { inode.shadow = nil }
    return restored
  }

  /// Makes clean pages dirty that are about to change in part.
  func markDirty(_ inode: Inode, _ range: Range<UInt64>) {
    guard let shadow = inode.shadow, let content = inode.content else { return }
    for page in shadow.cleanPages(in: range) {
      shadow.becomeDirty(page: page)
      let offset = page * PageShadow.pageBytes
      let end = min(offset + PageShadow.pageBytes, content.sizeBytes)
      let isWhole = range.lowerBound <= offset && end <= range.upperBound
      guard !isWhole, offset < end else { continue }
      let payload = Payload(content.read(at: offset, count: Int(end - offset)))
      record(
        inode, .write(inode: inode.number, offsetBytes: offset, payload: payload),
        flags: .writeBack, by: Caller())
    }
  }

  /// A truncation is about to remove everything after a position: the page it cuts becomes dirty.
  func markCutDirty(_ inode: Inode, at offset: UInt64) {
    guard let shadow = inode.shadow, !shadow.clean.isEmpty else { return }
    if offset % PageShadow.pageBytes != 0 { markDirty(inode, offset..<offset + 1) }
    for page in shadow.cleanPages(in: offset..<UInt64.max) { shadow.becomeDirty(page: page) }
  }

  /// Leaves the pages of a file as after a failed sync.
  func markClean(_ inode: Inode) {
    guard plan.needsShadows, let content = inode.content else { return }
    inode.shadow?.failSync(of: content)
  }

  /// Some dirty pages of a file reach the medium although their sync fails.
  ///
  /// The trace has them after that sync, as durable.
  func arrive(_ keep: FaultRule.Tearing.Keep, of inode: Inode, seed: Seed) {
    guard let content = inode.content, let shadow = inode.shadow else { return }
    for page in keep.chosen(of: shadow.dirtyPages(of: content), seed: seed) {
      shadow.arrive(page: page)
      let offset = page * PageShadow.pageBytes
      let count = min(PageShadow.pageBytes, content.sizeBytes - min(offset, content.sizeBytes))
      guard count > 0 else { continue }
      let payload = Payload(content.read(at: offset, count: Int(count)))
      record(
        inode, .write(inode: inode.number, offsetBytes: offset, payload: payload),
        flags: [.injected, .onMedium], by: Caller())
    }
  }

  /// Updates the file's shadow after a successful sync.
  func markSynced(_ inode: Inode) {
    guard let shadow = inode.shadow, let content = inode.content else { return }
    shadow.sync(of: content)
    if shadow.clean.isEmpty { inode.shadow = nil }
  }
}
