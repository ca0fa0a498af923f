// FaultFileSystem+Cache.swift: what the kernel's cache shows of a file after a failed sync, and
// what is left of it on the medium.
// A sync that fails leaves its pages clean: they show what was written, the medium has what was
// there before, and no later sync writes them. A clean page that is written to is dirty as a whole,
// so the next sync writes also what was lost of it. A clean page that leaves the cache shows what
// the medium has. Both are in the trace, as writes of the kernel (process 0).
// Invariant: a page that the kernel asks for, and had before, is a page that has left its cache.

import Glibc
import LabCore
import Recording

extension FaultFileSystem {
  /// Notes that the kernel has whole pages of a file: it was answered with them, or wrote them.
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

  /// The kernel asks for pages of a file: the clean ones among them that it had are gone, and the
  /// file shows what the medium has there.
  ///
  /// `isCached` is false when the answer goes past the cache, as with O_DIRECT.
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

  /// Makes clean pages dirty that a range is about to change a part of.
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

  /// What is behind a position is about to go: the page that is cut there becomes dirty.
  func markCutDirty(_ inode: Inode, at offset: UInt64) {
    guard let shadow = inode.shadow, !shadow.clean.isEmpty else { return }
    if offset % PageShadow.pageBytes != 0 { markDirty(inode, offset..<offset + 1) }
    for page in shadow.cleanPages(in: offset..<UInt64.max) { shadow.becomeDirty(page: page) }
  }

  /// Leaves pages of a file as a sync that failed.
  func markClean(_ inode: Inode) {
    guard plan.needsShadows, let content = inode.content else { return }
    inode.shadow?.failSync(of: content)
  }

  /// Some of the dirty pages of a file reach the medium, though the sync that asked for them fails.
  ///
  /// The trace has them behind that sync, durable.
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

  /// What a sync that succeeded leaves to remember.
  func markSynced(_ inode: Inode) {
    guard let shadow = inode.shadow, let content = inode.content else { return }
    shadow.sync(of: content)
    if shadow.clean.isEmpty { inode.shadow = nil }
  }
}
